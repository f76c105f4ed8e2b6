"""Asking a plugin again for devices of which only the ids are known.

What the API has of a binding is ids. The response, with the device nodes and environment variables
of a container, is lost with the kubelet process that got it, so before the container starts again
the plugin is called for the same devices. It may answer something else: Allocate is not idempotent
(k/k#52678). A container that runs on needs nothing.
"""

from __future__ import annotations

from simulator.core.calls import AllocateCall, AllocateReply, CallFailed, Decision
from simulator.core.manager_state import ManagerState
from simulator.core.plugin_calls import call_plugin
from simulator.core.pod_devices import DeviceAllocation
from simulator.core.pods import Container, Pod
from simulator.core.recording import record_allocation
from simulator.core.refusals import (
    AllocateFailed,
    EmptyAllocateResponse,
    EndpointNotCached,
    NoRecordedDevices,
    RecordedDevicesUnhealthy,
    Refusal,
)
from simulator.core.transitions import DeviceBinding


def recall_responses(
    state: ManagerState, pod: Pod, container: Container
) -> Decision[Refusal | None]:
    """Get the responses that a container's records lack, and make them durable where they are."""
    recalled: list[DeviceBinding] = []
    for allocation in tuple(state.pod_devices.of_container(pod.uid, container.name).values()):
        if allocation.binding.response is not None:
            continue
        answer = yield from _recall(state, allocation)
        if isinstance(answer, Refusal):
            return answer
        recalled.append(answer)
    if not recalled:
        return None
    return (yield from state.persistence.on_container_allocated(state, pod, recalled))


def _recall(state: ManagerState, allocation: DeviceAllocation) -> Decision[DeviceBinding | Refusal]:
    """Call Allocate for recorded devices; without them being healthy it makes no sense."""
    binding, ids = allocation.binding, allocation.ids
    resource = binding.resource
    if resource not in state.inventory.endpoints:
        return EndpointNotCached(resource)
    if not state.pool(resource).are_healthy(ids):
        return RecordedDevicesUnhealthy(resource)
    call = AllocateCall(resource, ids, binding.pod, binding.container)
    reply = yield from call_plugin(state, call, AllocateReply)
    if isinstance(reply, CallFailed):
        return AllocateFailed(reply.message)
    if reply.response is None:
        return EmptyAllocateResponse()
    if state.pod_devices.ids(binding.pod, binding.container, resource) != ids:
        return NoRecordedDevices(binding.pod, binding.container, resource)
    return record_allocation(state, call, reply.response)
