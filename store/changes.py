"""What the history says of a transition, in the same words for every store."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NoReturn, TypeVar

from simulator.core.devices import DeviceId, device_ids
from simulator.core.migration.phases import Phase
from simulator.core.plurals import counted
from simulator.core.pods import PodUid
from simulator.core.resources import ResourceName
from simulator.core.transitions import (
    CheckpointImported,
    DeviceBinding,
    DevicesReported,
    NodeBooted,
    NodeName,
    PhaseChanged,
    PodAdmitted,
    PodRejected,
    PodsReleased,
    ResourceRemoved,
    Transition,
)
from simulator.errors import StoreUnavailableError
from simulator.ports import Refused, Standing

T = TypeVar("T")

KINDS: Final[dict[type[Transition], int]] = {
    NodeBooted: 1,
    DevicesReported: 2,
    ResourceRemoved: 3,
    PodAdmitted: 4,
    PodRejected: 5,
    PodsReleased: 6,
    CheckpointImported: 7,
    PhaseChanged: 8,
}
"""Numbers of the kinds of change; they are in databases and never change."""

_KIND_NAMES: Final = {number: kind.__name__ for kind, number in KINDS.items()}

STANDINGS: Final = {Standing.ADMITTED: 1, Standing.REJECTED: 2, Standing.RELEASED: 3}
"""Numbers of the standings of pods; they are in databases and never change."""

PHASES: Final = {
    Phase.CHECKPOINT: 1,
    Phase.IMPORTED: 2,
    Phase.DUAL_WRITE: 3,
    Phase.DATABASE_PRIMARY: 4,
    Phase.DATABASE: 5,
}
"""Numbers of the phases of a migration; they are in databases and never change."""

_PHASES: Final = {number: phase for phase, number in PHASES.items()}
_STANDINGS: Final = {number: standing for standing, number in STANDINGS.items()}


def _known(names: Mapping[int, T], number: int, what: str) -> T:
    name = names.get(number)
    if name is None:
        refuse_value(what, number)
    return name


def kind_name(number: int) -> str:
    """Return the name of a kind of change.

    Raises:
        StoreUnavailableError: No program of this schema wrote that number.
    """
    return _known(_KIND_NAMES, number, "kind of change")


def standing_of(number: int) -> Standing:
    """Return the standing of a pod.

    Raises:
        StoreUnavailableError: No program of this schema wrote that number.
    """
    return _known(_STANDINGS, number, "standing of a pod")


def phase_of(number: int) -> Phase:
    """Return the phase of a migration.

    Raises:
        StoreUnavailableError: No program of this schema wrote that number.
    """
    return _known(_PHASES, number, "phase of a migration")


def whole(number: int) -> int:
    """Return a number of a row; SQLite keeps a text in a column of numbers, if it is given one.

    Raises:
        StoreUnavailableError: It is no number.
    """
    if not isinstance(number, int):
        refuse_value("whole number", number)
    return number


def refuse_value(what: str, found: object) -> NoReturn:
    """Refuse a value that no program of this schema can have written.

    Raises:
        StoreUnavailableError: The database is damaged.
    """
    reason = f"the database is damaged: {found!r} is no {what}; restore it from a copy"
    raise StoreUnavailableError(reason)


def bindings_line(bindings: tuple[DeviceBinding, ...]) -> str:
    """Say which container got which devices: `main example.com/gpu=gpu-0,gpu-1`."""
    if len(bindings) == 1:
        return _binding_line(bindings[0])
    return "; ".join(map(_binding_line, bindings))


def _binding_line(binding: DeviceBinding) -> str:
    groups = binding.devices.values()
    if len(groups) == 1 and len(ids := next(iter(groups))) == 1:
        return f"{binding.container} {binding.resource}={ids[0]}"
    return f"{binding.container} {binding.resource}={','.join(device_ids(binding.devices))}"


def reported_line(report: DevicesReported) -> str:
    """Say how many devices a plugin reported."""
    healthy = sum(device.is_healthy for device in report.devices)
    return f"{report.resource}: {counted(len(report.devices), 'device')}, {healthy} healthy"


def imported_line(imported: CheckpointImported) -> str:
    """Say what an import brought."""
    pods = len({binding.pod for binding in imported.bindings})
    entries = counted(len(imported.bindings), "entry", "entries")
    return f"{entries} of {counted(pods, 'pod')}, {counted(len(imported.content), 'byte')}"


def detail_of(transition: Transition, pods: tuple[PodUid, ...]) -> str:
    """Return the history's line for a transition that concerned these pods."""
    match transition:
        case NodeBooted():
            line = f"boot {transition.boot_id}"
        case DevicesReported():
            line = reported_line(transition)
        case ResourceRemoved():
            line = str(transition.resource)
        case PodAdmitted():
            line = bindings_line(transition.bindings)
        case PodRejected():
            line = f"{transition.reason}: {transition.message}"
        case PodsReleased():
            line = " ".join(pods)
        case PhaseChanged():
            line = f"phase {transition.phase.value}"
        case _:
            line = imported_line(transition)
    return line


def pods_of(transition: Transition) -> Iterable[PodUid]:
    """Return the pods that a transition names, some perhaps more than once."""
    match transition:
        case PodAdmitted() | PodRejected():
            return (transition.pod.uid,)
        case PodsReleased():
            return transition.pods
        case CheckpointImported():
            return [binding.pod for binding in transition.bindings]
        case _:
            return ()


def held_by_another(*, device: DeviceId, resource: ResourceName, holder: PodUid) -> Refused:
    """Refuse a second holder."""
    return Refused(f"device {device} of {resource} is held by pod {holder}")


def has_other_state(node: NodeName, *, pods: int, resources: int) -> Refused:
    """Refuse an import over other state (details 16)."""
    return Refused(
        f"node {node} already has other state ({counted(pods, 'pod')}, "
        f"{counted(resources, 'resource')}); import with --replace to drop it"
    )
