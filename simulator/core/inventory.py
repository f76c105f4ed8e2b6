"""What a node's plugins list, which of it is healthy, and how much of it is in use.

One `DevicePool` for each resource that was ever heard of. Ids stand in sorted order in slots, and
sets of slots are integers, so that counting and picking free devices costs the same at any number
of pods and next to nothing at many devices.

Kubelet: allDevices, healthyDevices, unhealthyDevices, allocatedDevices, GetCapacity
(devicemanager/manager.go). Differs: `allocatedDevices` is two things here, ids held by pods and
ids reserved by calls in flight or leaked by failed ones; their union is the real one's set.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import overload

from typing_extensions import override

from simulator.core.affinity import cares_about_topology
from simulator.core.behavior import Behavior, DisconnectMatch
from simulator.core.devices import Device, DeviceId
from simulator.core.endpoints import Endpoint, PluginOptions
from simulator.core.instants import Duration, Instant
from simulator.core.resources import ResourceName


def slots_in(table: Sequence[DeviceId], ids: Iterable[DeviceId]) -> int:
    """Return the positions in a sorted table of those `ids` that stand in it, as a mask."""
    if isinstance(ids, SlotSet) and ids.table is table:
        return ids.mask
    mask = 0
    for device in ids:
        slot = bisect_left(table, device)
        if slot < len(table) and table[slot] == device:
            mask |= 1 << slot
    return mask


class SlotSet(Sequence[DeviceId]):
    """Some ids of a sorted table, in order, spelled out only as far as they are looked at.

    It keeps the table that it was made from, so it stays true when the pool gets another one.

    Attributes:
        table: The sorted ids.
        mask: Which slots of the table belong to the set.
    """

    __slots__ = ("mask", "table")

    def __init__(self, table: Sequence[DeviceId], mask: int) -> None:
        self.table = table
        self.mask = mask

    def only(self, ids: Iterable[DeviceId]) -> SlotSet:
        """Return those that are among `ids`."""
        return SlotSet(self.table, self.mask & slots_in(self.table, ids))

    def without(self, ids: Iterable[DeviceId]) -> SlotSet:
        """Return those that are not among `ids`."""
        return SlotSet(self.table, self.mask & ~slots_in(self.table, ids))

    @override
    def __len__(self) -> int:
        return self.mask.bit_count()

    @overload
    def __getitem__(self, index: int) -> DeviceId: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[DeviceId, ...]: ...

    @override
    def __getitem__(self, index: int | slice) -> DeviceId | tuple[DeviceId, ...]:
        if isinstance(index, slice) and index.indices(len(self)) == (0, index.stop, 1):
            return self._lowest(index.stop)
        return tuple(self)[index]

    @override
    def __iter__(self) -> Iterator[DeviceId]:
        digits = f"{self.mask:b}"[::-1]
        slot = digits.find("1")
        while slot >= 0:
            yield self.table[slot]
            slot = digits.find("1", slot + 1)

    def _lowest(self, count: int) -> tuple[DeviceId, ...]:
        mask = self.mask
        lowest_ids: list[DeviceId] = []
        for _ in range(count):
            lowest = mask & -mask
            lowest_ids.append(self.table[lowest.bit_length() - 1])
            mask ^= lowest
        return tuple(lowest_ids)


@dataclass(slots=True)
class DevicePool:
    """One resource.

    Attributes:
        listed: The plugin's last list by id; it outlives the resource's removal (S2.10).
        is_registered: Whether the resource has a device list, be it empty: the kubelet's
            `healthyDevices` has a key (S2.3).
        has_unhealthy: The same for `unhealthyDevices`.
        is_reported: Whether the plugin sent a list since this kubelet started.
        has_topology: Whether the listed devices take part in alignment (S7.3).
        ids: The listed ids, sorted; an id's position is its slot.
        healthy_ids: The healthy ones of them.
        healthy, unhealthy: Slots; an id that is listed twice can be in both (S1.18).
        taken: Slots of ids that are held or reserved.
        held: Number of bindings that name an id.
        bindings: Number of bindings of the resource, those without ids included.
        reserved: Ids of calls in flight and of leaked reservations, in order; None when the
            kubelet's `allocatedDevices` has no key beyond what is held.
    """

    listed: dict[DeviceId, Device] = field(default_factory=dict)
    is_registered: bool = False
    has_unhealthy: bool = False
    is_reported: bool = False
    has_topology: bool = False
    ids: tuple[DeviceId, ...] = ()
    healthy_ids: tuple[DeviceId, ...] = ()
    healthy: int = 0
    unhealthy: int = 0
    taken: int = 0
    held: dict[DeviceId, int] = field(default_factory=dict)
    bindings: int = 0
    reserved: dict[DeviceId, None] | None = None

    @property
    def is_in_use(self) -> bool:
        """Whether the kubelet's `allocatedDevices` has a key for the resource (S2.3, S2.4)."""
        return self.bindings > 0 or self.reserved is not None

    @property
    def free(self) -> int:
        """Slots of healthy devices that nobody holds and no call reserved (step I)."""
        return self.healthy & ~self.taken

    def slots_of(self, ids: Iterable[DeviceId]) -> int:
        """Return the slots of those `ids` that are listed."""
        return slots_in(self.ids, ids)

    def of_slots(self, mask: int) -> SlotSet:
        """Return the ids in the slots of `mask`."""
        return SlotSet(self.ids, mask)

    def are_healthy(self, ids: Collection[DeviceId]) -> bool:
        """Tell whether all `ids` are among the healthy ones (step E)."""
        return (self.slots_of(ids) & self.healthy).bit_count() == len(ids)

    def allocated(self) -> tuple[DeviceId, ...]:
        """Return the kubelet's `allocatedDevices`, sorted: what is held and what is reserved."""
        return tuple(sorted({*self.held, *(self.reserved or ())}))

    def fold(self, devices: Sequence[Device], behavior: Behavior) -> None:
        """Replace the device list by a ListAndWatch message (S1.17, S1.18).

        Of an id that is listed twice the later record stays; with different health it counts as
        healthy and as unhealthy.

        Kubelet: genericDeviceUpdateCallback.
        """
        self.listed = {device.id: device for device in devices}
        ids = tuple(sorted(self.listed))
        if ids != self.ids:
            self.ids = ids
            self.taken = self.slots_of((*self.held, *(self.reserved or ())))
        self.healthy = self._slots_where(device.id for device in devices if device.is_healthy)
        self.unhealthy = self._slots_where(device.id for device in devices if not device.is_healthy)
        self.healthy_ids = tuple(self.of_slots(self.healthy))
        self.has_topology = cares_about_topology(self.listed.values(), behavior)
        self.is_registered = self.has_unhealthy = self.is_reported = True

    def _slots_where(self, chosen: Iterable[DeviceId]) -> int:
        """Return the slots of listed ids; one pass over the list, not one big integer an id."""
        wanted = set(chosen)
        digits = "".join("1" if device in wanted else "0" for device in reversed(self.ids))
        return int(digits or "0", 2)

    def mark_unhealthy(self) -> None:
        """Move all healthy devices to the unhealthy ones; `listed` keeps their health (S2.6)."""
        self.unhealthy |= self.healthy
        self.healthy = 0
        self.healthy_ids = ()
        self.has_unhealthy = True

    def remove(self) -> None:
        """Forget which devices are healthy; `listed` and what is in use stay (S2.10)."""
        self.healthy = self.unhealthy = 0
        self.healthy_ids = ()
        self.is_registered = self.has_unhealthy = False

    def restore(self) -> None:
        """Become known without devices, as after a restart (S2.8)."""
        self.is_registered = self.has_unhealthy = True

    def hold(self, ids: Iterable[DeviceId]) -> None:
        """Add a binding; reservations of its ids end, since somebody holds them now."""
        self.bindings += 1
        for device in ids:
            self.held[device] = self.held.get(device, 0) + 1
            if self.reserved:
                self.reserved.pop(device, None)
        self.taken |= self.slots_of(ids)

    def let_go(self, ids: Iterable[DeviceId]) -> None:
        """Remove a binding."""
        self.bindings -= 1
        for device in ids:
            count = self.held.pop(device) - 1
            if count:
                self.held[device] = count
            elif device not in (self.reserved or ()):
                self.taken &= ~self.slots_of((device,))

    def reserve(self, ids: Iterable[DeviceId]) -> Sequence[DeviceId]:
        """Reserve ids for a call; return those that nobody held or had reserved (step G).

        From here on the resource counts as in use, be there no id at all.
        """
        if self.reserved is None:
            self.reserved = {}
        added: list[DeviceId] = []
        for device in ids:
            if device not in self.held and device not in self.reserved:
                self.reserved[device] = None
                added.append(device)
        self.taken |= self.slots_of(added)
        return added

    def unreserve(self, ids: Iterable[DeviceId]) -> None:
        """Drop the reservations of `ids`; with the last one, that there ever were any."""
        reserved = self.reserved or {}
        for device in ids:
            if reserved.pop(device, self) is None:
                self.taken &= ~self.slots_of((device,))
        if not reserved:
            self.reserved = None

    def rebuild(self) -> None:
        """Forget all reservations (S2.4)."""
        self.unreserve(tuple(self.reserved or ()))


