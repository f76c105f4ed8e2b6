"""How the objects of a running server are shown: pods, nodes, plugins, events."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final, TypeVar

from simulator.cli.output import Column, JsonValue, Table

T = TypeVar("T")
Object = Mapping[str, JsonValue]

NOTHING: Final = "-"
DELETED: Final = "deleted"
"""Key under which a watch says of an object that it is gone."""
_MINUTE, _HOUR, _DAY = 60, 3600, 86400
_STEPS: Final = ((2 * _MINUTE, 1, "s"), (2 * _HOUR, _MINUTE, "m"), (2 * _DAY, _HOUR, "h"))


def at(item: JsonValue, *path: str) -> JsonValue:
    """Return the value at a path of an object; None when there is none."""
    for key in path:
        if not isinstance(item, Mapping):
            return None
        item = item.get(key)
    return item


def text(item: JsonValue, *path: str) -> str:
    """Return the text at a path; empty when there is none."""
    found = at(item, *path)
    return "" if found is None else str(found)


def number(item: JsonValue, *path: str) -> int:
    """Return the whole number at a path; 0 when there is none."""
    found = at(item, *path)
    return found if isinstance(found, int) else 0


def items(item: JsonValue, *path: str) -> list[Object]:
    """Return the objects of the list at a path."""
    found = at(item, *path)
    if not isinstance(found, Sequence) or isinstance(found, str):
        return []
    return [each for each in found if isinstance(each, Mapping)]


def age(timestamp: str) -> str:
    """Return how long ago an instant was, as kubectl shows it: `42s`, `5m`, `3h`, `12d`."""
    if not timestamp:
        return NOTHING
    seconds = max(0, int((datetime.now(UTC) - datetime.fromisoformat(timestamp)).total_seconds()))
    for below, unit, letter in _STEPS:
        if seconds < below:
            return f"{seconds // unit}{letter}"
    return f"{seconds // _DAY}d"


def named_in(pod: Object) -> str:
    """Return a pod's namespace and name."""
    return f"{text(pod, 'metadata', 'namespace') or 'default'}/{text(pod, 'metadata', 'name')}"


def pod_status(pod: Object) -> str:
    """Return a pod's state in one word, as kubectl does."""
    if at(pod, DELETED):
        return "Deleted"
    if at(pod, "metadata", "deletionTimestamp"):
        return "Terminating"
    reason = text(pod, "status", "reason")
    if reason:
        return reason
    statuses = [*items(pod, "status", "initContainerStatuses"), *_containers(pod)]
    for status in statuses:
        waiting = text(status, "state", "waiting", "reason")
        if waiting:
            return waiting
    phase = text(pod, "status", "phase")
    return {"Succeeded": "Completed", "Failed": "Error"}.get(phase, phase)


def _containers(pod: Object) -> list[Object]:
    return items(pod, "status", "containerStatuses")


def _ready(pod: Object) -> str:
    ready = sum(bool(at(status, "ready")) for status in _containers(pod))
    return f"{ready}/{len(items(pod, 'spec', 'containers'))}"


def _restarts(pod: Object) -> int:
    return sum(number(status, "restartCount") for status in _containers(pod))


def _ids(devices: JsonValue) -> Iterable[tuple[str, list[str]]]:
    for resource, ids in devices.items() if isinstance(devices, Mapping) else ():
        if isinstance(ids, Sequence) and not isinstance(ids, str):
            yield resource, [str(each) for each in ids]


def _device_counts(pod: Object) -> str:
    held = _ids(at(pod, "status", "devices"))
    return ",".join(f"{resource}={len(ids)}" for resource, ids in held) or NOTHING


def _device_ids(pod: Object) -> str:
    held = _ids(at(pod, "status", "devices"))
    return " ".join(f"{resource}={','.join(ids)}" for resource, ids in held) or NOTHING


def _document(item: Object) -> Object:
    return item


PODS: Final[Table[Object]] = Table(
    kind="Pod",
    columns=(
        Column("NODE", lambda pod: text(pod, "spec", "nodeName") or NOTHING),
        Column("POD", named_in),
        Column("READY", _ready),
        Column("STATUS", pod_status),
        Column("RESTARTS", _restarts),
        Column("DEVICES", _device_ids, short=_device_counts),
        Column("AGE", lambda pod: age(text(pod, "metadata", "creationTimestamp"))),
        Column("UID", lambda pod: text(pod, "metadata", "uid"), wide=True),
        Column("MESSAGE", lambda pod: text(pod, "status", "message") or NOTHING, wide=True),
    ),
    name=lambda pod: f"pod/{text(pod, 'metadata', 'name')}",
    document=_document,
    nothing="no pods; create some with `rebind apply -f FILE`",
)


@dataclass(frozen=True, slots=True)
class NodeLine:
    """A node and one of its resources, or none.

    Attributes:
        resource: What the kubelet knows of it; without a kubelet, what the Node object says.
    """

    node: Object
    resource: Object | None


