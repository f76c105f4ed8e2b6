"""What an import means, the same for every store."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from simulator.core.devices import DeviceId, device_ids
from simulator.core.pods import ContainerName, PodUid
from simulator.core.resources import ResourceName
from simulator.core.transitions import CheckpointImported, DeviceBinding, OnConflict
from simulator.ports import Refused

BindingKey = tuple[PodUid, ContainerName, ResourceName]
Listed = dict[ResourceName, tuple[DeviceId, ...]]
"""Registered resources and the devices that their plugins list, in order."""


def key_of(binding: DeviceBinding) -> BindingKey:
    """Return what a node has one binding for."""
    return binding.pod, binding.container, binding.resource


def by_key(bindings: Iterable[DeviceBinding]) -> dict[BindingKey, DeviceBinding]:
    """Return bindings by key; of several with one key the last counts, as in the kubelet's map."""
    kept: dict[BindingKey, DeviceBinding] = {}
    for binding in bindings:
        key = key_of(binding)
        kept.pop(key, None)
        kept[key] = binding
    return kept


def bound_ids(binding: DeviceBinding) -> Iterator[DeviceId]:
    """Iterate over the ids of a binding as it lists them."""
    for group in binding.devices.values():
        yield from group


def listed_in(imported: CheckpointImported) -> Listed:
    """Return the file's registered devices, each id once."""
    return {resource: tuple(dict.fromkeys(ids)) for resource, ids in imported.registered}


def contested(
    bindings: Iterable[DeviceBinding],
) -> Iterator[tuple[DeviceBinding, DeviceId, PodUid]]:
    """Iterate over devices that stand under a second pod: the second binding, id, first pod."""
    first: dict[tuple[ResourceName, DeviceId], PodUid] = {}
    for binding in bindings:
        for device in device_ids(binding.devices):
            holder = first.setdefault((binding.resource, device), binding.pod)
            if holder != binding.pod:
                yield binding, device, holder


def refusal_of_conflicts(
    imported: CheckpointImported, bindings: Iterable[DeviceBinding]
) -> Refused | None:
    """Refuse an import in which two pods have one device, unless they are to be kept."""
    if imported.on_conflict is OnConflict.KEEP:
        return None
    for binding, device, holder in contested(bindings):
        return Refused(
            f"device {device} of {binding.resource} stands under pods {holder} and {binding.pod}; "
            "import with --on-conflict keep to keep both"
        )
    return None
