"""Descriptions as kubectl prints them: names on the left, blocks below their headings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from simulator.cli.object_tables import (
    Object,
    age,
    at,
    devices_of,
    items,
    pod_status,
    readiness,
    text,
)
from simulator.cli.output import aligned
from simulator.reports.text import printable

_NONE: Final = "<none>"
_NAME_WIDTH: Final = 18
_Row = tuple[str | int, ...]


def pod_text(description: Object) -> str:
    """Return the description of a pod."""
    pod = _mapping(description, "pod")
    lines = [
        *_fields(
            (
                ("Name", text(pod, "metadata", "name")),
                ("Namespace", text(pod, "metadata", "namespace")),
                ("UID", text(pod, "metadata", "uid")),
                ("Node", text(pod, "spec", "nodeName")),
                ("Created", _since(text(pod, "metadata", "creationTimestamp"))),
                ("Labels", _pairs(at(pod, "metadata", "labels"))),
                ("Status", pod_status(pod)),
                ("Reason", text(pod, "status", "reason")),
                ("Message", text(pod, "status", "message")),
            ),
            optional=("Reason", "Message"),
        ),
        "Containers:",
    ]
    statuses = {
        text(status, "name"): status
        for key in ("initContainerStatuses", "containerStatuses")
        for status in items(pod, "status", key)
    }
    for container in items(description, "containers"):
        lines += _container(container, statuses.get(text(container, "name"), {}))
    return _joined([*lines, *_events(description)])


def node_text(description: Object) -> str:
    """Return the description of a node."""
    node = _mapping(description, "node")
    notes = _mapping(node, "metadata", "annotations")
    info = _mapping(node, "status", "nodeInfo")
    lines = _fields(
        (
            ("Name", text(node, "metadata", "name")),
            ("Ready", readiness(node)),
            ("Kubelet Version", text(info, "kubeletVersion")),
            ("Boot ID", text(info, "bootID")),
            ("Persistence", text(notes, "rebind.internal/persistence")),
            ("Topology Manager", text(notes, "rebind.internal/topology-manager")),
            ("NUMA Nodes", text(notes, "rebind.internal/numa-nodes")),
            ("Directory", text(description, "paths", "directory")),
            ("Registration", text(description, "paths", "kubeletSocket")),
            ("PodResources", text(description, "paths", "podResourcesSocket")),
        )
    )
    resources: list[_Row] = [
        tuple(
            text(line, key)
            for key in (
                "resourceName", "capacity", "allocatable", "allocated", "healthy", "endpoint",
            )
        )
        for line in items(description, "resources")
    ]  # fmt: skip
    pods: list[_Row] = [
        (
            f"{text(pod, 'namespace')}/{text(pod, 'name')}",
            text(pod, "phase"),
            _pairs(at(pod, "requests")),
        )
        for pod in items(description, "pods")
    ]
    return _joined(
        [
            *lines,
            *_fields(
                (
                    ("Capacity", _pairs(devices_of(node, "capacity"))),
                    ("Allocatable", _pairs(devices_of(node, "allocatable"))),
                )
            ),
            *_block(
                "Device Manager",
                ("RESOURCE", "CAPACITY", "ALLOCATABLE", "ALLOCATED", "HEALTHY", "ENDPOINT"),
                resources,
            ),
            *_block("Pods", ("POD", "PHASE", "REQUESTS"), pods),
            *_events(description),
        ]
    )


def _container(container: Object, status: Object) -> Iterator[str]:
    kind = text(container, "kind")
    yield f"  {text(container, 'name')}:" + ("" if kind == "regular" else f"  ({kind})")
    state = _state(status)
    yield from _fields(
        (
            ("Container ID", text(status, "containerID")),
            ("Image", text(status, "image")),
            ("State", state),
            ("Last State", _state(status, "lastState")),
            ("Ready", str(bool(at(status, "ready")))),
            ("Restart Count", text(status, "restartCount")),
            ("Limits", _pairs(at(container, "limits"))),
            ("Devices", _devices(container, status)),
        ),
        indent=4,
        optional=("Container ID", "Image", "Last State"),
    )
    started = _mapping(container, "startedWith")
    if not started:
        return
    yield from _list(
        "Environment",
        (
            f"{text(env, 'name')}:  {text(env, 'value')}" + _whose(env)
            for env in items(started, "envs")
        ),
    )
    yield from _list(
        "Mounts",
        (
            f"{text(mount, 'containerPath')} from {text(mount, 'hostPath')} "
            f"({'ro' if at(mount, 'readOnly') else 'rw'})" + _whose(mount)
            for mount in items(started, "mounts")
        ),
    )
    yield from _list(
        "Device Nodes",
        (
            f"{text(device, 'containerPath')} from {text(device, 'hostPath')} "
            f"({text(device, 'permissions')})"
            for device in items(started, "devices")
        ),
    )
    notes = _mapping(started, "annotations")
    yield from _list("Annotations", (f"{name}:  {value}" for name, value in notes.items()))
    names = at(started, "cdiDevices")
    cdi = [str(name) for name in names] if isinstance(names, Sequence) else []
    yield from _list("CDI Devices", cdi)
    conflicts = items(container, "conflicts")
    if conflicts:
        yield from _list(
            "Dropped",
            (
                f"{text(each, 'message')}: {text(each, 'key')}, "
                f"kept {text(each, 'kept')}, dropped {text(each, 'dropped')} "
                f"of {text(each, 'resourceName')}"
                for each in conflicts
            ),
        )


def _whose(setting: Object) -> str:
    return "" if text(setting, "from") == "plugin" else "  (pod)"


def _state(status: Object, key: str = "state") -> str:
    state = _mapping(status, key)
    for name in ("running", "waiting", "terminated"):
        if name in state:
            found = _mapping(state, name)
            told = [text(found, part) for part in ("reason", "message") if text(found, part)]
            if name == "terminated":
                told.append(f"exit code {text(found, 'exitCode')}")
            when = text(found, "startedAt" if name == "running" else "finishedAt")
            told += [f"{age(when)} ago"] if when else []
            return f"{name.capitalize()}" + (f" ({', '.join(told)})" if told else "")
    return ""


def _devices(container: Object, status: Object) -> str:
    """Return the devices of the process, and which of them are sick."""
    sick = {
        (text(resource, "name"), text(device, "resourceID"))
        for resource in items(status, "allocatedResourcesStatus")
        for device in items(resource, "resources")
        if text(device, "health") != "Healthy"
    }
    held = []
    for resource, ids in _mapping(container, "devices").items():
        listed = [str(each) for each in ids] if isinstance(ids, Sequence) else []
        shown = (f"{each} (Unhealthy)" if (resource, each) in sick else each for each in listed)
        held.append(f"{resource}={','.join(shown)}")
    return " ".join(held) or _NONE


def _events(description: Object) -> Iterator[str]:
    rows: list[_Row] = [
        (
            age(text(event, "lastTimestamp")) + _times(event),
            text(event, "type"),
            text(event, "reason"),
            text(event, "message"),
        )
        for event in items(description, "events")
    ]
    yield from _block("Events", ("AGE", "TYPE", "REASON", "MESSAGE"), rows)


def _times(event: Object) -> str:
    count = text(event, "count")
    return "" if count in {"", "1"} else f" (x{count} over {age(text(event, 'firstTimestamp'))})"


def _fields(
    fields: Iterable[tuple[str, str]], *, indent: int = 0, optional: Sequence[str] = ()
) -> list[str]:
    return [
        f"{' ' * indent}{f'{name}:':<{_NAME_WIDTH}}{printable(value) or _NONE}"
        for name, value in fields
        if value or name not in optional
    ]


def _list(name: str, entries: Iterable[str]) -> Iterator[str]:
    lines = [f"      {printable(entry)}" for entry in entries]
    if lines:
        yield f"    {name}:"
        yield from lines
    else:
        yield f"    {f'{name}:':<{_NAME_WIDTH}}{_NONE}"


def _block(name: str, header: tuple[str, ...], rows: Sequence[_Row]) -> Iterator[str]:
    if not rows:
        yield f"{f'{name}:':<{_NAME_WIDTH}}{_NONE}"
        return
    yield f"{name}:"
    lines, _ = aligned([header, *rows], indent=2)
    yield from lines


def _pairs(mapping: object) -> str:
    pairs = mapping.items() if isinstance(mapping, dict) else ()
    return " ".join(f"{name}={value}" for name, value in pairs)


def _since(timestamp: str) -> str:
    return f"{timestamp} ({age(timestamp)} ago)" if timestamp else ""


def _mapping(item: Object, *path: str) -> Object:
    found = at(item, *path)
    return found if isinstance(found, dict) else {}


def _joined(lines: Iterable[str]) -> str:
    return "\n".join(line.rstrip() for line in lines)
