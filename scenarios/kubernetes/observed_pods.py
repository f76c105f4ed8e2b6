"""Pods and events as `kubectl get pod,events -o yaml` prints them, for a diagnosis.

Other than a manifest, such a file comes from the API server, of whatever version: keys that are not
looked at may be anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from scenarios.files.documents import Document, Path, read_documents
from scenarios.files.values import Values
from scenarios.kubernetes.node_pods import MIRROR, POD_FILE_SIZE_MAX
from simulator.core.diagnosis.observed import (
    ObservedContainer,
    ObservedEvent,
    ObservedPod,
    ShownDevice,
)
from simulator.core.pods import ContainerKind, ContainerName, PodUid
from simulator.core.quantities import parse_quantity
from simulator.core.resources import ResourceName, is_extended_resource_name
from simulator.errors import ManifestError

COUNT_MAX: Final = 2**31 - 1
"""Largest number of restarts, exit codes and devices that is read."""

_LISTS: Final = ("List", "PodList", "EventList")
_STATES: Final = ("waiting", "running", "terminated")
_STATUS_KEYS: Final = {
    "containers": "containerStatuses",
    "initContainers": "initContainerStatuses",
}
_AGE: Final = r"(?:[\dsmhdy.]+|<\w+>)(?:\s+\(x\d+ over \S+\))?"
_TYPED: Final = re.compile(
    rf"(?:(?:[a-z0-9][-a-z0-9]*\s+)?{_AGE}\s+)?(Warning|Normal)\s+(\S+)\s+(.*)"
)
"""Columns of `kubectl describe` (type, reason), and of `kubectl get events` (age before them)."""
_OBJECT: Final = re.compile(r"([A-Za-z][A-Za-z.]*)/(\S+)\s+(.*)")
_ABOUT_NAME: Final = ("pod", "node")
"""Kinds whose name alone tells what an event is about; of others the kind is kept."""
_LABEL: Final = "Message:"


@dataclass(slots=True)
class Observed:
    """What a file shows, in file order."""

    pods: list[ObservedPod] = field(default_factory=list)
    events: list[ObservedEvent] = field(default_factory=list)


def read_observed(content: bytes, path: str) -> Observed:
    """Read pods and events.

    Args:
        content: Documents of kind Pod, Event or List, YAML or JSON.
        path: The file's name in messages.

    Raises:
        ManifestError: It is no such file.
    """
    observed = Observed()
    for document in read_documents(content, path, error=ManifestError, size_max=POD_FILE_SIZE_MAX):
        _read(document, (), observed)
    return observed


def read_event_lines(text: str) -> list[ObservedEvent]:
    """Read events from the lines of `kubectl describe`, `kubectl get events`, or a log.

    Where any line begins an event, only those and `Message:` are taken; else every line is one.
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    typed = [match for line in lines if (match := _TYPED.match(line))]
    labeled = [line.removeprefix(_LABEL).strip() for line in lines if line.startswith(_LABEL)]
    if not typed and not labeled:
        return [ObservedEvent("", "", line) for line in lines]
    return [
        *(ObservedEvent("", "", line) for line in labeled),
        *(_typed_event(match) for match in typed),
    ]


def _typed_event(match: re.Match[str]) -> ObservedEvent:
    """Read the columns behind type and reason: object and message, or age, source and message."""
    about = _OBJECT.match(match[3])
    if about is not None:
        return ObservedEvent(match[1], match[2], about[3].strip(), _subject(about[1], about[2]))
    message = re.split(r"\s{2,}|\t", match[3], maxsplit=2)[-1]
    return ObservedEvent(match[1], match[2], message.strip())


def _subject(kind: str, name: str) -> str:
    return name if kind.lower() in _ABOUT_NAME else f"{kind}/{name}"


def _read(document: Document, path: Path, observed: Observed) -> None:
    values = Values(document)
    values.keys(path)
    kind = values.text((*path, "kind"))
    if kind in _LISTS:
        for item in values.items((*path, "items")):
            _read(document, item, observed)
    elif kind == "Pod":
        observed.pods.append(_pod(values, path))
    elif kind == "Event":
        observed.events.append(_event(values, path))
    elif not path:
        reason = f"{kind[:80]} is not a pod; Pod, Event and List are read"
        raise values.fault((*path, "kind"), reason)


def _text(values: Values, *path: str | int) -> str:
    return values.text(path, default="")


