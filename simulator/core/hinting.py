"""What the device manager knows, put before the hint arithmetic (S7.1 to S7.5).

It is the only provider here, so the merged hint is that of the devices alone. Without a list of its
plugin a resource has no preference (S5.17); under `readmission: pinned` its records have one (R60).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from simulator.core.behavior import Readmission
from simulator.core.calls import StoreDecision
from simulator.core.devices import DeviceId, NumaNode
from simulator.core.manager_state import ManagerState
from simulator.core.pod_devices import ContainerAllocations
from simulator.core.pods import Container, ContainerName, Pod
from simulator.core.records import TopologyMerged
from simulator.core.refusals import Refusal
from simulator.core.releasing import release_inactive
from simulator.core.resources import ResourceName
from simulator.core.topology import (
    HintRequest,
    Hints,
    TopologyHint,
    container_device_request,
    device_hints,
    pod_device_request,
)
from simulator.core.topology_policies import merge_hints

ResourceHints = dict[ResourceName, Hints]
"""The device manager's answer as hint provider."""


def container_hints(
    state: ManagerState, pod: Pod, container: Container
) -> StoreDecision[ResourceHints | Refusal]:
    """Return the hints for one container; devices of gone pods are freed first (S7.2).

    Kubelet: GetTopologyHints.
    """
    released = yield from release_inactive(state)
    if isinstance(released, Refusal):
        return released
    request = container_device_request(container, state.inventory.is_device_resource)

    def recorded(resource: ResourceName) -> Sequence[DeviceId]:
        return state.pod_devices.ids(pod.uid, container.name, resource) or ()

    return {
        resource: _hints(
            state,
            resource,
            requested,
            recorded=recorded(resource),
            reusable=state.reusable.of(pod.uid, resource),
        )
        for resource, requested in request.items()
    } | _remembered(state, request, [state.pod_devices.of_container(pod.uid, container.name)])


def pod_hints(state: ManagerState, pod: Pod) -> StoreDecision[ResourceHints | Refusal]:
    """Return the hints for all containers of a pod together.

    Kubelet: GetPodTopologyHints.
    """
    released = yield from release_inactive(state)
    if isinstance(released, Refusal):
        return released
    request = pod_device_request(pod, state.inventory.is_device_resource, state.behavior)
    return {
        resource: _hints(
            state, resource, requested, recorded=state.pod_devices.pod_ids(pod.uid, resource)
        )
        for resource, requested in request.items()
    } | _remembered(state, request, state.pod_devices.of_pod(pod.uid).values())


def _hints(
    state: ManagerState,
    resource: ResourceName,
    requested: int,
    *,
    recorded: Sequence[DeviceId],
    reusable: Sequence[DeviceId] = (),
) -> Hints:
    pool = state.pool(resource)
    if not pool.has_topology:
        return None
    return device_hints(
        HintRequest(
            resource=resource,
            requested=requested,
            devices=pool.listed,
            recorded=recorded if state.behavior.recorded_devices_hinted else (),
            available=pool.of_slots(pool.free),
            reusable=reusable,
        ),
        state.machine,
        state.behavior,
    )


def _remembered(
    state: ManagerState,
    resources: Iterable[ResourceName],
    recorded: Iterable[ContainerAllocations],
) -> ResourceHints:
    """Return hints for resources whose plugins are away: the NUMA nodes of what is pinned."""
    if state.readmission is not Readmission.PINNED:
        return {}
    nodes: dict[ResourceName, set[NumaNode]] = {}
    for allocations in recorded:
        for resource, allocation in allocations.items():
            known = state.machine.numa_nodes
            here = (node for node in allocation.binding.devices if node in known)
            nodes.setdefault(resource, set()).update(here)
    return {
        resource: (TopologyHint.over(*nodes[resource], preferred=True),)
        for resource in resources
        if nodes.get(resource) and not state.pool(resource).is_reported
    }


def merge(
    state: ManagerState, pod: Pod, container: ContainerName | None, hints: ResourceHints
) -> TopologyHint:
    """Return the hint that serves all resources; None as container stands for the whole pod."""
    merged = merge_hints(
        [hints], machine=state.machine, options=state.topology, behavior=state.behavior
    )
    state.records.append(
        TopologyMerged(
            pod=pod.uid,
            container=container,
            hints=tuple(
                (
                    resource,
                    None
                    if of_resource is None
                    else tuple((hint.affinity, hint.preferred) for hint in of_resource),
                )
                for resource, of_resource in sorted(hints.items())
            ),
            affinity=merged.affinity,
            preferred=merged.preferred,
        )
    )
    return merged
