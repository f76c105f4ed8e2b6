"""Who may do what: the whole of the server's access rules, as a function of who asks for what.

* Members of `system:masters` (`admin` without tokens) may do everything.
* A node, `system:node:NAME` in the group `system:nodes`, reads what its kubelet reads (of pods,
  nodes, leases and device bindings its own) and writes its own: its node object, status and lease,
  the status of pods bound to it, their eviction, deletion and devices, the device bindings and
  events of its pods.
* `system:kube-scheduler` reads everything and binds pods, to nodes and to devices.
* Every other user who is known reads everything and writes nothing.

Kubernetes decides in two places, the authorizer (node and RBAC) and the admission plugin
NodeRestriction; `authorize` is the former and `restrict` the latter, in their words. RBAC objects
are not served: groups and names above are all there is.
"""

from __future__ import annotations

import csv
import hmac
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from simulator.api.dialect import kinds
from simulator.api.dialect.documents import Object, mapping, text
from simulator.api.dialect.kinds import (
    BINDINGS,
    BULK_RESOURCE_BINDINGS,
    DEVICE_BINDINGS,
    EVENTS,
    LEASES,
    NODES,
    PODS,
    QUESTIONS,
    Kind,
)
from simulator.api.dialect.routes import Route
from simulator.api.dialect.selectors import Selection
from simulator.api.dialect.statuses import forbidden
from simulator.errors import ConfigError

MASTERS: Final = "system:masters"
NODES_GROUP: Final = "system:nodes"
AUTHENTICATED: Final = "system:authenticated"
UNAUTHENTICATED: Final = "system:unauthenticated"
SCHEDULER: Final = "system:kube-scheduler"
LEASE_NAMESPACE: Final = "kube-node-lease"
_NODE: Final = "system:node:"
_MIRROR: Final = "kubernetes.io/config.mirror"
_READS: Final = frozenset({kinds.GET, kinds.LIST, kinds.WATCH})
_WRITES: Final = frozenset({kinds.CREATE, kinds.UPDATE, kinds.PATCH})
_OWN: Final = _WRITES | {kinds.DELETE}
_OF_NODES: Final = (PODS, DEVICE_BINDINGS)
"""What is a node's by its `spec.nodeName`: no other node reads it."""
_COLUMNS_MIN: Final = 3

_NODE_WRITES: Final[dict[tuple[Kind, str], frozenset[str]]] = {
    (NODES, ""): _WRITES,
    (NODES, "status"): _WRITES,
    (PODS, ""): frozenset({kinds.CREATE, kinds.DELETE}),
    (PODS, "status"): _WRITES,
    (PODS, "eviction"): _WRITES,
    (PODS, "resourcebinding"): _WRITES,
    (LEASES, ""): _OWN,
    (EVENTS, ""): _WRITES,
    (DEVICE_BINDINGS, ""): _OWN,
    (DEVICE_BINDINGS, "status"): _WRITES,
    (BULK_RESOURCE_BINDINGS, ""): frozenset({kinds.CREATE}),
}
"""What nodes write at all; which of them is the business of `restrict`."""
_SCHEDULER_WRITES: Final[dict[tuple[Kind, str], frozenset[str]]] = {
    (BINDINGS, ""): frozenset({kinds.CREATE}),
    (PODS, "binding"): frozenset({kinds.CREATE}),
    (PODS, "resourcebinding"): frozenset({kinds.CREATE}),
    (PODS, "status"): _WRITES,
    (BULK_RESOURCE_BINDINGS, ""): frozenset({kinds.CREATE}),
    (EVENTS, ""): _WRITES,
    (LEASES, ""): _WRITES,
}


@dataclass(frozen=True, slots=True)
class Identity:
    """Who asks.

    Attributes:
        node: The node whose kubelet this is, or an empty text.
        is_master: Whether they may do everything.
    """

    name: str
    groups: tuple[str, ...] = (AUTHENTICATED,)
    node: str = field(init=False)
    is_master: bool = field(init=False)

    def __post_init__(self) -> None:
        """Note what is asked about the caller of every request."""
        is_node = self.name.startswith(_NODE) and NODES_GROUP in self.groups
        object.__setattr__(self, "node", self.name.removeprefix(_NODE) if is_node else "")
        object.__setattr__(self, "is_master", MASTERS in self.groups)


ADMIN: Final = Identity("admin", (MASTERS, AUTHENTICATED))
ANONYMOUS: Final = Identity("system:anonymous", (UNAUTHENTICATED,))


