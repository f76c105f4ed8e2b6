"""On which NUMA nodes a request for devices could be met (S7.1 to S7.8).

Nothing here knows which hint wins; `topology_policies` decides that.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from itertools import combinations

from simulator.core.affinity import cares_about_topology
from simulator.core.behavior import Behavior, HintNodes, VanishedDevice
from simulator.core.devices import DeviceId, DeviceInstances, NumaNode
from simulator.core.machine import Machine
from simulator.core.numa_masks import mask_of, nodes_of
from simulator.core.panics import KubeletPanic
from simulator.core.pods import Container, ContainerKind, Pod
from simulator.core.records import KubeletPanicked
from simulator.core.resources import ResourceName

DeviceRequest = dict[ResourceName, int]
"""Number of devices by resource, in the order of the manifest."""


@dataclass(frozen=True, slots=True)
class TopologyHint:
    """A set of NUMA nodes on which a request can be met.

    Attributes:
        mask: The nodes as a bit mask; None for any node.
        preferred: Whether no smaller set could ever do.
    """

    mask: int | None
    preferred: bool

    @classmethod
    def over(cls, *nodes: int, preferred: bool) -> TopologyHint:
        """Return the hint with these nodes."""
        return cls(mask_of(NumaNode(node) for node in nodes), preferred)

    @property
    def affinity(self) -> tuple[NumaNode, ...] | None:
        """The nodes, ascending; None for any node."""
        return None if self.mask is None else nodes_of(self.mask)


Hints = tuple[TopologyHint, ...] | None
"""A resource's hints: None for no preference, empty when the request cannot be met (S7.3, S7.4)."""


def container_device_request(
    container: Container, is_device_resource: Callable[[ResourceName], bool]
) -> DeviceRequest:
    """Return the container's limits that are the device manager's (S7.1)."""
    return {
        resource: quantity
        for resource, quantity in container.limits
        if is_device_resource(resource)
    }


def pod_device_request(
    pod: Pod, is_device_resource: Callable[[ResourceName], bool], behavior: Behavior
) -> DeviceRequest:
    """Return how many devices the whole pod needs at one time (S7.1).

    Sidecars run beside the regular containers and beside every plain init container declared after
    them; before that was counted, they were plain init containers (1.20.2/DIFFERENCES 15).

    Kubelet: getPodDeviceRequest.
    """
    sidecars: DeviceRequest = {}
    peak: DeviceRequest = {}
    for container in pod.init_containers:
        own = container_device_request(container, is_device_resource)
        if container.kind is ContainerKind.SIDECAR and behavior.sidecars_in_pod_request:
            _add(sidecars, own)
        else:
            for resource, quantity in own.items():
                needed = quantity + sidecars.get(resource, 0)
                peak[resource] = max(peak.get(resource, 0), needed)
    running = dict(sidecars)
    for container in pod.containers:
        _add(running, container_device_request(container, is_device_resource))
    return {
        resource: max(peak.get(resource, 0), running.get(resource, 0))
        for resource in peak | running
    }


def _add(total: DeviceRequest, own: DeviceRequest) -> None:
    for resource, quantity in own.items():
        total[resource] = total.get(resource, 0) + quantity


@dataclass(frozen=True, slots=True, kw_only=True)
class HintRequest:
    """What is asked for of one resource, and what there is.

    Attributes:
        requested: Number of devices.
        devices: All devices of the resource by id.
        recorded: Ids already recorded for the container, in pod scope for any container of the pod.
        available: Healthy ids that are not allocated.
        reusable: Ids that init containers of the pod hand on; none in pod scope (S7.5).
    """

    resource: ResourceName
    requested: int
    devices: DeviceInstances
    recorded: Collection[DeviceId] = ()
    available: Collection[DeviceId] = ()
    reusable: Collection[DeviceId] = ()


