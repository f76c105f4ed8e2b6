"""Checkpoint entries and device bindings, into each other (S4.13, S4.15)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from simulator.core import allocate_response
from simulator.core.behavior import CheckpointFormat
from simulator.core.checkpoint.values import Checkpoint, CheckpointEntry, EntryDevices
from simulator.core.devices import DeviceId, DevicesPerNuma, NumaNode, device_ids
from simulator.core.pods import ContainerName, PodUid
from simulator.core.resources import ResourceName
from simulator.core.transitions import DeviceBinding

_NUMA_NODE_OF_V1: Final = NumaNode(0)


@dataclass(frozen=True, slots=True)
class BindingsRead:
    """What a kubelet makes of a checkpoint's entries.

    Attributes:
        bindings: In file order; of entries for the same pod, container and resource the last one
            counts, in the place of the first (fromCheckpointData).
        skipped: Entries whose response cannot be decoded (S4.13).
        repeated: Entries that a later one of the same pod, container and resource replaced.
    """

    bindings: tuple[DeviceBinding, ...]
    skipped: tuple[CheckpointEntry, ...]
    repeated: tuple[CheckpointEntry, ...]


def read_bindings(checkpoint: Checkpoint, *, lenient: bool) -> BindingsRead:
    """Turn entries into bindings.

    Args:
        checkpoint: What the file says; null lists count as empty, ids of format V1 and bare are put
            under NUMA node 0 (S4.15).
        lenient: Which responses can be decoded (`Behavior.lenient_allocate_responses`).
    """
    kept: dict[tuple[PodUid, ContainerName, ResourceName], CheckpointEntry] = {}
    skipped: list[CheckpointEntry] = []
    repeated: list[CheckpointEntry] = []
    for entry in checkpoint.entries or ():
        if entry.response and not allocate_response.is_decodable(entry.response, lenient=lenient):
            skipped.append(entry)
            continue
        key = (entry.pod, entry.container, entry.resource)
        if key in kept:
            repeated.append(kept[key])
        kept[key] = entry
    bindings = tuple([_binding(entry, checkpoint.format) for entry in kept.values()])
    return BindingsRead(bindings, tuple(skipped), tuple(repeated))


def with_rewritten_responses(
    bindings: Iterable[DeviceBinding], *, lenient: bool, cdi_devices: bool
) -> tuple[DeviceBinding, ...]:
    """Return bindings as the kubelet writes them next: it keeps decoded responses, not their bytes.

    Null becomes empty (S4.8), and the older runtime drops what it does not know (1.20.2/DIFFERENCES
    23). Bindings to which this makes no difference stay the same objects.

    Args:
        bindings: As `read_bindings` gave them.
        lenient: `Behavior.lenient_allocate_responses`.
        cdi_devices: `Behavior.cdi_devices_known`.
    """
    return tuple(
        [
            binding if response == binding.response else replace(binding, response=response)
            for binding in bindings
            for response in (
                allocate_response.rewritten(
                    binding.response or b"", lenient=lenient, cdi_devices=cdi_devices
                ),
            )
        ]
    )


def checkpoint_of(
    bindings: Iterable[DeviceBinding],
    registered: Sequence[tuple[ResourceName, Sequence[DeviceId]]],
    form: CheckpointFormat,
) -> Checkpoint:
    """Return what a kubelet writes: null entries when there are none (S4.2)."""
    entries = tuple([entry_of(binding, form) for binding in bindings])
    return Checkpoint(
        format=form,
        entries=entries or None,
        registered={resource: tuple(ids) for resource, ids in registered},
    )


def entry_of(binding: DeviceBinding, form: CheckpointFormat) -> CheckpointEntry:
    """Return a binding's entry; formats before V2 have one sorted list of ids."""
    devices: EntryDevices = (
        binding.devices if form is CheckpointFormat.V2 else device_ids(binding.devices)
    )
    return CheckpointEntry(
        binding.pod, binding.container, binding.resource, devices, binding.response
    )


def _binding(entry: CheckpointEntry, form: CheckpointFormat) -> DeviceBinding:
    devices = entry.devices
    groups: DevicesPerNuma
    if devices is None or isinstance(devices, tuple):
        groups = {} if form is CheckpointFormat.V2 else {_NUMA_NODE_OF_V1: devices or ()}
    else:
        groups = {node: ids or () for node, ids in devices.items()}
    return DeviceBinding(entry.pod, entry.container, entry.resource, groups, entry.response)
