"""The order of things when containers get devices and pods are admitted (S3.1 to S3.16, S7.12).

Every refusal leaves behind exactly what the kubelet leaves behind, or nothing under
`reservations: transactional`.

Kubelet: Allocate, allocateContainerResources (devicemanager/manager.go), the scopes' Admit
(topologymanager).
"""

from __future__ import annotations

from dataclasses import dataclass

from simulator.core.allocation import Chosen, devices_to_allocate
from simulator.core.behavior import Readmission, Reservations
from simulator.core.calls import AllocateCall, AllocateReply, CallFailed, Decision
from simulator.core.hinting import container_hints, merge, pod_hints
from simulator.core.machine import TopologyPolicy, TopologyScope
from simulator.core.manager_state import ContainerRequest, ManagerState
from simulator.core.plugin_calls import call_plugin
from simulator.core.pods import Container, ContainerKind, Pod
from simulator.core.recording import record_allocation
from simulator.core.records import AdmissionDecided
from simulator.core.refusals import (
    ADMITTED,
    NOT_KEPT,
    PLUGIN_AWAY,
    Admission,
    AllocateFailed,
    EmptyAllocateResponse,
    EndpointUnknown,
    NoTopologyLocality,
    Refusal,
    refused,
)
from simulator.core.releasing import release_inactive
from simulator.core.resources import ResourceName
from simulator.core.topology import TopologyHint
from simulator.core.topology_policies import admits
from simulator.core.transitions import DeviceBinding


@dataclass(frozen=True, slots=True)
class NewBinding:
    """A binding that an allocation made.

    Attributes:
        replaces: The earlier record of the same pod, container and resource; only when devices were
            chosen again (`readmission: reassign`).
    """

    binding: DeviceBinding
    replaces: DeviceBinding | None


def admit_pod(state: ManagerState, pod: Pod) -> Decision[Admission]:
    """Give every container of `pod` its devices, or refuse the pod (S13.1).

    The bindings are durable before the admission is returned.
    """
    had_record = pod.uid in state.pod_devices
    added: list[NewBinding] = []
    refusal = yield from _admit_containers(state, pod, added)
    if refusal is None:
        refusal = yield from state.persistence.on_pod_admitted(state, pod, _bindings(added))
    if refusal is None:
        held = tuple(state.pod_devices.held(pod.uid))
        state.records.append(AdmissionDecided(pod.uid, admitted=True, held=held))
        return ADMITTED
    yield from _take_back(state, pod, added, refusal)
    waits = (
        state.readmission is Readmission.WAIT and had_record and isinstance(refusal, PLUGIN_AWAY)
    )
    admission = refused(refusal, state.behavior, retry=waits)
    reason, message = admission.reason, admission.message
    state.records.append(
        AdmissionDecided(
            pod.uid,
            admitted=False,
            reason=reason,
            message=message,
            waiting=waits,
            held=tuple(state.pod_devices.held(pod.uid)),
        )
    )
    if not waits:
        yield from state.persistence.on_pod_rejected(state, pod, reason, message)
    return admission


def _admit_containers(
    state: ManagerState, pod: Pod, added: list[NewBinding]
) -> Decision[Refusal | None]:
    """Align the pod or each container, as the scope says, and allocate one by one (S7.12)."""
    aligns = state.topology.policy is not TopologyPolicy.NONE
    whole_pod = aligns and state.topology.scope is TopologyScope.POD
    hint: TopologyHint | Refusal | None = None
    if whole_pod:
        hint = yield from _align(state, pod, None)
    for container in pod.all_containers():
        if aligns and not whole_pod:
            hint = yield from _align(state, pod, container)
        if isinstance(hint, Refusal):
            return hint
        if hint is not None:
            state.hints.setdefault(pod.uid, {})[container.name] = hint
        refusal = yield from allocate_container(state, pod, container, added)
        if refusal is not None:
            return refusal
    return None


def _align(
    state: ManagerState, pod: Pod, container: Container | None
) -> Decision[TopologyHint | Refusal]:
    """Find the NUMA nodes for one container, or for the whole pod; the policy may refuse."""
    if container is None:
        hints = yield from pod_hints(state, pod)
    else:
        hints = yield from container_hints(state, pod, container)
    if isinstance(hints, Refusal):
        return hints
    merged = merge(state, pod, None if container is None else container.name, hints)
    return merged if admits(state.topology.policy, merged) else NoTopologyLocality()


def reallocate_container(
    state: ManagerState, pod: Pod, container: Container
) -> Decision[Refusal | None]:
    """Allocate for one container outside of an admission, durably (S3.23)."""
    added: list[NewBinding] = []
    refusal = yield from allocate_container(state, pod, container, added)
    if refusal is None:
        refusal = yield from state.persistence.on_pod_admitted(state, pod, _bindings(added))
    if refusal is not None:
        yield from _take_back(state, pod, added, refusal)
    return refusal


