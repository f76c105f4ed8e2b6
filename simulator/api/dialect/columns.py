"""The columns of Tables: what kubectl shows of each kind (pkg/printers/internalversion)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from simulator.api.dialect.documents import (
    Json,
    Object,
    instant_of,
    items,
    mapping,
    text,
    texts,
    whole,
)
from simulator.api.dialect.kinds import (
    DEVICE_BINDINGS,
    EVENTS,
    LEASES,
    NAMESPACES,
    NODES,
    PODS,
    Kind,
)
from simulator.core.instants import SECOND, Instant

_NONE: Final = "<none>"
_UNKNOWN: Final = "<unknown>"
_ROLE: Final = "node-role.kubernetes.io/"
_DEVICES_SHOWN: Final = 8
_SECONDS: Final = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "y": 365 * 86_400}
_STEPS: Final = (
    (120, "s", ""),
    (10 * 60, "m", "s"),
    (3 * 3_600, "m", ""),
    (8 * 3_600, "h", "m"),
    (48 * 3_600, "h", ""),
    (8 * 86_400, "d", "h"),
    (2 * 365 * 86_400, "d", ""),
    (8 * 365 * 86_400, "y", "d"),
    (1 << 62, "y", ""),
)
"""Below so many seconds a span is written in these units."""
Cell = Callable[[Object, Instant], Json]


@dataclass(frozen=True, slots=True)
class Column:
    """One column.

    Attributes:
        cell: What stands in it for an object at a time.
        priority: Above 0 it is shown with `-o wide` alone.
        type, format: JSON's words.
    """

    name: str
    cell: Cell
    priority: int = 0
    description: str = ""
    type: str = "string"
    format: str = ""


def age(found: Object, now: Instant) -> Json:
    """Return how old an object is, as kubectl writes it."""
    return since(text(found, "metadata", "creationTimestamp"), now)


def since(when: str, now: Instant) -> str:
    """Return how long ago a time was."""
    at = instant_of(when) if when else None
    return _UNKNOWN if at is None else human_duration(max(0, (now - at) // SECOND))


def human_duration(seconds: int) -> str:
    """Return a span in at most two units (apimachinery: HumanDuration)."""
    unit, smaller = next(units for below, *units in _STEPS if seconds < below)
    whole_units, rest = divmod(seconds, _SECONDS[unit])
    second = rest // _SECONDS[smaller] if smaller else 0
    return f"{whole_units}{unit}{second}{smaller}" if second else f"{whole_units}{unit}"


def _name(found: Object, _: Instant) -> Json:
    return text(found, "metadata", "name")


def _at(*path: str, default: str = _NONE) -> Cell:
    """Return a cell with the text at a path."""

    def cell(found: Object, _: Instant) -> Json:
        return text(found, *path) or default

    return cell


def _statuses(pod: Object) -> list[Object]:
    return items(pod, "status", "containerStatuses")


def _ready(pod: Object, _: Instant) -> Json:
    ready = sum(one.get("ready") is True for one in _statuses(pod))
    return f"{ready}/{len(items(pod, 'spec', 'containers'))}"


def _restarts(pod: Object, now: Instant) -> Json:
    count = sum(whole(one, "restartCount") or 0 for one in _statuses(pod))
    ends = [text(one, "lastState", "terminated", "finishedAt") for one in _statuses(pod)]
    return f"{count} ({since(max(ends), now)} ago)" if count and any(ends) else str(count)


def pod_status(pod: Object, _: Instant = Instant(0)) -> Json:
    """Return the word that `kubectl get pods` shows (printPod)."""
    status = mapping(pod, "status")
    word = text(status, "reason") or text(status, "phase")
    runs = False
    for container in reversed(_statuses(pod)):
        state = mapping(container, "state")
        ended = mapping(state, "terminated")
        if reason := text(state, "waiting", "reason"):
            word = reason
        elif ended:
            word = _ended(ended)
        runs = runs or ("running" in state and container.get("ready") is True)
    if word == "Completed" and runs:
        word = "Running" if _is_ready(pod) else "NotReady"
    initializing = _initializing(pod)
    word = initializing or word
    if text(pod, "metadata", "deletionTimestamp"):
        return "Unknown" if text(status, "reason") == "NodeLost" else "Terminating"
    return word or "Unknown"


def _is_ready(pod: Object) -> bool:
    return any(
        text(one, "type") == "Ready" and text(one, "status") == "True"
        for one in items(pod, "status", "conditions")
    )


def _ended(ended: Object) -> str:
    if reason := text(ended, "reason"):
        return reason
    signal = whole(ended, "signal")
    return f"Signal:{signal}" if signal else f"ExitCode:{whole(ended, 'exitCode') or 0}"


def _initializing(pod: Object) -> str:
    """Return what an init container is at; empty when all are through."""
    containers = items(pod, "spec", "initContainers")
    sidecars = {text(one, "name") for one in containers if text(one, "restartPolicy") == "Always"}
    for index, container in enumerate(items(pod, "status", "initContainerStatuses")):
        state = mapping(container, "state")
        ended = mapping(state, "terminated")
        if ended and not whole(ended, "exitCode"):
            continue
        if text(container, "name") in sidecars and container.get("started") is True:
            continue
        if ended:
            return f"Init:{_ended(ended)}"
        reason = text(state, "waiting", "reason")
        if reason and reason != "PodInitializing":
            return f"Init:{reason}"
        return f"Init:{index}/{len(containers)}"
    return ""


def _gates(pod: Object, _: Instant) -> Json:
    gates = [text(one, "conditionType") for one in items(pod, "spec", "readinessGates")]
    if not gates:
        return _NONE
    true = {
        text(one, "type")
        for one in items(pod, "status", "conditions")
        if text(one, "status") == "True"
    }
    return f"{sum(one in true for one in gates)}/{len(gates)}"


def _node_status(node: Object, _: Instant) -> Json:
    words = []
    for condition in items(node, "status", "conditions"):
        if text(condition, "type") == "Ready":
            words = ["Ready" if text(condition, "status") == "True" else "NotReady"]
    words = words or ["Unknown"]
    if mapping(node, "spec").get("unschedulable") is True:
        words.append("SchedulingDisabled")
    return ",".join(words)


def _roles(node: Object, _: Instant) -> Json:
    labels = mapping(node, "metadata", "labels")
    roles = sorted(
        key.removeprefix(_ROLE) if key.startswith(_ROLE) else str(value)
        for key, value in labels.items()
        if (key.startswith(_ROLE) and key != _ROLE) or (key == "kubernetes.io/role" and value)
    )
    return ",".join(roles) or _NONE


def _address(kind: str) -> Cell:
    def cell(node: Object, _: Instant) -> Json:
        for one in items(node, "status", "addresses"):
            if text(one, "type") == kind:
                return text(one, "address")
        return _NONE

    return cell


def _last_seen(event: Object, now: Instant) -> Json:
    series = mapping(event, "series")
    count = whole(event, "count") or 0
    first = text(event, "firstTimestamp") or text(event, "eventTime")
    last = text(series, "lastObservedTime") or text(event, "lastTimestamp") or first
    times = whole(series, "count") or count
    if times > 1:
        return f"{since(last, now)} (x{times} over {since(first, now)})"
    return since(first, now)


def _first_seen(event: Object, now: Instant) -> Json:
    return since(text(event, "firstTimestamp") or text(event, "eventTime"), now)


def _involved(event: Object, _: Instant) -> Json:
    kind = text(event, "involvedObject", "kind").lower()
    name = text(event, "involvedObject", "name")
    return f"{kind}/{name}" if name else kind


def _source(event: Object, _: Instant) -> Json:
    component = text(event, "source", "component") or text(event, "reportingComponent")
    host = text(event, "source", "host") or text(event, "reportingInstance")
    return ", ".join(one for one in (component, host) if one)


def _message(event: Object, _: Instant) -> Json:
    return text(event, "message").strip()


def _count(event: Object, _: Instant) -> Json:
    return whole(event, "series", "count") or whole(event, "count") or 1


def _devices(binding: Object, _: Instant) -> Json:
    """Return how many devices a binding has, by resource."""
    counts: dict[str, set[str]] = {}
    for container in items(binding, "spec", "containers"):
        for one in items(container, "devices"):
            counts.setdefault(text(one, "resourceName"), set()).update(texts(one, "deviceIDs"))
    shown = [f"{resource}={len(ids)}" for resource, ids in sorted(counts.items())]
    return ",".join(shown) or _NONE


def _device_ids(binding: Object, _: Instant) -> Json:
    ids: dict[str, None] = {}
    for container in items(binding, "spec", "containers"):
        for one in items(container, "devices"):
            ids.update(dict.fromkeys(texts(one, "deviceIDs")))
    shown = list(ids)[:_DEVICES_SHOWN]
    more = len(ids) - len(shown)
    return (",".join(shown) + (f" + {more} more" if more else "")) or _NONE


_NAME: Final = Column(
    "Name", _name, description="What the object is called, unique in its namespace.", format="name"
)
_AGE: Final = Column("Age", age, description="How long ago it was created.")

COLUMNS: Final[Mapping[Kind, tuple[Column, ...]]] = {
    PODS: (
        _NAME,
        Column("Ready", _ready, description="Containers that are ready, of all."),
        Column("Status", pod_status, description="What the pod is at, or why it is not."),
        Column("Restarts", _restarts, description="Restarts of all its containers."),
        _AGE,
        Column("IP", _at("status", "podIP"), 1, "Its address."),
        Column("Node", _at("spec", "nodeName"), 1, "Where it is bound."),
        Column(
            "Nominated Node", _at("status", "nominatedNodeName"), 1, "Where room is made for it."
        ),
        Column("Readiness Gates", _gates, 1, "Gates that are met, of all."),
    ),
    NODES: (
        _NAME,
        Column("Status", _node_status, description="Whether its kubelet says that it is ready."),
        Column("Roles", _roles, description="Its roles, from its labels."),
        _AGE,
        Column(
            "Version",
            _at("status", "nodeInfo", "kubeletVersion", default=""),
            description="Of its kubelet.",
        ),
        Column("Internal-IP", _address("InternalIP"), 1, "Its address in the cluster."),
        Column("External-IP", _address("ExternalIP"), 1, "Its address outside."),
        Column("OS-Image", _at("status", "nodeInfo", "osImage", default=_UNKNOWN), 1, "Its OS."),
        Column(
            "Kernel-Version",
            _at("status", "nodeInfo", "kernelVersion", default=_UNKNOWN),
            1,
            "Its kernel.",
        ),
        Column(
            "Container-Runtime",
            _at("status", "nodeInfo", "containerRuntimeVersion", default=_UNKNOWN),
            1,
            "What runs its containers.",
        ),
    ),
    NAMESPACES: (
        _NAME,
        Column("Status", _at("status", "phase", default=""), description="Active or Terminating."),
        _AGE,
    ),
    EVENTS: (
        Column("Last Seen", _last_seen, description="When it happened last."),
        Column("Type", _at("type", default=""), description="Normal or Warning."),
        Column("Reason", _at("reason", default=""), description="One word for it."),
        Column("Object", _involved, description="What it is about."),
        Column(
            "Subobject", _at("involvedObject", "fieldPath", default=""), 1, "Which part of that."
        ),
        Column("Source", _source, 1, "Who says so."),
        Column("Message", _message, description="What happened."),
        Column("First Seen", _first_seen, 1, "When it happened first."),
        Column("Count", _count, 1, "How often it happened.", "integer"),
        Column("Name", _name, 1, "What the event is called.", format="name"),
    ),
    LEASES: (
        _NAME,
        Column("Holder", _at("spec", "holderIdentity", default=""), description="Who has it."),
        _AGE,
    ),
    DEVICE_BINDINGS: (
        _NAME,
        Column("Node", _at("spec", "nodeName"), description="Which node's devices these are."),
        Column("Devices", _devices, description="How many of each resource."),
        _AGE,
        Column("IDs", _device_ids, 1, "Which devices."),
        Column("Pod UID", _at("spec", "podUID"), 1, "Which pod holds them."),
    ),
}
"""By kind."""
