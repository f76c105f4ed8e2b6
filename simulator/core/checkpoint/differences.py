"""What differs between two checkpoints; the order of entries and of ids says nothing (S4.5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from simulator.core.behavior import CheckpointFormat
from simulator.core.checkpoint.values import (
    Checkpoint,
    CheckpointEntry,
    DeviceIdList,
    EntryDevices,
    entry_device_ids,
)
from simulator.core.devices import DeviceId
from simulator.core.pods import ContainerName, PodUid
from simulator.core.resources import ResourceName

_Key = tuple[PodUid, ContainerName, ResourceName]


@dataclass(frozen=True, slots=True)
class EntryDifference:
    """An entry that only one of the two has, or that differs.

    Attributes:
        before, after: The entry; None where the file does not have it.
        devices_differ, response_differs: What is different of an entry that both have.
    """

    pod: PodUid
    container: ContainerName
    resource: ResourceName
    before: CheckpointEntry | None
    after: CheckpointEntry | None
    devices_differ: bool = False
    response_differs: bool = False


@dataclass(frozen=True, slots=True)
class RegisteredDifference:
    """A resource that only one of the two registers, or whose healthy ids differ.

    Attributes:
        before, after: Sorted ids; None where the resource is not registered.
    """

    resource: ResourceName
    before: tuple[DeviceId, ...] | None
    after: tuple[DeviceId, ...] | None


@dataclass(frozen=True, slots=True)
class Differences:
    """All that differs.

    Attributes:
        formats: The two formats when they differ. NUMA nodes are then not compared.
        entries: In the order of the first file, then those that only the second has.
        registered: By resource.
    """

    formats: tuple[CheckpointFormat, CheckpointFormat] | None
    entries: tuple[EntryDifference, ...]
    registered: tuple[RegisteredDifference, ...]

    def __bool__(self) -> bool:
        """Tell whether anything differs."""
        return bool(self.formats or self.entries or self.registered)


def differences(before: Checkpoint, after: Checkpoint) -> Differences:
    """Compare two checkpoints; of repeated entries the last one counts."""
    same_format = before.format is after.format
    return Differences(
        formats=None if same_format else (before.format, after.format),
        entries=tuple(_entries(before, after, with_nodes=same_format)),
        registered=_registered(before, after),
    )


def _entries(
    before: Checkpoint, after: Checkpoint, *, with_nodes: bool
) -> Iterator[EntryDifference]:
    old, new = _by_key(before), _by_key(after)
    for key in {**old, **new}:
        one, other = old.get(key), new.get(key)
        if one is None or other is None:
            yield EntryDifference(*key, one, other)
            continue
        devices = [_devices(entry.devices, with_nodes=with_nodes) for entry in (one, other)]
        devices_differ = devices[0] != devices[1]
        response_differs = (one.response or b"") != (other.response or b"")
        if devices_differ or response_differs:
            yield EntryDifference(*key, one, other, devices_differ, response_differs)


def _by_key(checkpoint: Checkpoint) -> Mapping[_Key, CheckpointEntry]:
    return {
        (entry.pod, entry.container, entry.resource): entry for entry in checkpoint.entries or ()
    }


def _devices(devices: EntryDevices, *, with_nodes: bool) -> object:
    """Return what is compared of an entry's devices."""
    if not with_nodes or devices is None or isinstance(devices, tuple):
        return entry_device_ids(devices)
    return {node: sorted(ids or ()) for node, ids in devices.items()}


def _registered(before: Checkpoint, after: Checkpoint) -> tuple[RegisteredDifference, ...]:
    old, new = _sorted_ids(before.registered), _sorted_ids(after.registered)
    return tuple(
        RegisteredDifference(resource, old.get(resource), new.get(resource))
        for resource in sorted({**old, **new})
        if old.get(resource) != new.get(resource)
    )


def _sorted_ids(
    registered: Mapping[ResourceName, DeviceIdList] | None,
) -> Mapping[ResourceName, tuple[DeviceId, ...]]:
    return {resource: tuple(sorted(ids or ())) for resource, ids in (registered or {}).items()}
