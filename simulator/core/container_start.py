"""What a container needs from the device manager when it starts (S3.22 to S3.26).

No health is looked at here: a container is restarted with the response of its admission, even if
the device is unhealthy by now.

Kubelet: GetDeviceRunContainerOptions (devicemanager/manager.go).
"""

from __future__ import annotations

from dataclasses import dataclass

from simulator.core.admission import reallocate_container
from simulator.core.allocate_response import decode
from simulator.core.calls import (
    CallFailed,
    Decision,
    PreStartContainerCall,
    PreStartContainerReply,
)
from simulator.core.manager_state import ManagerState
from simulator.core.persistence.protocol import StartDelayed
from simulator.core.plugin_calls import call_plugin
from simulator.core.pods import Container, Pod
from simulator.core.recalling import recall_responses
from simulator.core.refusals import EndpointNotCached, NoRecordedDevices, PreStartFailed, Refusal
from simulator.core.resources import ResourceName
from simulator.core.run_options import Conflict, DeviceRunContainerOptions, merge_responses


@dataclass(frozen=True, slots=True)
class RunOptionsResult:
    """The device manager's answer to a container start.

    Attributes:
        options: None when the container has no record.
        conflicts: Settings that were dropped in the merge (S10.2 to S10.5).
        error: The message of `CreateContainerConfigError` (S3.25); empty on success.
    """

    options: DeviceRunContainerOptions | None
    conflicts: tuple[Conflict, ...] = ()
    error: str = ""


def run_options(state: ManagerState, pod: Pod, container: Container) -> Decision[RunOptionsResult]:
    """Prepare the container's devices and return how to start it (S3.22 to S3.24)."""
    refusal = yield from _prepare(state, pod, container)
    if refusal is None and state.persistence.recalls_ids_only:
        refusal = yield from recall_responses(state, pod, container)
    if refusal is not None:
        return RunOptionsResult(None, error=refusal.text(state.behavior))
    # Devices of an allocation at this start wait for the API as those of an admission do.
    gate = yield from state.persistence.before_start(state, pod)
    if gate is not None:
        text = gate.message if isinstance(gate, StartDelayed) else gate.text(state.behavior)
        return RunOptionsResult(None, error=text)
    allocations = state.pod_devices.of_container(pod.uid, container.name)
    if not allocations:
        return RunOptionsResult(None)
    behavior = state.behavior
    merged = merge_responses(
        (
            resource,
            decode(
                allocation.binding.response or b"",
                lenient=behavior.lenient_allocate_responses,
                cdi_devices=behavior.cdi_devices_known and behavior.cdi_devices_passed,
            ),
        )
        for resource, allocation in allocations.items()
    )
    return RunOptionsResult(merged.options, merged.conflicts)


def _prepare(state: ManagerState, pod: Pod, container: Container) -> Decision[Refusal | None]:
    limits = dict(container.limits)
    unrecorded = False
    for resource in state.choices.order_resources(pod.uid, container.name, tuple(limits)):
        skipped = not limits[resource] and state.behavior.zero_limits_skipped_at_start
        if skipped or not state.inventory.is_device_resource(resource):
            continue
        refusal = yield from _pre_start(state, pod, container, resource)
        if refusal is not None:
            return refusal
        if pod.uid in state.facts.active_pods or state.behavior.inactive_pods_reallocated:
            recorded = state.pod_devices.ids(pod.uid, container.name, resource)
            unrecorded = unrecorded or recorded is None
    if unrecorded:
        return (yield from reallocate_container(state, pod, container))
    # What an earlier, refused attempt left in memory (S3.16) is not used before it is durable.
    return (yield from state.persistence.on_pod_admitted(state, pod, ()))


def _pre_start(
    state: ManagerState, pod: Pod, container: Container, resource: ResourceName
) -> Decision[Refusal | None]:
    """Call PreStartContainer if the plugin asked for it; unknown after a restart (S3.26).

    1.12 does not start the container before it knows (R13); its text is not known for sure.
    """
    endpoint = state.inventory.endpoints.get(resource)
    unknown = endpoint is None or endpoint.options is None
    if endpoint is None or (unknown and state.behavior.start_waits_for_plugin):
        return EndpointNotCached(resource)
    if endpoint.options is None or not endpoint.options.pre_start_required:
        return None
    devices = state.pod_devices.ids(pod.uid, container.name, resource)
    if devices is None:
        return NoRecordedDevices(pod.uid, container.name, resource)
    call = PreStartContainerCall(resource, devices, pod.uid, container.name)
    reply = yield from call_plugin(state, call, PreStartContainerReply)
    return PreStartFailed(reply.message) if isinstance(reply, CallFailed) else None
