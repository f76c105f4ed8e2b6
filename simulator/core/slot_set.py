"""Sets of device ids as integers over a sorted table.

Ids stand in sorted order in slots, and a set of slots is one integer, so that counting and picking
free devices costs the same at any number of pods and next to nothing at many devices.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from typing import final, overload

from typing_extensions import override

from simulator.core.devices import DeviceId


def slots_in(table: Sequence[DeviceId], ids: Iterable[DeviceId]) -> int:
    """Return the positions in a sorted table of those `ids` that stand in it, as a mask."""
    # A sequence's `isinstance` asks its abstract base, which costs more than the rest of this.
    if type(ids) is SlotSet and ids.table is table:
        return ids.mask
    mask = 0
    for device in ids:
        slot = bisect_left(table, device)
        if slot < len(table) and table[slot] == device:
            mask |= 1 << slot
    return mask


@final
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
