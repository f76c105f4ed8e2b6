"""What happened in a device manager, with its plugins and with what it keeps."""

from __future__ import annotations

from dataclasses import dataclass

from simulator.core.devices import Device, DeviceId, DevicesPerNuma, NumaNode
from simulator.core.pods import ContainerName, PodUid
from simulator.core.records.record import Record
from simulator.core.resources import ResourceName

HeldRecord = tuple[PodUid, ContainerName, ResourceName, tuple[DeviceId, ...]]
"""The devices of one resource that are recorded for a container."""


@dataclass(frozen=True, slots=True)
class ManagerStarted(Record):
    """The device manager restored its state (S2.8, S4.12).

    Attributes:
        source: `checkpoint`, `database` or `nothing`.
        bindings: Number of restored device bindings.
        skipped: Entries left out because their response cannot be decoded (S4.13).
        error: Why the state could not be read; empty when it could.
        held: The restored bindings: all that the device manager holds now.
        registered: Resources whose plugin has the grace period to come back (S2.8).
    """

    source: str
    bindings: int
    skipped: int = 0
    error: str = ""
    held: tuple[HeldRecord, ...] = ()
    registered: tuple[ResourceName, ...] = ()


@dataclass(frozen=True, slots=True)
class PluginRegistered(Record):
    """The endpoint of a resource was replaced by a new one (S1.12.7)."""

    resource: ResourceName


@dataclass(frozen=True, slots=True)
class RegistrationRefused(Record):
    """A Register request was answered with an error (S1.12)."""

    resource: str
    message: str


@dataclass(frozen=True, slots=True)
class ListTooLarge(Record):
    """A ListAndWatch message was larger than may be received, which ended the stream (S1.21).

    Attributes:
        devices: How many are in it; 0 when they were not counted.
        size, limit: Bytes that it has, and that may be received.
        fitting: How many of the devices, from the first on, would have fitted.
    """

    resource: ResourceName
    devices: int
    size: int
    limit: int
    fitting: int


@dataclass(frozen=True, slots=True)
class PluginDisconnected(Record):
    """A resource's stream ended; its devices are unhealthy from now on (S2.6)."""

    resource: ResourceName


@dataclass(frozen=True, slots=True)
class DevicesListed(Record):
    """A ListAndWatch message was folded in (S1.18)."""

    resource: ResourceName
    devices: tuple[Device, ...]


@dataclass(frozen=True, slots=True)
class ResourceExpired(Record):
    """A resource's endpoint was away longer than the grace period (S2.10)."""

    resource: ResourceName


@dataclass(frozen=True, slots=True)
class PluginCalled(Record):
    """A plugin call was answered.

    Attributes:
        rpc: `Allocate`, `GetPreferredAllocation` or `PreStartContainer`.
        error: Empty on success.
    """

    rpc: str
    resource: ResourceName
    pod: PodUid
    container: ContainerName
    devices: tuple[DeviceId, ...]
    error: str = ""


@dataclass(frozen=True, slots=True)
class DevicesAllocated(Record):
    """A container got devices of one resource (S3.14)."""

    pod: PodUid
    container: ContainerName
    resource: ResourceName
    devices: DevicesPerNuma


@dataclass(frozen=True, slots=True)
class DevicesReleased(Record):
    """The records of pods that are no longer active were dropped (S6.1)."""

    pods: tuple[PodUid, ...]


@dataclass(frozen=True, slots=True)
class ReservationLeaked(Record):
    """A failed call left ids reserved that no pod holds (S3.13, S3.18, S6.4)."""

    resource: ResourceName
    devices: tuple[DeviceId, ...]
    rule: str


@dataclass(frozen=True, slots=True)
class HealthUpdated(Record):
    """The health of devices of these pods changed; the kubelet syncs them (S9.6)."""

    pods: tuple[PodUid, ...]


@dataclass(frozen=True, slots=True)
class StateWritten(Record):
    """A checkpoint write or a commit was acknowledged or failed.

    Attributes:
        target: `checkpoint` or `database`.
        cause: Why it was written.
        size: Bytes of the file, or number of transitions of the commit.
        error: Empty on success.
    """

    target: str
    cause: str
    size: int
    error: str = ""


@dataclass(frozen=True, slots=True)
class DevicesBound(Record):
    """The API server took a pod's devices, has them no longer, or refused them.

    Attributes:
        target: `resourcebinding` for the pod's spec, `devicebinding` for an object of its own.
        held: What the API has of them now; empty when the object was removed.
        error: The server's text when it refused; empty when it did not.
    """

    target: str
    pod: PodUid
    held: tuple[HeldRecord, ...] = ()
    error: str = ""


@dataclass(frozen=True, slots=True)
class StatesDiffer(Record):
    """The checkpoint file and the database, both written, do not say the same.

    Attributes:
        believed: Whose word both now get: `checkpoint` or `database`, or `memory` while a device
            manager runs; `api` for what only the pods' specs say.
        detail: What is different, or why one cannot be read.
    """

    believed: str
    detail: str


@dataclass(frozen=True, slots=True)
class MigrationStep(Record):
    """A node went on with its migration between file and database, or could not.

    Attributes:
        phase: The phase that was to begin: `checkpoint`, `imported`, `dualWrite`,
            `databasePrimary` or `database`.
        detail: What was done for it.
        error: Why it did not begin; empty when it did.
    """

    phase: str
    detail: str
    error: str = ""


@dataclass(frozen=True, slots=True)
class KubeletPanicked(Record):
    """The real kubelet of this version dereferences nil here and exits (S3.14, S7.7).

    Attributes:
        rule: The rule id.
        detail: What was missing.
    """

    rule: str
    detail: str


HintRecord = tuple[tuple[NumaNode, ...] | None, bool]
"""A hint's NUMA nodes, None for any, and whether it is preferred."""


@dataclass(frozen=True, slots=True)
class TopologyMerged(Record):
    """The topology manager merged the device manager's hints (S7.14).

    Attributes:
        container: None when the hints are the whole pod's.
        hints: By resource; None for no preference, empty when the request cannot be met.
        affinity: The merged hint's nodes; None for any.
    """

    pod: PodUid
    container: ContainerName | None
    hints: tuple[tuple[ResourceName, tuple[HintRecord, ...] | None], ...]
    affinity: tuple[NumaNode, ...] | None
    preferred: bool


@dataclass(frozen=True, slots=True)
class AdmissionDecided(Record):
    """A pod was admitted or refused by the device manager's handler (S5.7, S13).

    Attributes:
        reason, message: Why it was refused; empty when it was not.
        waiting: Whether it is asked again (`readmission: wait`).
        held: What is recorded for the pod after the decision; a refused pod may keep devices.
    """

    pod: PodUid
    admitted: bool
    reason: str = ""
    message: str = ""
    waiting: bool = False
    held: tuple[HeldRecord, ...] = ()
