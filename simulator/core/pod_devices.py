"""Who holds what: the devices of every container, and what init containers hand on.

`held` of each `DevicePool` is kept in step here, binding by binding, so nothing is ever counted
anew. Kubelet: podDevices, devicesToReuse (devicemanager/pod_devices.go). Differs: the real ones
copy sets and rebuild maps; the answers are the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from simulator.core.devices import NO_NUMA_NODE, DeviceId, DevicesPerNuma, NumaNode, device_ids
from simulator.core.facts import ActivePods
from simulator.core.inventory import Inventory
from simulator.core.pods import ContainerName, PodUid
from simulator.core.records import HeldRecord
from simulator.core.resources import ResourceName
from simulator.core.transitions import DeviceBinding


@dataclass(frozen=True, slots=True)
class DeviceAllocation:
    """The devices of one resource of one container (deviceAllocateInfo).

    Attributes:
        binding: As it is kept durably.
        ids: The distinct ids of all NUMA nodes, sorted.
    """

    binding: DeviceBinding
    ids: tuple[DeviceId, ...]


ContainerAllocations = Mapping[ResourceName, DeviceAllocation]
"""A container's allocations by resource, in the order in which they were made."""


class PodDevices:
    """All device bindings of a node, in order of insertion."""

    __slots__ = ("_inventory", "_owners", "_pods", "_strays")

    def __init__(self, inventory: Inventory) -> None:
        self._inventory = inventory
        self._pods: dict[PodUid, dict[ContainerName, dict[ResourceName, DeviceAllocation]]] = {}
        self._owners: dict[DeviceId, dict[PodUid, int]] = {}
        self._strays: dict[PodUid, None] = {}

    def insert(self, binding: DeviceBinding, active: ActivePods) -> None:
        """Record the devices that a container got (S3.14), in place of earlier ones."""
        self.remove(binding.pod, binding.container, binding.resource)
        allocation = DeviceAllocation(binding, device_ids(binding.devices))
        containers = self._pods.setdefault(binding.pod, {})
        containers.setdefault(binding.container, {})[binding.resource] = allocation
        self._inventory.pool(binding.resource).hold(allocation.ids)
        for device in allocation.ids:
            owners = self._owners.setdefault(device, {})
            owners[binding.pod] = owners.get(binding.pod, 0) + 1
        if binding.pod not in active:
            self._strays[binding.pod] = None

    def remove(self, pod: PodUid, container: ContainerName, resource: ResourceName) -> None:
        """Drop one container's record of one resource, if there is one."""
        containers = self._pods.get(pod, {})
        allocations = containers.get(container, {})
        allocation = allocations.pop(resource, None)
        if allocation is None:
            return
        if not allocations:
            del containers[container]
        if not containers:
            del self._pods[pod]
        self._let_go(allocation)

    def remove_pod(self, pod: PodUid) -> None:
        """Drop all records of a pod."""
        for allocations in self._pods.pop(pod).values():
            for allocation in allocations.values():
                self._let_go(allocation)

    def _let_go(self, allocation: DeviceAllocation) -> None:
        binding = allocation.binding
        self._inventory.pool(binding.resource).let_go(allocation.ids)
        for device in allocation.ids:
            owners = self._owners[device]
            count = owners.pop(binding.pod) - 1
            if count:
                owners[binding.pod] = count
            elif not owners:
                del self._owners[device]

    def __contains__(self, pod: PodUid) -> bool:
        """Tell whether the pod has a record."""
        return pod in self._pods

    def __iter__(self) -> Iterator[DeviceBinding]:
        """Iterate over all bindings."""
        for containers in self._pods.values():
            for allocations in containers.values():
                for allocation in allocations.values():
                    yield allocation.binding

    def held(self, *pods: PodUid) -> Iterator[HeldRecord]:
        """Iterate over what is recorded for these pods, or for all when none is named."""
        for pod in pods or self._pods:
            for container, allocations in self.of_pod(pod).items():
                for resource, allocation in allocations.items():
                    yield pod, container, resource, allocation.ids

    def of_pod(self, pod: PodUid) -> Mapping[ContainerName, ContainerAllocations]:
        """Return the records of a pod by container."""
        return self._pods.get(pod, {})

    def of_container(self, pod: PodUid, container: ContainerName) -> ContainerAllocations:
        """Return the records of a container by resource."""
        return self._pods.get(pod, {}).get(container, {})

    def ids(
        self, pod: PodUid, container: ContainerName, resource: ResourceName
    ) -> tuple[DeviceId, ...] | None:
        """Return the ids recorded for a container, None without a record (containerDevices)."""
        allocation = self.of_container(pod, container).get(resource)
        return None if allocation is None else allocation.ids

    def pod_ids(self, pod: PodUid, resource: ResourceName) -> tuple[DeviceId, ...]:
        """Return the distinct ids recorded for any container of a pod, sorted (podDevices)."""
        found = {
            device
            for allocations in self.of_pod(pod).values()
            if resource in allocations
            for device in allocations[resource].ids
        }
        return tuple(sorted(found))

    def is_owned(self, device: DeviceId) -> bool:
        """Tell whether any pod has a device of this id, of whatever resource."""
        return device in self._owners

    def owner(self, device: DeviceId, resource: ResourceName | None = None) -> PodUid | None:
        """Return a pod that has a device of this id, of `resource` or of whatever one (S9.6).

        Kubelet: getPodAndContainerForDevice. Differs: the pod that has held it longest, not any.
        """
        owners = iter(self._owners.get(device, ()))
        if resource is None:
            return next(owners, None)
        return next((pod for pod in owners if device in self.pod_ids(pod, resource)), None)

    def inactive(self, active: ActivePods) -> tuple[PodUid, ...]:
        """Return the pods that have a record and are not active, in order of leaving (S6.1).

        Only pods that left since the last call and pods that had a record before they were active
        are looked at. Those that are returned stay candidates until their records are dropped.
        """
        candidates = self._strays | dict.fromkeys(active.take_departed())
        gone = tuple(pod for pod in candidates if pod in self._pods and pod not in active)
        self._strays = dict.fromkeys(gone)
        return gone