@dataclass(frozen=True, slots=True)
class Tokens:
    """Who has which token."""

    identities: tuple[tuple[str, Identity], ...]

    def identity(self, token: str) -> Identity | None:
        """Return whose token it is; None when it is nobody's."""
        return next((who for known, who in self.identities if _equal(known, token)), None)

    def tokens(self) -> Iterator[str]:
        """Iterate over the tokens, in their order."""
        return iter([token for token, _ in self.identities])


def _equal(known: str, token: str) -> bool:
    """Compare in a time that does not tell how much of a guess is right."""
    return hmac.compare_digest(known.encode(), token.encode())


def node_identity(name: str) -> Identity:
    """Return the identity of a node's kubelet."""
    return Identity(f"{_NODE}{name}", (NODES_GROUP, AUTHENTICATED))


def read_tokens(content: str) -> Tokens:
    """Read a token file as kube-apiserver takes it: `token,user,uid[,"group,group"]` in each line.

    Empty lines and those that begin with `#` are left out.

    Raises:
        ConfigError: A line is no such line, or a token stands twice.
    """
    found: list[tuple[str, Identity]] = []
    lines = content.splitlines()
    wanted = 'write token,user,uid or token,user,uid,"group,group"'
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        columns = [one.strip() for one in next(csv.reader([line]))]
        if len(columns) < _COLUMNS_MIN or not columns[0] or not columns[1]:
            count = f"{len(columns)} column{'s' if len(columns) > 1 else ''}"
            raise ConfigError(f"line {number} of the token file has {count}; {wanted}")
        token, name, _, *rest = columns
        if any(token == known for known, _ in found):
            raise ConfigError(f"line {number} of the token file repeats a token")
        groups = [one.strip() for column in rest for one in column.split(",") if one.strip()]
        if AUTHENTICATED not in groups:
            groups.append(AUTHENTICATED)
        found.append((token, Identity(name, tuple(groups))))
    if not found:
        raise ConfigError(f"the token file names no token; {wanted}")
    return Tokens(tuple(found))


def authorize(
    identity: Identity, verb: str, route: Route, selection: Selection | None = None
) -> None:
    """Check that somebody may ask for something at all.

    Args:
        identity: Who.
        verb: What.
        route: Of what.
        selection: Which of them, for lists and watches.

    Raises:
        StatusError: 403.
    """
    why = "" if may(identity, verb, route) else _cannot(identity, verb, route)
    if not why and identity.node and not identity.is_master and verb in _READS:
        fault = _read_fault(identity.node, verb, route, selection)
        why = f"{_cannot(identity, verb, route)}: {fault}" if fault else ""
    if why:
        raise forbidden(route.kind, route.name, why)


def may(identity: Identity, verb: str, route: Route) -> bool:
    """Tell whether somebody may ask for something at all."""
    kind = route.kind
    if identity.is_master:
        return True
    if AUTHENTICATED not in identity.groups:
        return False
    if kind in QUESTIONS or verb in _READS:
        return True
    key = (kind, route.subresource)
    if identity.node:
        return verb in _NODE_WRITES.get(key, frozenset())
    return identity.name == SCHEDULER and verb in _SCHEDULER_WRITES.get(key, frozenset())


def _read_fault(node: str, verb: str, route: Route, selection: Selection | None) -> str:
    """Return why a node may not read something (the node authorizer)."""
    if route.kind in _OF_NODES and verb != kinds.GET:
        if selection is None or selection.node != node:
            return f"can only list/watch {route.kind.plural} with spec.nodeName field selector"
    elif route.kind is NODES:
        name = route.name or (selection.name if selection is not None else "")
        if name != node:
            wanted = f"'{name}'" if name else "all nodes"
            return f"node '{node}' cannot read {wanted}, only its own Node object"
    elif route.kind is LEASES:
        if verb != kinds.GET:
            return "can only get, create, update, patch, or delete a node lease"
        return _lease_fault(node, verb, route, None, None)
    return ""


def _cannot(identity: Identity, verb: str, route: Route) -> str:
    resource = route.kind.plural + (f"/{route.subresource}" if route.subresource else "")
    where = f'in the namespace "{route.namespace}"' if route.namespace else "at the cluster scope"
    return (
        f'User "{identity.name}" cannot {verb} resource "{resource}" in API group '
        f'"{route.kind.group}" {where}'
    )


