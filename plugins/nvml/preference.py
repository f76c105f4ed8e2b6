"""Which of the free devices go well together.

Whole GPUs are chosen so that they are close to each other, by NVLink, then by PCI, then by NUMA
node; among equally good sets the one that leaves the closest neighbors to the next container.
Shares (replicas, MIG devices) are spread: a container with two of them has two GPUs while there are
two (R85), and of those the ones that are used least.

Every choice is the same for the same request. Ids that the plugin does not know are never chosen by
it, and kept where the kubelet says that they must be included.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence

from plugins.nvml.gpus import Gpu, Inventory, Pair
from plugins.nvml.resources import Unit
from simulator.core.devices import DeviceId

_SAME_NUMA_NODE = 1
"""Weighs less than anything that NVML says of two GPUs."""


class Preference:
    """Chooses among the devices of one resource.

    Args:
        units: All there are of the resource, in the machine's order.
        inventory: Says how close the GPUs are.
    """

    def __init__(self, units: Sequence[Unit], inventory: Inventory) -> None:
        self._units = tuple(units)
        self._unit_of = {id_: unit for unit in units for id_ in unit.ids}
        self._place = {id_: place for place, id_ in enumerate(self._unit_of)}
        self._closeness = _closeness([unit.gpu for unit in units], inventory.closeness)
        self._whole_gpus = all(unit.mig is None and len(unit.ids) == 1 for unit in units)

    def choose(
        self, available: Iterable[DeviceId], must_include: Iterable[DeviceId], size: int
    ) -> tuple[DeviceId, ...]:
        """Return `size` devices, those that must be included first; fewer where there are no more.

        Args:
            available: What may be chosen; those that must be included are among them (S1.25).
            must_include: What the container has already.
            size: How many it is to have altogether.
        """
        fixed = tuple(dict.fromkeys(must_include))
        free = sorted(
            {id_ for id_ in available if id_ in self._place}.difference(fixed),
            key=self._place.__getitem__,
        )
        wanted = min(size - len(fixed), len(free))
        if wanted <= 0:
            return fixed[: max(size, 0)]
        if self._whole_gpus:
            return fixed + self._aligned(fixed, free, wanted)
        return fixed + self._spread(fixed, free, wanted)

    def _aligned(
        self, fixed: Sequence[DeviceId], free: Sequence[DeviceId], wanted: int
    ) -> tuple[DeviceId, ...]:
        """Grow a set around each free GPU in turn, and take the best of them."""
        gpus = {id_: self._unit_of[id_].gpu.index for id_ in free}
        held = [self._unit_of[id_].gpu.index for id_ in fixed if id_ in self._unit_of]
        sets = []
        for first in free:
            chosen = [first]
            while len(chosen) < wanted:
                inside = held + [gpus[id_] for id_ in chosen]
                near = {id_: self._sum(gpus[id_], inside) for id_ in free if id_ not in chosen}
                # The first of the equally near ones, in the machine's order.
                chosen.append(max(near, key=near.__getitem__))
            sets.append(tuple(sorted(chosen, key=self._place.__getitem__)))
        return min(sets, key=lambda ids: self._badness(ids, held=held, gpus=gpus))

    def _badness(
        self, ids: tuple[DeviceId, ...], *, held: Sequence[int], gpus: Mapping[DeviceId, int]
    ) -> tuple[int, int, tuple[int, ...]]:
        """Order sets: close inside, then far from what stays free, then the machine's order."""
        chosen = [gpus[id_] for id_ in ids]
        left = [gpu for id_, gpu in gpus.items() if id_ not in ids]
        inside = sum(self._sum(gpu, chosen) for gpu in chosen) // 2
        inside += sum(self._sum(gpu, held) for gpu in chosen)
        torn = sum(self._sum(gpu, left) for gpu in chosen)
        return -inside, torn, tuple(self._place[id_] for id_ in ids)

    def _spread(
        self, fixed: Sequence[DeviceId], free: Sequence[DeviceId], wanted: int
    ) -> tuple[DeviceId, ...]:
        """Take one share after another, each from the best unit that has one left."""
        left: dict[str, deque[DeviceId]] = {}
        for id_ in free:
            left.setdefault(self._unit_of[id_].uuid, deque()).append(id_)
        used = Counter(unit.uuid for unit in self._unit_of.values())
        used.subtract({uuid: len(ids) for uuid, ids in left.items()})
        used_of_gpu: Counter[int] = Counter()
        for unit in self._units:
            used_of_gpu[unit.gpu.index] += used[unit.uuid]
        mine = Counter(self._unit_of[id_].gpu.index for id_ in fixed if id_ in self._unit_of)

        def badness(unit: Unit) -> tuple[int, int, int, int]:
            gpu = unit.gpu.index
            return mine[gpu], used_of_gpu[gpu], used[unit.uuid], -self._sum(gpu, list(mine))

        chosen: list[DeviceId] = []
        while len(chosen) < wanted:
            # The first of the equally good ones, in the machine's order.
            best = min((unit for unit in self._units if left.get(unit.uuid)), key=badness)
            for count in (mine, used_of_gpu):
                count[best.gpu.index] += 1
            used[best.uuid] += 1
            chosen.append(left[best.uuid].popleft())
        return tuple(chosen)

    def _sum(self, gpu: int, others: Sequence[int]) -> int:
        """Return how close a GPU is to others, itself not counted."""
        return sum(
            self._closeness.get((min(gpu, other), max(gpu, other)), 0)
            for other in others
            if other != gpu
        )


def _closeness(gpus: Sequence[Gpu], told: Mapping[Pair, int]) -> dict[Pair, int]:
    """Return what NVML says of each pair, and a little more for two GPUs of one NUMA node."""
    closeness = dict(told)
    by_index = {gpu.index: gpu for gpu in gpus if gpu.numa_node is not None}
    for one, gpu in by_index.items():
        for other, neighbor in by_index.items():
            if one < other and gpu.numa_node == neighbor.numa_node:
                closeness[one, other] = closeness.get((one, other), 0) + _SAME_NUMA_NODE
    return closeness