class ReusableDevices:
    """Devices of the pod being admitted that its later containers take over (devicesToReuse).

    There is one pod at a time. An allocation at a container's start may come between two containers
    of an admission (S3.23); what the admission would have handed on is then forgotten, and nothing
    of it reaches the other pod.
    """

    __slots__ = ("_by_resource", "pod")

    def __init__(self) -> None:
        self.pod: PodUid | None = None
        self._by_resource: dict[ResourceName, frozenset[DeviceId]] = {}

    def begin(self, pod: PodUid) -> None:
        """Keep only what belongs to `pod` (S3.1)."""
        if self.pod != pod:
            self.pod = pod
            self._by_resource = {}

    def forget(self, pod: PodUid) -> None:
        """Hand nothing of `pod` on, as before its first allocation."""
        if pod == self.pod:
            self.pod = None
            self._by_resource = {}

    def add(self, pod: PodUid, allocations: ContainerAllocations) -> None:
        """Hand a plain init container's devices on (S3.2)."""
        if pod != self.pod:
            return
        for resource, allocation in allocations.items():
            known = self._by_resource.get(resource, frozenset())
            self._by_resource[resource] = known | frozenset(allocation.ids)

    def remove(self, pod: PodUid, allocations: ContainerAllocations) -> None:
        """Keep back the devices of a container that runs on (S3.2, S3.3)."""
        if pod != self.pod:
            return
        for resource, allocation in allocations.items():
            known = self._by_resource.get(resource, frozenset())
            self._by_resource[resource] = known - frozenset(allocation.ids)

    def of(self, pod: PodUid, resource: ResourceName) -> tuple[DeviceId, ...]:
        """Return the ids that a container of `pod` may take over, sorted."""
        if pod != self.pod:
            return ()
        return tuple(sorted(self._by_resource.get(resource, ())))

    def items(self) -> Iterator[tuple[ResourceName, tuple[DeviceId, ...]]]:
        """Iterate over resources, those without ids included."""
        for resource, ids in self._by_resource.items():
            yield resource, tuple(sorted(ids))


def group_by_numa(
    ids: Iterable[DeviceId], nodes_of: Mapping[DeviceId, tuple[NumaNode, ...]], alone: NumaNode
) -> DevicesPerNuma:
    """Group ids by NUMA node; an id on several nodes stands under each (S2.2).

    Args:
        ids: Sorted.
        nodes_of: The nodes of every id.
        alone: The group of ids without nodes: `NO_NUMA_NODE`, or 0 up to 1.21 (R102).
    """
    groups: dict[NumaNode, list[DeviceId]] = {}
    for device in ids:
        for node in nodes_of[device] or (alone,):
            groups.setdefault(node, []).append(device)
    return {node: tuple(groups[node]) for node in sorted(groups)}


def ungroup(devices: DevicesPerNuma) -> dict[DeviceId, tuple[NumaNode, ...] | None]:
    """Return the NUMA nodes of every id as recorded, None for an id without topology.

    Kubelet: getContainerDevices.
    """
    nodes: dict[DeviceId, list[NumaNode]] = {}
    for node, ids in devices.items():
        for device in ids:
            nodes.setdefault(device, []).append(node)
    return {
        device: tuple(node for node in sorted(nodes[device]) if node != NO_NUMA_NODE) or None
        for device in sorted(nodes)
    }
