"""The state of one device manager, shared by the modules that decide.

Owned by `DeviceManager`; nobody else creates or keeps one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from simulator.core.behavior import Behavior, Readmission, ReadmissionHealthCheck, Reservations
from simulator.core.choices import Choices
from simulator.core.device_pool import DevicePool
from simulator.core.devices import DeviceId
from simulator.core.facts import KubeletFacts
from simulator.core.instants import Instant
from simulator.core.inventory import Inventory
from simulator.core.machine import Machine, TopologyOptions
from simulator.core.persistence.protocol import Persistence
from simulator.core.pod_devices import PodDevices, ReusableDevices
from simulator.core.pods import ContainerName, Pod, PodUid
from simulator.core.records import Record, ReservationLeaked
from simulator.core.resources import ResourceName
from simulator.core.topology import TopologyHint
from simulator.core.transitions import DeviceBinding, NodeName


@dataclass(frozen=True, slots=True)
class ContainerRequest:
    """What one container asks of one resource."""

    pod: Pod
    container: ContainerName
    resource: ResourceName
    count: int


@dataclass(slots=True, kw_only=True)
class ManagerState:
    """Configuration, facts, and what the device manager knows.

    Attributes:
        instances: Runtime snapshot by pod and container: pairs of container id and running.
        hints: Hints stored at admission, by pod and container (S7.12).
        records: What happened since the driver last took the records.
    """

    node: NodeName
    behavior: Behavior
    persistence: Persistence
    facts: KubeletFacts
    machine: Machine
    topology: TopologyOptions
    choices: Choices
    readmission: Readmission
    reservations: Reservations
    inventory: Inventory
    pod_devices: PodDevices
    reusable: ReusableDevices = field(default_factory=ReusableDevices)
    instances: dict[tuple[PodUid, ContainerName], list[tuple[str, bool]]] = field(
        default_factory=dict
    )
    hints: dict[PodUid, dict[ContainerName, TopologyHint]] = field(default_factory=dict)
    records: list[Record] = field(default_factory=list)

    def pool(self, resource: ResourceName) -> DevicePool:
        """Return the pool of a resource."""
        return self.inventory.pool(resource)

    @property
    def now(self) -> Instant:
        """The present instant."""
        return self.facts.now

    def pod_bindings(self, pod: PodUid) -> list[DeviceBinding]:
        """Return all device bindings of one pod, in order of insertion."""
        return [
            allocation.binding
            for allocations in self.pod_devices.of_pod(pod).values()
            for allocation in allocations.values()
        ]

    def registered(self) -> list[tuple[ResourceName, tuple[DeviceId, ...]]]:
        """Return the registered resources with their healthy ids, sorted (S4.4)."""
        pools = self.inventory.pools
        return [
            (resource, pools[resource].healthy_ids)
            for resource in sorted(pools)
            if pools[resource].is_registered
        ]

    def holder(self, resource: ResourceName, device: DeviceId) -> PodUid | None:
        """Return the pod that holds a device; None when none does."""
        return self.pod_devices.owner(device, resource)

    def is_active(self, pod: PodUid) -> bool:
        """Tell whether a pod is active (S6.5)."""
        return pod in self.facts.active_pods

    def note(self, record: Record) -> None:
        """Add a record of what happened."""
        self.records.append(record)

    @property
    def health_check(self) -> ReadmissionHealthCheck:
        """When recorded devices are checked: the version's own rule, or that of the newest one.

        The readmission policies that no kubelet has all need to know whether the recorded devices
        are there.
        """
        if self.readmission is Readmission.UPSTREAM:
            return self.behavior.readmission_health_check
        return ReadmissionHealthCheck.AFTER_RUNNING_CHECK

    def abandon(self, resource: ResourceName, ids: Iterable[DeviceId], rule: str) -> None:
        """Give up what a failed call reserved: leak it as the kubelet does, or drop it (S6.4)."""
        pool = self.pool(resource)
        reserved = pool.reserved or {}
        leaked = tuple(device for device in ids if device in reserved)
        if self.reservations is Reservations.TRANSACTIONAL:
            pool.unreserve(leaked)
        elif leaked:
            self.records.append(ReservationLeaked(resource, leaked, rule))