@dataclass(frozen=True, slots=True)
class Capacity:
    """What the node has, by resource (GetCapacity).

    Attributes:
        total: Healthy and unhealthy devices.
        allocatable: Healthy devices, in use or not.
        removed: Resources whose plugin was away longer than the grace period, sorted (S2.9).
    """

    total: Mapping[ResourceName, int]
    allocatable: Mapping[ResourceName, int]
    removed: tuple[ResourceName, ...]


class Inventory:
    """All resources and their endpoints."""

    __slots__ = ("_registrations", "endpoints", "pools")

    def __init__(self) -> None:
        self._registrations = 0
        self.pools: dict[ResourceName, DevicePool] = {}
        self.endpoints: dict[ResourceName, Endpoint] = {}

    def pool(self, resource: ResourceName) -> DevicePool:
        """Return the pool of `resource`, a new one if it was never heard of."""
        pool = self.pools.get(resource)
        if pool is None:
            pool = self.pools[resource] = DevicePool()
        return pool

    def is_device_resource(self, resource: ResourceName) -> bool:
        """Tell whether the device manager serves `resource` (isDevicePluginResource, S2.3)."""
        pool = self.pools.get(resource)
        return pool is not None and (pool.is_registered or pool.is_in_use)

    def connect(self, resource: ResourceName, options: PluginOptions) -> int:
        """Replace the resource's endpoint; device sets stay as they are (S1.12.7, S1.14).

        Returns:
            The number of this registration.
        """
        self._registrations += 1
        self.endpoints[resource] = Endpoint(self._registrations, options)
        return self._registrations

    def disconnect(
        self,
        resource: ResourceName,
        now: Instant,
        *,
        registration: int | None,
        match: DisconnectMatch,
    ) -> bool:
        """End the stream of a resource's plugin; tell whether that had an effect (S1.22, S2.6).

        `registration` says whose stream ended, None the present endpoint's. Matched by resource
        name, the present endpoint is hit even if a newer instance registered meanwhile; matched by
        endpoint, one that was replaced or ended has no stream (1.20.2/DIFFERENCES 20).

        Kubelet: PluginDisconnected.
        """
        endpoint = self.endpoints.get(resource)
        if endpoint is None:
            return False
        if match is DisconnectMatch.OWN_ENDPOINT and (
            endpoint.is_stopped or registration not in (None, endpoint.registration)
        ):
            return False
        self.pool(resource).mark_unhealthy()
        endpoint.stopped_at = now
        return True

    def restore(self, resource: ResourceName, now: Instant) -> None:
        """Know a resource as after a restart: no devices, and a stopped endpoint (S2.8)."""
        self.pool(resource).restore()
        self.endpoints[resource] = Endpoint(registration=0, options=None, stopped_at=now)

    def allocated_counts(self) -> Iterator[tuple[ResourceName, int]]:
        """Yield how many ids of each resource are in use, by resource; 0 for an empty set."""
        for resource, pool in sorted(self.pools.items()):
            if pool.is_in_use:
                yield resource, len(pool.held) + len(pool.reserved or ())

    def rebuild(self) -> None:
        """Forget all reservations: what is in use is what pods hold (S2.4)."""
        for pool in self.pools.values():
            pool.rebuild()

    def capacity(self, now: Instant, grace_period: Duration) -> Capacity:
        """Count devices and find the resources whose endpoint is gone or expired (S2.9)."""
        total: dict[ResourceName, int] = {}
        allocatable: dict[ResourceName, int] = {}
        removed: list[ResourceName] = []
        for resource in sorted(self.pools):
            pool = self.pools[resource]
            if not (pool.is_registered or pool.has_unhealthy):
                continue
            endpoint = self.endpoints.get(resource)
            if endpoint is None or endpoint.is_expired(now, grace_period):
                removed.append(resource)
                continue
            total[resource] = pool.healthy.bit_count() + pool.unhealthy.bit_count()
            if pool.is_registered:
                allocatable[resource] = pool.healthy.bit_count()
        return Capacity(total, allocatable, tuple(removed))

    def remove(self, resource: ResourceName) -> None:
        """Drop a resource's endpoint and health (S2.10)."""
        self.endpoints.pop(resource, None)
        self.pool(resource).remove()
