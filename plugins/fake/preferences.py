"""Which of the devices on offer a fake plugin prefers (S1.25).

Devices are looked at in groups: the shares of one piece of hardware, or the devices of one NUMA
node. A preference is always complete and on offer, and the same request gets the same answer.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from heapq import heapify, heappop, heapreplace
from typing import Final

from simulator.core.devices import Device, DeviceId
from simulator.core.physical_ids import stands_for
from simulator.core.plugin_answers import first_offered

_DIGITS: Final = re.compile(r"([0-9]{1,18})")

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
    for in_use in (True, False):
        pool = [members for group, members in groups.items() if (group in used) is in_use]
        chosen += _from_few(pool, size - len(chosen))
    return tuple(chosen[: max(size, 0)])


def _from_few(groups: list[list[DeviceId]], needed: int) -> list[DeviceId]:
    """Take devices from groups, as few as possible; of groups of one size, the first."""
    pool = sorted(groups, key=len)
    sizes = [len(members) for members in pool]
    taken: list[DeviceId] = []
    while pool and len(taken) < needed:
        missing = needed - len(taken)
        at = bisect_left(sizes, min(missing, sizes[-1]))
        sizes.pop(at)
        taken += pool.pop(at)[:missing]
    return taken


def _scattered(
    available: Sequence[DeviceId], must_include: Sequence[DeviceId], size: int, key: Key
) -> tuple[DeviceId, ...]:
    """Choose from many groups: always from the one of which least is chosen, then most is left."""
    chosen = list(must_include)
    used = Counter(key(device) for device in must_include)
    heap = [
        (used[group], -len(members), place, members)
        for place, (group, members) in enumerate(_groups(available, must_include, key).items())
    ]
    heapify(heap)
    while heap and len(chosen) < size:
        taken, left, place, members = heap[0]
        chosen.append(members[left])
        if left + 1:
            heapreplace(heap, (taken + 1, left + 1, place, members))
        else:
            heappop(heap)
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


def natural_order(device: DeviceId) -> tuple[str | int, ...]:
    """Return a sort key under which `gpu-2` stands before `gpu-10`."""
    parts: list[str | int] = list(_DIGITS.split(device))
    parts[1::2] = map(int, parts[1::2])
    return tuple(parts)
