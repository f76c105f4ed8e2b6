"""The devices of one resource: what its plugin lists, which are healthy, how many are in use.

Kubelet: one key of allDevices, healthyDevices, unhealthyDevices and allocatedDevices
(devicemanager/manager.go). Differs: `allocatedDevices` is two things here, ids held by pods and
ids reserved by calls in flight or leaked by failed ones; their union is the real one's set.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace

from simulator.core.affinity import cares_about_topology
from simulator.core.behavior import Behavior
from simulator.core.devices import Device, DeviceId
from simulator.core.slot_set import SlotSet, slots_in


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
        if not behavior.device_topology_known:
            devices = [replace(device, topology=None) for device in devices]
        ignored = self._ignored(devices) if behavior.same_devices_ignored else frozenset()
        self.listed = {device.id: device for device in devices}
        ids = tuple(sorted(self.listed))
        if ids != self.ids:
            self.ids = ids
            self.taken = self.slots_of((*self.held, *(self.reserved or ())))
        self.healthy = self._slots_where(
            device.id for device in devices if device.is_healthy and device.id not in ignored
        )
        self.unhealthy = self._slots_where(
            device.id for device in devices if not device.is_healthy or device.id in ignored
        )
        self.healthy_ids = tuple(self.of_slots(self.healthy))
        self.has_topology = cares_about_topology(self.listed.values(), behavior)
        self.is_registered = self.has_unhealthy = self.is_reported = True

    def _ignored(self, devices: Iterable[Device]) -> frozenset[DeviceId]:
        """Return the devices that stay unhealthy, since nothing new is said about them (R20).

        The plugin has gone and come back with the same list; the copy of that list says healthy.
        """
        if not self.is_registered:
            return frozenset()
        lost = {*self.listed}.difference(self.healthy_ids)
        return frozenset(
            device.id
            for device in devices
            if device.is_healthy and device.id in lost and self.listed[device.id].is_healthy
        )

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
        """Add a binding; reservations of its ids end, since somebody holds them now.

        An empty set of reservations ends too: the binding makes the resource count as in use.
        """
        self.bindings += 1
        reserved = self.reserved or {}
        for device in ids:
            self.held[device] = self.held.get(device, 0) + 1
            reserved.pop(device, None)
        if not reserved:
            self.reserved = None
        self.taken |= self.slots_of(ids)

    def let_go(self, ids: Iterable[DeviceId]) -> None:
        """Remove a binding; an id that is held is never reserved beside (`hold`, `reserve`)."""
        self.bindings -= 1
        for device in ids:
            count = self.held.pop(device) - 1
            if count:
                self.held[device] = count
            else:
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
