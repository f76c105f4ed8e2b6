"""The records that a run keeps: all of them, or of very many the latest.

What is bounded is their weight: a list of 50,000 devices is one record, and a plugin may send one
every second.
"""

from __future__ import annotations

from collections.abc import Sized
from typing import Final

from simulator.core.records import DevicesListed, ManagerStarted, Record, Stamped

_DEVICES_OF_A_RECORD: Final = 8
"""So many listed devices weigh as much as a record."""


class RecordsKept:
    """Records in order.

    Args:
        weight_max: What the latest records may weigh that are kept at least; None for all records.

    Attributes:
        records: Those that are kept.
    """

    def __init__(self, weight_max: int | None) -> None:
        self.records: list[Stamped] = []
        self._weight_max = weight_max
        self._weight = 0

    def add(self, stamped: Stamped) -> None:
        """Keep a record; of those before it, at twice the weight only the latest are kept."""
        self.records.append(stamped)
        if self._weight_max is None:
            return
        self._weight += weight_of(stamped.record)
        if self._weight > 2 * self._weight_max:
            self._drop(self._weight_max)

    def _drop(self, weight_max: int) -> None:
        weight = kept = 0
        for stamped in reversed(self.records):
            weight += weight_of(stamped.record)
            if weight > weight_max and kept:
                break
            self._weight = weight
            kept += 1
        del self.records[:-kept]


def weight_of(record: Record) -> int:
    """Return how much memory a record takes, as a multiple of that of an ordinary one."""
    listed: Sized = ()
    if isinstance(record, DevicesListed):
        listed = record.devices
    elif isinstance(record, ManagerStarted):
        listed = record.held
    return 1 + len(listed) // _DEVICES_OF_A_RECORD
