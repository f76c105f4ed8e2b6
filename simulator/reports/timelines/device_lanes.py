"""The lanes of devices: who holds each, which running container uses it, and its health.

A device is *held* while the device manager has a record of it for a pod, and *in use* while a
container runs that was started with it. The two differ in every story worth telling: after a
reboot a device is held and not in use; after lost records it is in use and not held.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from simulator.core import records
from simulator.core.devices import DeviceId
from simulator.core.instants import Instant
from simulator.core.pods import ContainerName, PodUid
from simulator.core.resources import ResourceName
from simulator.reports.timelines.lanes import Bar, Lane, LaneKind, Numbered, State, Track
from simulator.reports.wording import Names

IDLE_SHOWN_MAX: Final = 8
"""A resource with more devices shows only those of which there is something to tell.

So does one of which there is nothing to tell at all.
"""

DeviceKey = tuple[ResourceName, DeviceId]
_Holder = tuple[PodUid, ContainerName | None]
"""A pod by its records, or one of its containers by what its process was given."""


@dataclass(slots=True)
class _Device:
    health: Track = field(default_factory=Track)
    holders: dict[_Holder, Track] = field(default_factory=dict)

    def holder(self, holder: _Holder) -> Track:
        return self.holders.setdefault(holder, Track())


class _Devices:
    """All devices of a node, as the records go by."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._held: dict[PodUid, dict[DeviceKey, tuple[ContainerName, ...]]] = {}
        self._used: dict[tuple[PodUid, ContainerName], list[DeviceKey]] = {}
        self.found: dict[DeviceKey, _Device] = {}

    def hold(self, held: Iterable[records.HeldRecord], pods: Iterable[PodUid], when: _When) -> None:
        """Replace what these pods hold."""
        now: dict[PodUid, dict[DeviceKey, tuple[ContainerName, ...]]] = {pod: {} for pod in pods}
        for pod, container, resource, ids in held:
            devices = now.setdefault(pod, {})
            for device in ids:
                devices[resource, device] = (*devices.get((resource, device), ()), container)
        for pod, devices in now.items():
            before = self._held.pop(pod, {})
            for key in before:
                if key not in devices:
                    self._device(key).holder((pod, None)).end(when.at)
            for key, containers in devices.items():
                label = f"{self._name(pod)}/{','.join(dict.fromkeys(containers))}"
                track = self._device(key).holder((pod, None))
                track.turn(State.HELD, when.index, when.at, label)
            if devices:
                self._held[pod] = devices

    def hold_more(self, record: records.DevicesAllocated, when: _When) -> None:
        """Put what a container got in place of what it had of the same resource."""
        pod, container, resource = record.pod, record.container, record.resource
        ids = dict.fromkeys(device for group in record.devices.values() for device in group)
        others = [
            (pod, other, key[0], (key[1],))
            for key, containers in self._held.get(pod, {}).items()
            for other in containers
            if (other, key[0]) != (container, resource)
        ]
        self.hold([*others, (pod, container, resource, tuple(ids))], (pod,), when)

    def hold_only(self, held: Iterable[records.HeldRecord], when: _When) -> None:
        """Replace what all pods hold."""
        self.hold(held, tuple(self._held), when)

    def use(self, record: records.ContainerChanged, when: _When) -> None:
        """Follow what a container's process was given, until it ends."""
        holder = (record.pod, record.container)
        for key in self._used.pop(holder, ()):
            self._device(key).holder(holder).end(when.at)
        if record.state != "running":
            return
        keys = [(resource, device) for resource, ids in record.devices for device in ids]
        for key in keys:
            label = f"{self._name(record.pod)}/{record.container}"
            self._device(key).holder(holder).turn(State.IN_USE, when.index, when.at, label)
        self._used[holder] = keys

    def list(self, record: records.DevicesListed, when: _When) -> None:
        """Take over a plugin's list of devices."""
        listed = {(record.resource, device.id): device.is_healthy for device in record.devices}
        for key, healthy in listed.items():
            track = self._device(key).health
            if healthy:
                track.end(when.at)
            else:
                track.turn(State.UNHEALTHY, when.index, when.at, "unhealthy")
        for key, device in self.found.items():
            if key[0] == record.resource and key not in listed:
                device.health.turn(State.UNLISTED, when.index, when.at, "not listed")

    def _device(self, key: DeviceKey) -> _Device:
        return self.found.setdefault(key, _Device())

    def _name(self, pod: PodUid) -> str:
        return self._names.get(pod, pod)


@dataclass(frozen=True, slots=True)
class _When:
    index: int
    at: Instant


def device_lanes(node: str, of_node: Iterable[Numbered], names: Names) -> Iterator[Lane]:
    """Iterate over the devices of a node, by resource."""
    devices = _Devices(names)
    for index, stamped in of_node:
        _follow(devices, stamped.record, _When(index, stamped.at))
    by_resource: dict[ResourceName, list[tuple[DeviceId, tuple[Bar, ...]]]] = {}
    for (resource, device), found in devices.found.items():
        by_resource.setdefault(resource, []).append((device, _in_rows(found)))
    for resource, of_resource in by_resource.items():
        is_told = any(bars for _, bars in of_resource)
        for device, bars in of_resource:
            if bars or (is_told and len(of_resource) <= IDLE_SHOWN_MAX):
                yield Lane(LaneKind.DEVICE, node, f"{resource} {device}", bars)


def _follow(devices: _Devices, record: records.Record, when: _When) -> None:
    match record:
        case records.ManagerStarted(held=held):
            devices.hold_only(held, when)
        case records.DevicesAllocated():
            devices.hold_more(record, when)
        case records.AdmissionDecided(pod=pod, held=held):
            devices.hold(held, (pod,), when)
        case records.DevicesReleased(pods=pods):
            devices.hold((), pods, when)
        case records.ContainerChanged():
            devices.use(record, when)
        case records.DevicesListed():
            devices.list(record, when)
        case _:
            pass


def _in_rows(device: _Device) -> tuple[Bar, ...]:
    """Put what overlaps into rows: one pod's bars share a row, two pods' do not."""
    by_pod: dict[PodUid, list[Bar]] = {}
    for (pod, _), track in device.holders.items():
        by_pod.setdefault(pod, []).extend(track.done())
    spans = [span for bars in by_pod.values() for span in _spans(bars)]
    spans.sort(key=lambda span: span[0].since)
    ends: list[Instant | None] = []
    placed: list[Bar] = []
    for span in spans:
        since, until = span[0].since, _latest(span)
        row = next(
            (row for row, end in enumerate(ends) if end is not None and end <= since), len(ends)
        )
        ends[row : row + 1] = [until]
        placed += [replace(bar, row=row) for bar in span]
    return (*placed, *device.health.done())


def _spans(bars: Iterable[Bar]) -> Iterator[list[Bar]]:
    """Iterate over groups of bars that touch or overlap."""
    span: list[Bar] = []
    for bar in sorted(bars, key=lambda bar: (bar.since, bar.state is State.IN_USE)):
        end = _latest(span)
        if span and end is not None and end < bar.since:
            yield span
            span = []
        span.append(bar)
    if span:
        yield span


def _latest(bars: Sequence[Bar]) -> Instant | None:
    """Return when the last of these bars ends; None when one never does."""
    ends = [bar.until for bar in bars]
    known = [end for end in ends if end is not None]
    return max(known) if known and len(known) == len(ends) else None