def restrict(
    identity: Identity, verb: str, route: Route, current: Object | None, body: Object | None
) -> None:
    """Check that a node reads and writes only what is its own.

    Args:
        identity: Who.
        verb: What; of reads only a `get` is looked at.
        route: Of what.
        current: As it is stored; None when there is none.
        body: As it is to be; None for a deletion and a read.

    Raises:
        StatusError: 403, in the words of NodeRestriction and the node authorizer.
    """
    node = identity.node
    if not node or identity.is_master or verb in {kinds.LIST, kinds.WATCH}:
        return
    if verb == kinds.GET:
        if route.kind in _OF_NODES and text(current or {}, "spec", "nodeName") != node:
            fault = f"no relationship found between node '{node}' and this object"
            raise forbidden(route.kind, route.name, f"{_cannot(identity, verb, route)}: {fault}")
        return
    check = _CHECKS.get(route.kind)
    why = check(node, verb, route, current, body) if check is not None else ""
    if why:
        raise forbidden(route.kind, route.name, why)


def restrict_to_own_pods(
    identity: Identity, route: Route, current: Object | None, body: Object, pod: Object | None
) -> None:
    """Check that a node says which devices a pod has only of pods that are bound to it.

    A binding that is about the same pod as before may change when that pod is gone.

    Args:
        identity: Who writes a DeviceBinding.
        route: Which one.
        current: As it is stored; None when there is none.
        body: As it is to be.
        pod: The pod of that name; None when there is none.

    Raises:
        StatusError: 403, as NodeRestriction refuses tokens for pods of other nodes.
    """
    node, uid = identity.node, text(body, "spec", "podUID")
    if not node or identity.is_master or (current and text(current, "spec", "podUID") == uid):
        return
    found = pod or {}
    if text(found, "spec", "nodeName") != node or text(found, "metadata", "uid") != uid:
        name = route.name or text(body, "metadata", "name")
        why = f'node "{node}" can only write device bindings of pods that are bound to it'
        raise forbidden(route.kind, name, why)


_POD_WRITES: Final = {
    "": "delete pods",
    "status": "update pod status for pods",
    "eviction": "evict pods",
    "resourcebinding": "bind devices to pods",
}


def _pod_fault(
    node: str, verb: str, route: Route, current: Object | None, body: Object | None
) -> str:
    if route.subresource or verb == kinds.DELETE:
        done, owner = _POD_WRITES[route.subresource], text(current or {}, "spec", "nodeName")
    else:
        done, owner = "create pods", text(body or {}, "spec", "nodeName")
        if _MIRROR not in mapping(body or {}, "metadata", "annotations"):
            why = f'node "{node}" can only create mirror pods'
            return f'pod does not have "{_MIRROR}" annotation, {why}'
    if owner == node:
        return ""
    return f'node "{node}" can only {done} with spec.nodeName set to itself'


def _node_fault(
    node: str, verb: str, route: Route, current: Object | None, body: Object | None
) -> str:
    del current
    name = route.name or text(body or {}, "metadata", "name")
    if name == node:
        return ""
    done = "create" if verb == kinds.CREATE else "modify"
    return f'node "{node}" is not allowed to {done} node "{name}"'


def _lease_fault(
    node: str, verb: str, route: Route, current: Object | None, body: Object | None
) -> str:
    del verb, current
    if route.namespace != LEASE_NAMESPACE:
        return f'can only access leases in the "{LEASE_NAMESPACE}" system namespace'
    if (route.name or text(body or {}, "metadata", "name")) != node:
        return "can only access node lease with the same name as the requesting node"
    return ""


def _binding_fault(
    node: str, verb: str, route: Route, current: Object | None, body: Object | None
) -> str:
    """Return what is wrong about a write of a DeviceBinding, which is the node's that it names."""
    del verb
    said = (current,) if route.subresource else (current, body)
    named = [text(one, "spec", "nodeName") for one in said if one is not None]
    if all(one == node for one in named):
        return ""
    return f'node "{node}" can only write device bindings with spec.nodeName set to itself'


def _event_fault(
    node: str, verb: str, route: Route, current: Object | None, body: Object | None
) -> str:
    """Return what is wrong about a write of an event that says, or said, where it comes from."""
    del verb, route
    events = [one for one in (current, body) if one is not None]
    hosts = [text(one, "source", "host") or text(one, "reportingInstance") for one in events]
    if all(host in {"", node} for host in hosts):
        return ""
    return f'node "{node}" can only write events with source.host set to itself'


_CHECKS: Final = {
    EVENTS: _event_fault,
    PODS: _pod_fault,
    NODES: _node_fault,
    LEASES: _lease_fault,
    DEVICE_BINDINGS: _binding_fault,
}
