"""The device manager of one kubelet process: it owns the state and delegates every decision.

Entries that may call a plugin or write the state are generators (`simulator.core.calls`); the
others answer at once. A kubelet crash (S3.14, S7.7) is raised as `KubeletPanic`.

Kubelet: ManagerImpl (devicemanager/manager.go) with topologymanager around it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from simulator.core import admission, container_start, hinting, releasing, reporting, restoring
from simulator.core.api_backing import ApiBacking
from simulator.core.behavior import Behavior, Readmission, Reservations
from simulator.core.calls import Decision, StoreDecision
from simulator.core.choices import Choices
from simulator.core.container_start import RunOptionsResult
from simulator.core.devices import Device, DeviceId, DeviceInstances, NumaNode, filter_instances
from simulator.core.endpoints import PluginOptions
from simulator.core.facts import KubeletFacts
from simulator.core.invariants import violations
from simulator.core.inventory import Capacity, Inventory
from simulator.core.machine import Machine, TopologyOptions
from simulator.core.manager_state import ManagerState
from simulator.core.persistence.protocol import Persistence, Restored
from simulator.core.pod_devices import PodDevices, ungroup
from simulator.core.pods import ContainerName, Pod, PodUid
from simulator.core.records import InvariantViolated, PluginRegistered, Record
from simulator.core.refusals import Admission, Refusal
from simulator.core.resource_health import AllocatedResourcesStatus, allocated_resources_status
from simulator.core.resources import ResourceName
from simulator.core.snapshot import ManagerSnapshot, snapshot
from simulator.core.topology import TopologyHint
from simulator.core.transitions import DeviceBinding, NodeName


class DeviceManager:
    """One kubelet process's device manager; the driver keeps `facts` up to date.

    Attributes:
        api: What of it has to do with the API server.
    """

    def __init__(  # noqa: PLR0913  configuration, by keyword only
        self,
        *,
        node: NodeName,
        behavior: Behavior,
        persistence: Persistence,
        facts: KubeletFacts,
        machine: Machine,
        topology: TopologyOptions,
        choices: Choices,
        readmission: Readmission = Readmission.UPSTREAM,
        reservations: Reservations = Reservations.UPSTREAM,
    ) -> None:
        inventory = Inventory()
        self._state = ManagerState(
            node=node,
            behavior=behavior,
            persistence=persistence,
            facts=facts,
            machine=machine,
            topology=topology,
            choices=choices,
            readmission=readmission,
            reservations=reservations,
            inventory=inventory,
            pod_devices=PodDevices(inventory),
        )
        self.api = ApiBacking(self._state)

    def start(self) -> StoreDecision[Restored]:
        """Restore what was kept; after a fatal error the kubelet must not go on (S4.12)."""
        return restoring.restore(self._state)

    def register(self, resource: ResourceName, options: PluginOptions) -> int:
        """Take a plugin's connection as the resource's endpoint (S1.12.7, S1.14).

        Returns:
            The number of this registration, for `disconnect`.
        """
        registration = self._state.inventory.connect(resource, options)
        self._state.note(PluginRegistered(resource))
        return registration

    def report_devices(
        self, resource: ResourceName, devices: Sequence[Device]
    ) -> StoreDecision[str]:
        """Fold in a ListAndWatch message (S1.18, S1.19).

        Returns:
            Why it could not be made durable; empty when it is.
        """
        refusal = yield from reporting.report_devices(self._state, resource, devices)
        return self._text(refusal)

    def disconnect(self, resource: ResourceName, registration: int | None = None) -> None:
        """End the ListAndWatch stream of a resource (S1.22, S2.6).

        Args:
            resource: Whose plugin it was.
            registration: Whose stream ended; None for the present endpoint's.
        """
        reporting.disconnect(self._state, resource, registration)

    def capacity(self) -> Capacity:
        """Return the node's capacity; changes nothing (S2.9)."""
        state = self._state
        return state.inventory.capacity(state.now, state.behavior.endpoint_grace_period)

    def expire_endpoints(self) -> StoreDecision[tuple[ResourceName, ...]]:
        """Drop what `capacity` says is removed, and say which (S2.10)."""
        return reporting.expire_endpoints(self._state)

    def admit(self, pod: Pod) -> Decision[Admission]:
        """Admit a pod that is already active, or refuse it (S6.6, S7.12, S13)."""
        return admission.admit_pod(self._state, pod)

    def allocate(self, pod: Pod, container: ContainerName) -> Decision[str]:
        """Run the Allocate entry point for one container outside of an admission (S3.1).

        Returns:
            The error; empty on success.
        """
        refusal = yield from admission.reallocate_container(
            self._state, pod, pod.container_named(container)
        )
        return self._text(refusal)

    def run_options(self, pod: Pod, container: ContainerName) -> Decision[RunOptionsResult]:
        """Return what a container is started with (S3.22 to S3.26)."""
        return container_start.run_options(self._state, pod, pod.container_named(container))

    def release_inactive(self) -> StoreDecision[tuple[PodUid, ...]]:
        """Free the devices of pods that are not active (S6.1); none when that cannot be durable."""
        released = yield from releasing.release_inactive(self._state)
        return () if isinstance(released, Refusal) else released

    def topology_hints(
        self, pod: Pod, container: ContainerName
    ) -> StoreDecision[hinting.ResourceHints | Refusal]:
        """Return the hints for a container (S7.1)."""
        return hinting.container_hints(self._state, pod, pod.container_named(container))

    def pod_topology_hints(self, pod: Pod) -> StoreDecision[hinting.ResourceHints | Refusal]:
        """Return the hints for a whole pod (S7.1)."""
        return hinting.pod_hints(self._state, pod)

    def affinity(self, pod: PodUid, container: ContainerName) -> TopologyHint | None:
        """Return the hint stored at the container's last admission (S7.12)."""
        return self._state.hints.get(pod, {}).get(container)

    def forget_containers(self, pod: PodUid) -> None:
        """Drop the hints of a pod whose containers are gone (S7.18)."""
        self._state.hints.pop(pod, None)

    def raise_allocatable(
        self, pod: Pod, node_allocatable: Mapping[ResourceName, int]
    ) -> dict[ResourceName, int]:
        """Raise the node's allocatable to what is allocated, for a pod with devices (S2.17).

        Kubelet: UpdatePluginResources, sanitizeNodeAllocatable.
        """
        allocatable = dict(node_allocatable)
        if pod.uid in self._state.pod_devices:
            for resource, count in self._state.inventory.allocated_counts():
                allocatable[resource] = max(allocatable.get(resource, 0), count)
        return allocatable

    def bindings_of(self, pod: PodUid) -> Sequence[DeviceBinding]:
        """Return a pod's device bindings, in order of insertion."""
        return self._state.pod_bindings(pod)

    def devices_of(
        self, pod: PodUid, container: ContainerName
    ) -> dict[ResourceName, dict[DeviceId, tuple[NumaNode, ...] | None]]:
        """Return a container's devices with the NUMA nodes as recorded (GetDevices, S8.9)."""
        allocations = self._state.pod_devices.of_container(pod, container)
        return {
            resource: ungroup(allocation.binding.devices)
            for resource, allocation in sorted(allocations.items())
        }

    def allocatable_devices(self) -> dict[ResourceName, DeviceInstances]:
        """Return the devices that could be in use, as a rule the healthy ones (S8.10).

        Kubelet: GetAllocatableDevices.
        """
        state = self._state
        listed: dict[ResourceName, DeviceInstances] = {
            resource: pool.listed
            for resource, pool in state.inventory.pools.items()
            if pool.is_reported
        }
        if state.behavior.unhealthy_devices_allocatable:
            return listed
        return filter_instances(listed, dict(state.registered()))

    def resource_health(self, pod: Pod) -> AllocatedResourcesStatus:
        """Return the health of a pod's devices for its status (S9.3, S9.4)."""
        state = self._state

        def held(container: ContainerName) -> dict[ResourceName, tuple[DeviceId, ...]]:
            allocations = state.pod_devices.of_container(pod.uid, container)
            return {resource: allocation.ids for resource, allocation in allocations.items()}

        listed = {resource: pool.listed for resource, pool in state.inventory.pools.items()}
        return allocated_resources_status(pod, held=held, devices=listed)

    def snapshot(self) -> ManagerSnapshot:
        """Return all that the device manager knows."""
        return snapshot(self._state)

    def violations(self) -> list[InvariantViolated]:
        """Return what should always hold and does not; empty unless Rebind is wrong."""
        return violations(self._state)

    def take_records(self) -> list[Record]:
        """Return what happened since the last call, in order."""
        records = self._state.records
        self._state.records = []
        return records

    def _text(self, refusal: Refusal | None) -> str:
        return "" if refusal is None else refusal.text(self._state.behavior)
