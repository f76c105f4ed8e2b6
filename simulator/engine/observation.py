"""What can be seen of a simulated cluster at one instant: the material of expectations.

Expectations compare these values; they never look into the simulation.
"""

from __future__ import annotations

from dataclasses import dataclass

from simulator.core.pods import PodUid
from simulator.core.resources import ResourceName
from simulator.engine.actions import DeviceCounts


@dataclass(frozen=True, slots=True)
class PodObservation:
    """A pod as the API and the node show it.

    Attributes:
        phase: `Pending`, `Running`, `Succeeded`, `Failed`, or `Deleted`.
        devices: Per resource, the number of distinct ids that the node's records give to the pod.
        device_ids: Resource to sorted ids of those records.
        unchanged: Whether the running containers are the same processes with the same devices as
            before the last restart or reboot.
        plugin_calls: Allocate calls for this pod since the beginning of the latest step.
        restarts: In-place container restarts.
        devices_before: What `device_ids` was before the last restart or reboot; as now, if there
            was none.
        waiting: Why a container does not start, or what a waiting admission waits for.
    """

    uid: PodUid
    name: str
    phase: str
    reason: str
    message: str
    devices: DeviceCounts
    device_ids: tuple[tuple[ResourceName, tuple[str, ...]], ...]
    unchanged: bool
    plugin_calls: int
    restarts: int
    devices_before: tuple[tuple[ResourceName, tuple[str, ...]], ...] = ()
    waiting: str = ""


@dataclass(frozen=True, slots=True)
class NodeObservation:
    """A node.

    Attributes:
        up: Whether the kubelet runs.
        capacity, allocatable: What the device manager answers now (S2.9).
        status_capacity, status_allocatable: What the Node object says, up to 10 s later (S2.15).
        named_allocatable: Devices that GetAllocatableResources names, used or not (S8.10).
    """

    up: bool
    capacity: DeviceCounts
    allocatable: DeviceCounts
    status_capacity: DeviceCounts
    status_allocatable: DeviceCounts
    named_allocatable: DeviceCounts


@dataclass(frozen=True, slots=True)
class PluginObservation:
    """A plugin: is it registered, and its calls since the latest step began, by RPC name."""

    registered: bool
    calls: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class CheckpointObservation:
    """The checkpoint file: does it exist, is it valid, how many entries."""

    exists: bool
    valid: bool
    entries: int


@dataclass(frozen=True, slots=True)
class HoldingObservation:
    """One device held by one pod according to the durable state."""

    resource: ResourceName
    device: str
    pod: str