def _pod(values: Values, path: Path) -> ObservedPod:
    metadata, spec, status = (*path, "metadata"), (*path, "spec"), (*path, "status")
    for part in (metadata, spec):
        values.keys(part)
    uid = _text(values, *metadata, "uid")
    return ObservedPod(
        uid=PodUid(values.text((*metadata, "annotations", MIRROR), default=uid)),
        name=values.text((*metadata, "name")),
        namespace=values.text((*metadata, "namespace"), default="default"),
        node=_text(values, *spec, "nodeName"),
        phase=_text(values, *status, "phase"),
        reason=_text(values, *status, "reason"),
        message=_text(values, *status, "message"),
        owner=_owner(values, metadata),
        started=_text(values, *status, "startTime"),
        deleting=values.has((*metadata, "deletionTimestamp")),
        unscheduled=_condition(values, status, "PodScheduled", "False"),
        resize_pending=_condition(values, status, "PodResizePending", "True"),
        containers=(
            *_containers(values, path, "initContainers"),
            *_containers(values, path, "containers"),
        ),
    )


def _owner(values: Values, metadata: Path) -> str:
    for owner in values.items((*metadata, "ownerReferences")):
        return f"{_text(values, *owner, 'kind')} {_text(values, *owner, 'name')}".strip()
    return ""


def _condition(values: Values, status: Path, kind: str, state: str) -> str:
    """Return the message of a condition that is in this state; empty when none is."""
    for condition in values.items((*status, "conditions")):
        of = (_text(values, *condition, "type"), _text(values, *condition, "status"))
        if of == (kind, state):
            return _text(values, *condition, "message")
    return ""


def _containers(values: Values, path: Path, key: str) -> Iterable[ObservedContainer]:
    statuses = {
        _text(values, *status, "name"): status
        for status in values.items((*path, "status", _STATUS_KEYS[key]))
    }
    for item in values.items((*path, "spec", key)):
        values.keys(item)
        name = values.text((*item, "name"))
        kind = ContainerKind.REGULAR
        if key == "initContainers":
            always = _text(values, *item, "restartPolicy") == "Always"
            kind = ContainerKind.SIDECAR if always else ContainerKind.INIT
        limits = _limits(values, (*item, "resources", "limits"))
        yield _container(values, statuses.get(name), ContainerName(name), kind, limits)


def _container(
    values: Values,
    status: Path | None,
    name: ContainerName,
    kind: ContainerKind,
    limits: tuple[tuple[ResourceName, int], ...],
) -> ObservedContainer:
    if status is None:
        return ObservedContainer(name, kind, limits)
    state = next((each for each in _STATES if values.has((*status, "state", each))), "")
    place, last = (*status, "state", state), (*status, "lastState", "terminated")
    ended = state == "terminated"
    return ObservedContainer(
        name,
        kind,
        limits,
        state=state,
        reason=_text(values, *place, "reason") if state else "",
        message=_text(values, *place, "message") if state else "",
        last_reason=_text(values, *last, "reason"),
        last_message=_text(values, *last, "message"),
        exit_code=values.whole((*place, "exitCode"), default=0, most=COUNT_MAX) if ended else None,
        restarts=values.whole((*status, "restartCount"), default=0, most=COUNT_MAX),
        has_begun=bool(_text(values, *status, "containerID")),
        devices=tuple(_devices(values, (*status, "allocatedResourcesStatus"))),
    )


def _devices(values: Values, path: Path) -> Iterable[ShownDevice]:
    for resource in values.items(path):
        name = ResourceName(_text(values, *resource, "name"))
        for device in values.items((*resource, "resources")):
            shown = _text(values, *device, "resourceID")
            yield ShownDevice(name, shown, _text(values, *device, "health"))


def _limits(values: Values, path: Path) -> tuple[tuple[ResourceName, int], ...]:
    limits = []
    for name in values.keys(path) if values.has(path) else ():
        if is_extended_resource_name(name):
            try:
                count = int(parse_quantity(values.raw((*path, name))))
            except ValueError as cause:
                raise values.fault((*path, name), f"{name}: {cause}") from cause
            limits.append((ResourceName(name), count))
    return tuple(limits)


def _event(values: Values, path: Path) -> ObservedEvent:
    about = "involvedObject" if values.has((*path, "involvedObject")) else "regarding"
    kind, name = (_text(values, *path, about, key) for key in ("kind", "name"))
    subject = _text(values, *path, about, "uid") or (name and _subject(kind or "pod", name))
    return ObservedEvent(
        severity=_text(values, *path, "type"),
        reason=_text(values, *path, "reason"),
        message=_text(values, *path, "message") or _text(values, *path, "note"),
        subject=subject,
    )
