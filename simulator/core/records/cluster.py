"""What happened on a machine and in its cluster, around the device manager."""

from __future__ import annotations

from dataclasses import dataclass

from simulator.core.devices import DeviceId
from simulator.core.pods import ContainerName, PodUid
from simulator.core.records.record import Record
from simulator.core.resources import ResourceName


@dataclass(frozen=True, slots=True)
class StepDone(Record):
    """A scenario's step completed."""

    step: str


@dataclass(frozen=True, slots=True)
class KubeletStarted(Record):
    """The kubelet process started with this version and boot id."""

    version: str
    boot_id: str


@dataclass(frozen=True, slots=True)
class KubeletStopped(Record):
    """The kubelet process ended.

    Attributes:
        cause: `stopped`, `crashed`, `failed to start`, `reboot`, `power cut` or `recreated`.
    """

    cause: str


@dataclass(frozen=True, slots=True)
class KubeletStartFailed(Record):
    """The kubelet could not start and stays down."""

    message: str


@dataclass(frozen=True, slots=True)
class PodPhaseChanged(Record):
    """A pod's status as it stands in the API."""

    pod: PodUid
    name: str
    phase: str
    reason: str = ""
    message: str = ""


@dataclass(frozen=True, slots=True)
class PodNotCreated(Record):
    """The API has not taken a pod: it refused it, or could not be asked for too long."""

    pod: PodUid
    name: str
    reason: str = ""
    message: str = ""


@dataclass(frozen=True, slots=True)
class PodDeleted(Record):
    """A pod is gone from the API."""

    pod: PodUid
    name: str


@dataclass(frozen=True, slots=True)
class ContainerChanged(Record):
    """A container started, exited or was killed; `devices` is what its process was given.

    Attributes:
        state: `running`, `exited`, `killed` or `waiting`.
        message: The waiting reason or the cause of the exit.
        devices: Resource to ids with which the process was started.
    """

    pod: PodUid
    container: ContainerName
    state: str
    message: str = ""
    devices: tuple[tuple[ResourceName, tuple[DeviceId, ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class NodeStatusReported(Record):
    """The Node object's capacity and allocatable changed (S2.13, S2.15)."""

    capacity: tuple[tuple[ResourceName, int], ...]
    allocatable: tuple[tuple[ResourceName, int], ...]


@dataclass(frozen=True, slots=True)
class EventEmitted(Record):
    """A Kubernetes event."""

    severity: str
    reason: str
    message: str
    pod: PodUid | None = None


@dataclass(frozen=True, slots=True)
class FaultInjected(Record):
    """The scenario broke something: disk full, power cut, damaged file, ..."""

    fault: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class InvariantViolated(Record):
    """Something that must always hold does not.

    Attributes:
        invariant: One of `invariant_names.INVARIANTS`.
        detail: The values that contradict each other.
        by_kubelet: Whether the kubelet's own decision breaks it, whatever the persistence
            (S6.5, S5.10).
    """

    invariant: str
    detail: str
    by_kubelet: bool = False