def device_hints(request: HintRequest, machine: Machine, behavior: Behavior) -> Hints:
    """Return the hints of one resource (S7.3 to S7.7).

    Devices that are already recorded give hints over exactly themselves.

    Raises:
        KubeletPanic: A recorded or reusable id is not among `devices` and this kubelet version
            dereferences the missing record (S7.7).

    Kubelet: GetTopologyHints, GetPodTopologyHints.
    """
    if not cares_about_topology(request.devices.values(), behavior):
        return None
    if request.recorded:
        if len(request.recorded) != request.requested:
            return ()
        return _generate(request, machine, behavior, available=request.recorded, reusable=())
    if len({*request.available, *request.reusable}) < request.requested:
        return ()
    return _generate(
        request, machine, behavior, available=request.available, reusable=request.reusable
    )


def device_numa_nodes(devices: DeviceInstances, machine: Machine) -> tuple[NumaNode, ...]:
    """Return the machine's NUMA nodes that host a device, healthy or not, allocated or not (S7.6).

    Kubelet: deviceNUMANodes.
    """
    hosting = mask_of(node for device in devices.values() for node in device.numa_nodes)
    return nodes_of(hosting & machine.mask)


def _generate(
    request: HintRequest,
    machine: Machine,
    behavior: Behavior,
    *,
    available: Collection[DeviceId],
    reusable: Collection[DeviceId],
) -> tuple[TopologyHint, ...]:
    """Return a hint for each set of candidate nodes that could serve, smallest sets first (S7.6).

    Devices are counted by their node mask, so that a set of nodes is judged in the number of
    distinct masks and not of devices.

    Kubelet: generateDeviceTopologyHints.
    """
    if behavior.vanished_device is VanishedDevice.CRASH:
        _require_present(request, [*reusable, *available])
    nodes = _candidate_nodes(request.devices, machine, behavior)
    everything = _count_by_mask(request.devices, request.devices)
    free = _count_by_mask(available, request.devices)
    kept = _count_by_mask(_with_topology(reusable, request.devices), request.devices)
    least = len(nodes)
    found: list[int] = []
    for size in range(1, len(nodes) + 1):
        for bits in combinations([1 << node for node in nodes], size):
            mask = sum(bits)
            if size < least and _touching(everything, mask) >= request.requested:
                least = size
            matching_kept = _touching(kept, mask)
            if matching_kept < kept.total():
                continue
            if matching_kept + _touching(free, mask) >= request.requested:
                found.append(mask)
    return tuple(TopologyHint(mask, mask.bit_count() == least) for mask in found)


def _candidate_nodes(
    devices: DeviceInstances, machine: Machine, behavior: Behavior
) -> tuple[NumaNode, ...]:
    if behavior.hint_nodes is HintNodes.MACHINE:
        return machine.numa_nodes
    return device_numa_nodes(devices, machine) or machine.numa_nodes


def _require_present(request: HintRequest, ids: Iterable[DeviceId]) -> None:
    missing = sorted(device for device in ids if device not in request.devices)
    if missing:
        detail = f"hints for {request.resource}: {missing[0]} left the plugin's list"
        raise KubeletPanic(KubeletPanicked(rule="S7.7", detail=detail))


def _with_topology(ids: Iterable[DeviceId], devices: DeviceInstances) -> list[DeviceId]:
    """Return the ids whose device has a topology message, be it without nodes (S7.8)."""
    return [device for device in ids if device in devices and devices[device].topology is not None]


def _count_by_mask(ids: Iterable[DeviceId], devices: DeviceInstances) -> Counter[int]:
    masks: dict[tuple[NumaNode, ...], int] = {}
    counts: Counter[int] = Counter()
    for device in ids:
        nodes = devices[device].numa_nodes if device in devices else ()
        mask = masks.get(nodes)
        if mask is None:
            mask = masks[nodes] = mask_of(nodes)
        counts[mask] += 1
    return counts


def _touching(counts: Counter[int], mask: int) -> int:
    return sum(count for devices, count in counts.items() if devices & mask)
