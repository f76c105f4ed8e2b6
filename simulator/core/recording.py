"""What a plugin's answer to Allocate leaves behind: a binding in memory, told to the persistence.

The binding is durable only when the strategy's next step is acknowledged.
"""

from __future__ import annotations

from collections.abc import Sequence

from simulator.core.behavior import VanishedDevice
from simulator.core.calls import AllocateCall
from simulator.core.devices import NO_NUMA_NODE, DeviceId, DevicesPerNuma, NumaNode
from simulator.core.manager_state import ManagerState
from simulator.core.panics import KubeletPanic
from simulator.core.pod_devices import group_by_numa
from simulator.core.records import DevicesAllocated, KubeletPanicked
from simulator.core.resources import ResourceName
from simulator.core.transitions import DeviceBinding


def record_allocation(state: ManagerState, call: AllocateCall, response: bytes) -> DeviceBinding:
    """Record what was allocated, in place of what the container had of the resource (S3.14).

    Raises:
        KubeletPanic: A device is not in the plugin's list any more, and the kubelet is one that
            crashes on that.
    """
    devices = _by_numa(state, call.resource, call.devices)
    binding = DeviceBinding(call.pod, call.container, call.resource, devices, response)
    state.pod_devices.insert(binding, state.facts.active_pods)
    state.persistence.record(binding)
    state.note(DevicesAllocated(call.pod, call.container, call.resource, devices))
    return binding


def _by_numa(
    state: ManagerState, resource: ResourceName, chosen: Sequence[DeviceId]
) -> DevicesPerNuma:
    """Group the ids by the NUMA nodes that the plugin lists now, after the call."""
    listed = state.pool(resource).listed
    missing = next((device for device in chosen if device not in listed), None)
    if missing is not None and state.behavior.vanished_device is VanishedDevice.CRASH:
        detail = f"allocated {resource} {missing}, which is not in the plugin's list any more"
        raise KubeletPanic(KubeletPanicked(rule="S3.14", detail=detail))
    nodes = {device: listed[device].numa_nodes if device in listed else () for device in chosen}
    alone = NumaNode(0) if state.behavior.topologyless_under_node_zero else NO_NUMA_NODE
    return group_by_numa(chosen, nodes, alone)
