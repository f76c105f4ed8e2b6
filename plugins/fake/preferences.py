"""Which of the devices on offer a fake plugin prefers (S1.25).

Devices are looked at in groups: the shares of one piece of hardware, or the devices of one NUMA
node. A preference is always complete and on offer, and the same request gets the same answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Final

from simulator.core.devices import Device, DeviceId
from simulator.core.physical_ids import stands_for
from simulator.core.plugin_answers import first_offered

Key = Callable[[DeviceId], tuple[int | str, ...]]
"""Tells to which group a device belongs."""


class Preference(Enum):
    """What a plugin prefers.

    `none` does not ask to be asked; `first` takes what stands first; `packed` uses few pieces of
    hardware, `spread` many; `numa` uses few NUMA nodes.
    """

    NONE = "none"
    FIRST = "first"
    PACKED = "packed"
    SPREAD = "spread"
    NUMA = "numa"


def preferred_devices(
    preference: Preference,
    devices: Mapping[DeviceId, Device],
    available: Sequence[DeviceId],
    must_include: Sequence[DeviceId],
    size: int,
) -> tuple[DeviceId, ...]:
    """Return the preferred devices, those that are chosen already first.

    The request is as the kubelet makes it; `devices` are all that the plugin has, by id.
    """
    if preference is Preference.NONE:
        return ()
    if preference is Preference.FIRST:
        return first_offered(available, must_include, size)
    if preference is Preference.SPREAD:
        return _scattered(available, must_include, size, _hardware)

    def numa_nodes(device: DeviceId) -> tuple[int | str, ...]:
        return devices[device].numa_nodes if device in devices else ()

    key = _hardware if preference is Preference.PACKED else numa_nodes
    return _gathered(available, must_include, size, key)


def _gathered(
    available: Sequence[DeviceId], must_include: Sequence[DeviceId], size: int, key: Key
) -> tuple[DeviceId, ...]:
    """Choose from few groups: those in use, then the smallest that suffices, or the largest."""
    chosen = list(must_include)
    groups = _groups(available, must_include, key)
    used = {key(device) for device in must_include}
    while groups and len(chosen) < size:
        needed = size - len(chosen)

        def urgency(group: tuple[int | str, ...], needed: int = needed) -> tuple[bool, bool, int]:
            members = len(groups[group])
            suffices = members >= needed
            return group not in used, not suffices, members if suffices else -members

        best = min(groups, key=urgency)
        chosen += groups.pop(best)[:needed]
    return tuple(chosen[: max(size, 0)])


def _scattered(
    available: Sequence[DeviceId], must_include: Sequence[DeviceId], size: int, key: Key
) -> tuple[DeviceId, ...]:
    """Choose from many groups: always from the one of which least is chosen, then most is left."""
    chosen = list(must_include)
    groups = _groups(available, must_include, key)
    taken = dict.fromkeys(groups, 0)
    for device in must_include:
        taken[key(device)] = taken.get(key(device), 0) + 1
    while groups and len(chosen) < size:
        best = min(groups, key=lambda group: (taken[group], -len(groups[group])))
        chosen.append(groups[best].pop(0))
        taken[best] += 1
        if not groups[best]:
            del groups[best]
    return tuple(chosen[: max(size, 0)])


def _groups(
    available: Sequence[DeviceId], must_include: Sequence[DeviceId], key: Key
) -> dict[tuple[int | str, ...], list[DeviceId]]:
    """Group what is still to be had, in the order of ids."""
    groups: dict[tuple[int | str, ...], list[DeviceId]] = {}
    for device in sorted(set(available) - set(must_include), key=natural_order):
        groups.setdefault(key(device), []).append(device)
    return groups


def _hardware(device: DeviceId) -> tuple[int | str, ...]:
    return (stands_for(device)[-1],)


def natural_order(device: DeviceId) -> tuple[tuple[int, str], ...]:
    """Return a sort key under which `gpu-2` stands before `gpu-10`."""
    parts: list[tuple[int, str]] = []
    digits = ""
    for letter in device:
        if letter in _DIGITS:
            digits += letter
            continue
        if digits:
            parts.append((int(digits), ""))
            digits = ""
        parts.append((-1, letter))
    return (*parts, (int(digits), "")) if digits else tuple(parts)


_DIGITS: Final = "0123456789"
