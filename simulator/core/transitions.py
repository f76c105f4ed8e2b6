"""Changes of a node's durable state, as values; and that state as it is loaded.

The persistence strategies produce transitions, the store applies them. One transition is applied
whole or not at all, gets one revision, and is one row of the history (design: "The store").
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import NewType

from simulator.core.devices import Device, DeviceId, DevicesPerNuma
from simulator.core.instants import Instant
from simulator.core.migration.phases import Phase
from simulator.core.pods import ContainerName, PodUid
from simulator.core.resources import ResourceName

NodeName = NewType("NodeName", str)
"""A node's name."""


@dataclass(frozen=True, slots=True)
class PodIdentity:
    """A pod as the store knows it; a checkpoint has only uids, so the names may be empty."""

    uid: PodUid
    namespace: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class DeviceBinding:
    """The devices of one resource that one container holds.

    Attributes:
        devices: Ids by NUMA node, as recorded at allocation (S2.2).
        response: The serialized ContainerAllocateResponse; None when absent (S4.8).
    """

    pod: PodUid
    container: ContainerName
    resource: ResourceName
    devices: DevicesPerNuma
    response: bytes | None


@dataclass(frozen=True, slots=True)
class NodeBooted:
    """The node started with a new boot id."""

    node: NodeName
    at: Instant
    boot_id: str


@dataclass(frozen=True, slots=True)
class DevicesReported:
    """A ListAndWatch message: the complete device list of a resource (S1.17)."""

    node: NodeName
    at: Instant
    resource: ResourceName
    devices: tuple[Device, ...]


@dataclass(frozen=True, slots=True)
class ResourceRemoved:
    """The grace period of a resource's endpoint is over and the resource was dropped (S2.10)."""

    node: NodeName
    at: Instant
    resource: ResourceName


@dataclass(frozen=True, slots=True)
class PodAdmitted:
    """A pod was admitted; the bindings are those that this admission added.

    A device may stand under several containers of one pod (init container reuse, S3.2); a device
    held by another pod makes the store refuse the whole transition. A binding of a container and
    resource that already have one takes its place, at the end of the node's bindings; devices that
    no container of the pod has any more are given back.
    """

    node: NodeName
    at: Instant
    pod: PodIdentity
    bindings: tuple[DeviceBinding, ...]


@dataclass(frozen=True, slots=True)
class PodRejected:
    """A pod was refused; the history keeps the reason.

    Devices that it held before stay held until the pod is released (S6.3).
    """

    node: NodeName
    at: Instant
    pod: PodIdentity
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class PodsReleased:
    """Pods that are no longer active gave their devices back (UpdateAllocatedDevices, S6.1)."""

    node: NodeName
    at: Instant
    pods: tuple[PodUid, ...]


class OnConflict(Enum):
    """What an import does with a device that stands under two pods."""

    REFUSE = "refuse"
    KEEP = "keep"


@dataclass(frozen=True, slots=True)
class CheckpointImported:
    """A checkpoint file became the node's state.

    Attributes:
        content: The file's bytes; export returns them while the node is unchanged.
        bindings: In file order, the skipped entries (S4.13) left out.
        registered: Resource to ids as in the file, in file order of keys.
        replace: Whether other state of the node may be dropped.
        pods: Names for uids of the file, where they are known.
        phase: The phase of the node's migration that begins with the import, if one does.
    """

    node: NodeName
    at: Instant
    content: bytes
    bindings: tuple[DeviceBinding, ...]
    registered: tuple[tuple[ResourceName, tuple[DeviceId, ...]], ...]
    on_conflict: OnConflict = OnConflict.REFUSE
    replace: bool = False
    pods: tuple[PodIdentity, ...] = ()
    phase: Phase | None = None


@dataclass(frozen=True, slots=True)
class PhaseChanged:
    """A node went on with its migration; none of its bindings changed.

    So a file that was the node's own before still is.

    Attributes:
        content: The node's file at this moment, which export returns while nothing changes; None
            when there is none, or none that is new.
    """

    node: NodeName
    at: Instant
    phase: Phase
    content: bytes | None = None


Transition = (
    NodeBooted
    | DevicesReported
    | ResourceRemoved
    | PodAdmitted
    | PodRejected
    | PodsReleased
    | CheckpointImported
    | PhaseChanged
)


@dataclass(frozen=True, slots=True)
class NodeState:
    """What the store knows of a node, in a form from which the device manager starts.

    Attributes:
        revision: The store's revision of the node's last change; 0 for an unknown node.
        bindings: In the order in which they were stored; groups by NUMA node ascending.
        registered: Resources with an endpoint, to be restored as stopped (S2.8); by name.
        phase: How far the node's migration is; None when none was ever begun.
    """

    node: NodeName
    revision: int
    bindings: tuple[DeviceBinding, ...]
    registered: tuple[ResourceName, ...]
    phase: Phase | None = None
