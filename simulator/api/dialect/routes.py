"""From a request's path and method to the resource it is about and the verb."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote

from simulator.api.dialect import kinds
from simulator.api.dialect.kinds import KINDS_BY_PATH, NAMESPACES, NODES, PODS, Kind
from simulator.api.dialect.statuses import PathNotFoundError, method_not_allowed, not_served

_VERBS_OF_ONE: Final = {
    "GET": kinds.GET,
    "HEAD": kinds.GET,
    "PUT": kinds.UPDATE,
    "PATCH": kinds.PATCH,
    "DELETE": kinds.DELETE,
    "POST": kinds.CREATE,
}
_VERBS_OF_ALL: Final = {
    "GET": kinds.LIST,
    "HEAD": kinds.LIST,
    "POST": kinds.CREATE,
    "DELETE": kinds.DELETE_COLLECTION,
}

_SIMULATED: Final = "containers are simulated, nothing is executed in them"
_UNSERVED: Final = {
    (PODS, "attach"): _SIMULATED,
    (PODS, "ephemeralcontainers"): _SIMULATED,
    (PODS, "exec"): _SIMULATED,
    (PODS, "log"): "containers are simulated, they write no log",
    (PODS, "portforward"): _SIMULATED,
    (PODS, "proxy"): _SIMULATED,
    (PODS, "resize"): "devices and containers of a pod stay as they were admitted",
    (NODES, "proxy"): "the kubelets of simulated nodes serve no HTTP",
}
"""What Kubernetes serves below an object, and why it is not served here."""


@dataclass(frozen=True, slots=True)
class Route:
    """What a path leads to.

    Attributes:
        namespace: Empty for kinds without namespaces and for a list over all of them.
        name: Empty for the collection.
        subresource: Empty for the object itself.
    """

    kind: Kind
    namespace: str = ""
    name: str = ""
    subresource: str = ""

    @property
    def key(self) -> str:
        """Return `namespace/name`, or the name alone where there are no namespaces."""
        return f"{self.namespace}/{self.name}" if self.kind.namespaced else self.name

    def path(self) -> str:
        """Return the path; `find_resource` of it is this route."""
        start = f"/apis/{self.kind.group}" if self.kind.group else "/api"
        parts = [start, self.kind.version]
        if self.namespace and self.kind.namespaced:
            parts += ["namespaces", self.namespace]
        parts += [one for one in (self.kind.plural, self.name, self.subresource) if one]
        return "/".join(parts)


def find_resource(path: str) -> Route:
    """Find what a path is about.

    Args:
        path: Without the query, still percent-encoded or not.

    Raises:
        PathNotFoundError: No such resource; answered in plain text, as Kubernetes does.
        StatusError: 405, Kubernetes has it and this server has not.
    """
    parts = [unquote(one) for one in path.strip("/").split("/")]
    if parts[0] == "api" and len(parts) > 2:  # noqa: PLR2004 - api, version, resource
        return _route("", parts[1], parts[2:])
    if parts[0] == "apis" and len(parts) > 3:  # noqa: PLR2004 - apis, group, version, resource
        return _route(parts[1], parts[2], parts[3:])
    raise PathNotFoundError


def _route(group: str, version: str, rest: list[str]) -> Route:
    namespace = ""
    own = rest[0] == NAMESPACES.plural and NAMESPACES.subresource(rest[2]) if rest[2:] else None
    if rest[0] == NAMESPACES.plural and len(rest) > 2 and not own:  # noqa: PLR2004 - a resource in it
        namespace, rest = rest[1], rest[2:]
    kind = KINDS_BY_PATH.get((group, version, rest[0]))
    name, subresource, *more = [*rest[1:], "", ""]
    known = kind is not None and (not subresource or kind.subresource(subresource) is not None)
    if kind is not None and bool(namespace) == kind.namespaced:
        _check_served(kind, name, subresource)
    complete = not any(more) and all(rest[1:])
    if kind is None or not known or not complete or (namespace and not kind.namespaced):
        raise PathNotFoundError
    if name and kind.namespaced and not namespace:
        raise PathNotFoundError
    if name and not kind.stored:
        raise PathNotFoundError
    return Route(kind, namespace, name, subresource)


def _check_served(kind: Kind, name: str, subresource: str) -> None:
    """Refuse what Kubernetes has below an object and this server has not, and say why.

    Raises:
        StatusError: 405.
    """
    why = _UNSERVED.get((kind, subresource))
    if why is not None and name:
        raise not_served(kind, name, subresource, why)


def verb_of(method: str, route: Route, *, is_watch: bool = False) -> str:
    """Return the verb of a request.

    Raises:
        StatusError: 405, the resource knows no such method.
    """
    of_one = bool(route.name)
    verb = (_VERBS_OF_ONE if of_one else _VERBS_OF_ALL).get(method, "")
    if is_watch and verb in {kinds.LIST, kinds.GET} and not route.subresource:
        verb = kinds.WATCH
    if verb not in _verbs(route) or (of_one and not route.subresource and verb == kinds.CREATE):
        raise method_not_allowed(_methods(route))
    if verb == kinds.CREATE and route.kind.namespaced and not route.namespace:
        raise method_not_allowed(_methods(route))
    return verb


def _verbs(route: Route) -> tuple[str, ...]:
    if not route.subresource:
        return route.kind.verbs
    found = route.kind.subresource(route.subresource)
    return found.verbs if found is not None else ()


def _methods(route: Route) -> list[str]:
    """Return the methods that a path knows, for the `Allow` header."""
    table = _VERBS_OF_ONE if route.name else _VERBS_OF_ALL
    known = _verbs(route)
    is_object = bool(route.name) and not route.subresource
    return [
        method
        for method, verb in table.items()
        if verb in known and method != "HEAD" and not (is_object and verb == kinds.CREATE)
    ]