def allocate_container(
    state: ManagerState, pod: Pod, container: Container, added: list[NewBinding]
) -> Decision[Refusal | None]:
    """Allocate for one container and see what it hands on (S3.1 to S3.3).

    `added` gets the new bindings, also those made before a refusal.

    Kubelet: Allocate.
    """
    state.reusable.begin(pod.uid)
    refusal = yield from _allocate_resources(state, pod, container, added)
    if refusal is not None:
        return refusal
    allocations = state.pod_devices.of_container(pod.uid, container.name)
    dedicated = container.kind is ContainerKind.REGULAR or (
        container.kind is ContainerKind.SIDECAR and state.behavior.sidecar_devices_dedicated
    )
    if dedicated:
        state.reusable.remove(pod.uid, allocations)
    else:
        state.reusable.add(pod.uid, allocations)
    return None


def _allocate_resources(
    state: ManagerState, pod: Pod, container: Container, added: list[NewBinding]
) -> Decision[Refusal | None]:
    """Allocate resource by resource, then make the container's bindings durable (S3.5 to S3.15)."""
    limits = dict(container.limits)
    before = len(added)
    released = False
    for resource in state.choices.order_resources(pod.uid, container.name, tuple(limits)):
        if not _is_served(state, container, resource):
            continue
        if not released:
            outcome = yield from release_inactive(state)
            if isinstance(outcome, Refusal):
                return outcome
            released = True
        request = ContainerRequest(pod, container.name, resource, limits[resource])
        refusal = yield from _allocate_resource(state, request, added)
        if refusal is not None:
            return refusal
    return (
        yield from state.persistence.on_container_allocated(state, pod, _bindings(added[before:]))
    )


def _is_served(state: ManagerState, container: Container, resource: ResourceName) -> bool:
    """Tell whether the device manager looks at this limit at all (S3.6, S3.7)."""
    if state.behavior.claimed_resources_skipped and resource in container.claimed_resources:
        return False
    return state.inventory.is_device_resource(resource)


def _allocate_resource(
    state: ManagerState, request: ContainerRequest, added: list[NewBinding]
) -> Decision[Refusal | None]:
    """Choose devices, tell the plugin, and record what it answered (S3.9 to S3.14)."""
    chosen = yield from devices_to_allocate(state, request)
    if isinstance(chosen, Refusal):
        return chosen
    if not chosen:
        return None
    resource = request.resource
    if resource not in state.inventory.endpoints:
        _restore(state, resource, chosen)
        return EndpointUnknown(resource)
    call = AllocateCall(resource, chosen, request.pod.uid, request.container)
    reply = yield from call_plugin(state, call, AllocateReply)
    if isinstance(reply, CallFailed):
        _restore(state, resource, chosen)
        return AllocateFailed(reply.message)
    if reply.response is None:
        state.abandon(resource, chosen, "S3.13")
        return EmptyAllocateResponse()
    earlier = state.pod_devices.of_container(call.pod, call.container).get(resource)
    binding = record_allocation(state, call, reply.response)
    added.append(NewBinding(binding, replaces=None if earlier is None else earlier.binding))
    return None


def _bindings(added: list[NewBinding]) -> list[DeviceBinding]:
    return [new.binding for new in added]


def _restore(state: ManagerState, resource: ResourceName, chosen: Chosen) -> None:
    """Give back what was reserved for a call that failed (S3.10, S3.12).

    The kubelet rebuilds all of `allocatedDevices`, other calls' reservations included.
    """
    if state.reservations is Reservations.UPSTREAM:
        state.inventory.rebuild()
    else:
        state.pool(resource).unreserve(chosen)


def _take_back(
    state: ManagerState, pod: Pod, added: list[NewBinding], refusal: Refusal
) -> Decision[None]:
    """Undo the bindings of a refused allocation where no kubelet's way is to be followed.

    That is so under `reservations: transactional`, and whenever the database did not take them:
    kept in memory they would serve the container's next start without being durable.
    """
    stays = state.reservations is Reservations.UPSTREAM and not isinstance(refusal, NOT_KEPT)
    if stays or not added:
        return
    state.reusable.forget(pod.uid)
    for new in reversed(added):
        binding = new.binding
        state.pod_devices.remove(binding.pod, binding.container, binding.resource)
        if new.replaces is not None:
            state.pod_devices.insert(new.replaces, state.facts.active_pods)
    yield from state.persistence.on_taken_back(state, pod, _bindings(added))
