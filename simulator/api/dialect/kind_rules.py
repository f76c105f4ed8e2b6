"""The rules of each kind, in one table: what is filled in, what is refused, what may change."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from simulator.api.dialect import names, pods
from simulator.api.dialect.documents import Object, items, mapping, part, text, texts, whole
from simulator.api.dialect.kinds import (
    DEVICE_BINDINGS,
    EVENTS,
    LEASES,
    NAMESPACES,
    NODES,
    PODS,
    Kind,
)
from simulator.api.dialect.statuses import Cause, duplicate, invalid_value, required, unsupported
from simulator.core.resources import is_extended_resource_name

FINALIZER: Final = "kubernetes"
"""What keeps a namespace until it is empty."""
NAME_LABEL: Final = "kubernetes.io/metadata.name"
_EFFECTS: Final = ("NoExecute", "NoSchedule", "PreferNoSchedule")


def _nothing(_: Object) -> None:
    return None


def _no_faults(_: Object) -> Iterator[Cause]:
    return iter(())


def _may_change(_before: Object, _after: Object) -> Iterator[Cause]:
    return iter(())


@dataclass(frozen=True, slots=True)
class Rules:
    """What holds for one kind.

    Attributes:
        fill_in: Gives an object what it does not say, when it is new and when it changes: a client
            may send what it sent before, without what was filled in then.
        begin: Gives a new object its first status, and what else the server sets once.
        faults: What is wrong about an object, new or changed.
        update_faults: What changed and may not.
        keeps_status: Whether a new object keeps the status that it came with.
        unconditional: Whether an update need not say which revision it is based on.
    """

    fill_in: Callable[[Object], None] = _nothing
    begin: Callable[[Object], None] = _nothing
    faults: Callable[[Object], Iterator[Cause]] = _no_faults
    update_faults: Callable[[Object, Object], Iterator[Cause]] = _may_change
    keeps_status: bool = False
    unconditional: bool = True


def _begin_namespace(namespace: Object) -> None:
    metadata = part(namespace, "metadata")
    part(metadata, "labels")[NAME_LABEL] = text(metadata, "name")
    spec = part(namespace, "spec")
    if FINALIZER not in texts(spec, "finalizers"):
        spec["finalizers"] = [*texts(spec, "finalizers"), FINALIZER]
    namespace["status"] = {"phase": "Active"}


def _node_faults(node: Object) -> Iterator[Cause]:
    seen: set[tuple[str, str]] = set()
    for index, taint in enumerate(items(node, "spec", "taints")):
        field = f"spec.taints[{index}]"
        key, effect = text(taint, "key"), text(taint, "effect")
        for fault in names.qualified_faults(key):
            yield invalid_value(f"{field}.key", key, fault)
        if effect not in _EFFECTS:
            yield unsupported(f"{field}.effect", effect, _EFFECTS)
        if (key, effect) in seen:
            yield Cause(
                field,
                "FieldValueDuplicate",
                "Duplicate value: taints must be unique by key and effect pair",
            )
        seen.add((key, effect))


def _event_faults(event: Object) -> Iterator[Cause]:
    own = text(event, "metadata", "namespace")
    involved = text(event, "involvedObject", "namespace")
    if own != (involved or "default"):
        why = "does not match event.namespace"
        yield invalid_value("involvedObject.namespace", involved, why)


def _lease_faults(lease: Object) -> Iterator[Cause]:
    for field in ("leaseDurationSeconds", "leaseTransitions"):
        number = whole(lease, "spec", field)
        least = 1 if field == "leaseDurationSeconds" else 0
        if number is not None and number < least:
            why = "must be greater than 0" if least else "must be greater than or equal to 0"
            yield invalid_value(f"spec.{field}", number, why)


def _binding_faults(binding: Object) -> Iterator[Cause]:
    spec = mapping(binding, "spec")
    node = text(spec, "nodeName")
    if not text(spec, "podUID"):
        yield required("spec.podUID")
    if not node:
        yield required("spec.nodeName")
    for fault in names.node_faults(node) if node else ():
        yield invalid_value("spec.nodeName", node, fault)
    containers: set[str] = set()
    for index, container in enumerate(items(spec, "containers")):
        name = text(container, "name")
        if not name:
            yield required(f"spec.containers[{index}].name")
        elif name in containers:
            yield duplicate(f"spec.containers[{index}].name", name)
        containers.add(name)
        yield from _devices_faults(container, index)


def _devices_faults(container: Object, number: int) -> Iterator[Cause]:
    """Check the devices of the container with this number.

    Containers of one pod may name the same device: one that an init container is done with is
    given on (S3.2).
    """
    resources: set[str] = set()
    for index, device in enumerate(items(container, "devices")):
        resource, ids = text(device, "resourceName"), texts(device, "deviceIDs")
        is_known, is_twice = is_extended_resource_name(resource), resource in resources
        resources.add(resource)
        if is_known and not is_twice and "" not in ids and len(set(ids)) == len(ids):
            continue  # The words for where it is are made only for what is wrong.
        at = f"spec.containers[{number}].devices[{index}]"
        if not is_known:
            why = "must be an extended resource name"
            yield invalid_value(f"{at}.resourceName", resource, why)
        elif is_twice:
            yield duplicate(f"{at}.resourceName", resource)
        seen: set[str] = set()
        for place, each in enumerate(ids):
            if not each:
                yield required(f"{at}.deviceIDs[{place}]")
            elif each in seen:
                yield duplicate(f"{at}.deviceIDs[{place}]", each)
            seen.add(each)


_RULES: Final = {
    DEVICE_BINDINGS: Rules(faults=_binding_faults, unconditional=False),
    EVENTS: Rules(faults=_event_faults),
    LEASES: Rules(faults=_lease_faults),
    NAMESPACES: Rules(begin=_begin_namespace),
    NODES: Rules(faults=_node_faults, keeps_status=True),
    PODS: Rules(pods.fill_in, pods.begin, pods.faults, pods.update_faults),
}


def rules_of(kind: Kind) -> Rules:
    """Return the rules of a kind."""
    return _RULES[kind]
