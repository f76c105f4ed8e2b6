"""What a checkpoint file says, with null and empty kept apart (S4.8).

Strings that were not UTF-8 in the kubelet's memory carry their bytes as surrogate escapes, as
`bytes.decode("utf-8", "surrogateescape")` makes them; a string read from a file never has any.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from simulator.core.behavior import CheckpointFormat
from simulator.core.devices import DeviceId, NumaNode
from simulator.core.pods import ContainerName, PodUid
from simulator.core.resources import ResourceName

DeviceIdList = tuple[DeviceId, ...] | None
"""A list of ids; None where the file says null."""

EntryDevices = Mapping[NumaNode, DeviceIdList] | DeviceIdList
"""Ids by NUMA node in format V2, one list in formats V1 and bare; None where the file says null."""


@dataclass(frozen=True, slots=True)
class CheckpointEntry:
    """The devices of one resource that one container holds (PodDevicesEntry).

    Attributes:
        devices: A mapping in format V2 (-1 for no topology), a tuple in the older ones.
        response: The serialized ContainerAllocateResponse; None where the file says null.
    """

    pod: PodUid
    container: ContainerName
    resource: ResourceName
    devices: EntryDevices
    response: bytes | None


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The content of a checkpoint file (checkpointData).

    Attributes:
        format: Which form `entries` have.
        entries: In file order; None where the file says null, as it does without entries (S4.2).
        registered: Healthy ids of each registered resource (S4.4); None where the file says null.
    """

    format: CheckpointFormat
    entries: tuple[CheckpointEntry, ...] | None
    registered: Mapping[ResourceName, DeviceIdList] | None


def entry_device_ids(devices: EntryDevices) -> tuple[DeviceId, ...]:
    """Return the sorted ids of an entry, whatever its format."""
    if devices is None:
        return ()
    groups = (devices,) if isinstance(devices, tuple) else devices.values()
    return tuple(sorted({device for group in groups for device in group or ()}))