def node_lines(nodes: Sequence[Object]) -> list[NodeLine]:
    """Return one line for each resource, and one for a node without resources."""
    lines = []
    for node in nodes:
        known = items(node, "status", "deviceManager") or _reported(node)
        lines += [NodeLine(node, resource) for resource in known] or [NodeLine(node, None)]
    return lines


def _reported(node: Object) -> list[Object]:
    return [
        {
            "resourceName": resource,
            "capacity": count,
            "allocatable": text(node, "status", "allocatable", resource),
        }
        for resource, count in devices_of(node, "capacity").items()
    ]


def devices_of(node: Object, key: str) -> dict[str, str]:
    """Return what a node has of each extended resource, in `capacity` or `allocatable`."""
    found = at(node, "status", key)
    counts = found.items() if isinstance(found, Mapping) else ()
    return {name: str(count) for name, count in counts if "/" in name}


def readiness(node: Object) -> str:
    """Return whether a node is ready, in the API's word."""
    for condition in items(node, "status", "conditions"):
        if text(condition, "type") == "Ready":
            return text(condition, "status")
    return "Unknown"


def _node_status(line: NodeLine) -> str:
    return "Ready" if readiness(line.node) == "True" else "NotReady"


def _of_resource(key: str) -> Callable[[NodeLine], str | int]:
    def value(line: NodeLine) -> str | int:
        found = at(line.resource, key)
        return found if isinstance(found, int) else str(found or NOTHING)

    return value


NODES: Final[Table[NodeLine]] = Table(
    kind="Node",
    columns=(
        Column("NODE", lambda line: text(line.node, "metadata", "name")),
        Column("STATUS", _node_status),
        Column("VERSION", lambda line: text(line.node, "status", "nodeInfo", "kubeletVersion")),
        Column("RESOURCE", _of_resource("resourceName")),
        Column("CAPACITY", _of_resource("capacity")),
        Column("ALLOCATABLE", _of_resource("allocatable")),
        Column("ALLOCATED", _of_resource("allocated")),
        Column("HEALTHY", _of_resource("healthy")),
        Column("ENDPOINT", _of_resource("endpoint")),
        Column(
            "REPORTED",
            lambda line: (
                text(line.node, "status", "allocatable", text(line.resource, "resourceName"))
                or NOTHING
            ),
            wide=True,
        ),
        Column(
            "BOOT",
            lambda line: text(line.node, "status", "nodeInfo", "bootID").partition("-")[0],
            wide=True,
        ),
    ),
    name=lambda line: f"node/{text(line.node, 'metadata', 'name')}",
    document=lambda line: line.node,
    nothing="no nodes",
)

PLUGINS: Final[Table[Object]] = Table(
    kind="Plugin",
    columns=(
        Column("NODE", lambda plugin: text(plugin, "spec", "nodeName")),
        Column("PLUGIN", lambda plugin: text(plugin, "metadata", "name")),
        Column("KIND", lambda plugin: text(plugin, "spec", "kind")),
        Column("RESOURCE", lambda plugin: text(plugin, "spec", "resourceName")),
        Column("STATE", lambda plugin: text(plugin, "status", "state")),
        Column("DEVICES", lambda plugin: number(plugin, "status", "devices")),
        Column("HEALTHY", lambda plugin: number(plugin, "status", "healthy")),
        Column("ALLOCATED", lambda plugin: number(plugin, "status", "allocated")),
    ),
    name=lambda plugin: (
        f"plugin/{text(plugin, 'spec', 'nodeName')}/{text(plugin, 'metadata', 'name')}"
    ),
    document=_document,
    nothing="no plugins; start one with `rebind plugin start fake --node NODE`",
)


def _about(event: Object) -> str:
    kind = text(event, "involvedObject", "kind").lower()
    return f"{kind}/{text(event, 'involvedObject', 'name')}"


EVENTS: Final[Table[Object]] = Table(
    kind="Event",
    columns=(
        Column("LAST-SEEN", lambda event: age(text(event, "lastTimestamp"))),
        Column("TYPE", lambda event: text(event, "type")),
        Column("REASON", lambda event: text(event, "reason")),
        Column("OBJECT", _about),
        Column("COUNT", lambda event: number(event, "count"), wide=True),
        Column("NODE", lambda event: text(event, "source", "host") or NOTHING, wide=True),
        Column("FIRST-SEEN", lambda event: age(text(event, "firstTimestamp")), wide=True),
        Column("MESSAGE", lambda event: text(event, "message")),
    ),
    name=lambda event: f"event/{text(event, 'metadata', 'name')}",
    document=_document,
    nothing="no events",
)


def sourced(table: Table[T], source: str) -> Table[T]:
    """Return a table that says where its rows come from, unless that is a database."""
    if source == "database":
        return table
    return replace(
        table,
        columns=(*table.columns, Column("SOURCE", lambda _: source)),
        document=lambda row: {**table.document(row), "source": source},
    )
