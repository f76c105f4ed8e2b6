"""What a write-ahead log says about itself, read without SQLite (its documented format).

SQLite replays a log up to the last commit whose checksums hold, and says nothing of what follows.
A commit that was under way when the power went is rightly dropped. If more than one commit follows
a damaged frame, some of them had been acknowledged: that is loss, and it must not pass unseen.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_HEADER: Final = struct.Struct(">8I")
_FRAME: Final = struct.Struct(">6I")
_MAGIC: Final = 0x377F0682
_CHECKSUMMED_OF_FRAME: Final = 8
_CHECKSUMMED_OF_HEADER: Final = 24
_MASK: Final = 0xFFFFFFFF

Sum = tuple[int, int]


@dataclass(frozen=True, slots=True)
class WalReport:
    """The commits of a log.

    Attributes:
        readable: Commits whose frames are whole.
        unreadable: Commits of the same log after its first damaged frame.
        damaged_frame: The number of that frame, from 1; 0 if there is none.
    """

    readable: int
    unreadable: int
    damaged_frame: int

    @property
    def acknowledged_lost(self) -> int:
        """How many commits are lost for certain that had been acknowledged; one was under way."""
        return max(self.unreadable - 1, 0)


EMPTY: Final = WalReport(readable=0, unreadable=0, damaged_frame=0)


def inspect_log(database: Path) -> WalReport:
    """Read the log beside a database file; nobody may be writing it.

    A log with a damaged header belongs to no one, to SQLite as to us: it is what a restart of the
    log leaves behind when the power goes, and then all of it is in the database file already.
    """
    path = database.with_name(f"{database.name}-wal")
    if not path.exists():
        return EMPTY
    content = path.read_bytes()
    if len(content) < _HEADER.size:
        return EMPTY
    magic, _, page_size, _, *salts, sum_0, sum_1 = _HEADER.unpack_from(content)
    order = ">" if magic & 1 else "<"
    running = _checksum(content[:_CHECKSUMMED_OF_HEADER], (0, 0), order)
    if magic & ~1 != _MAGIC or running != (sum_0, sum_1):
        return EMPTY
    readable, unreadable, foreign, damaged = 0, 0, 0, 0
    size = _FRAME.size + page_size
    for number, start in enumerate(range(_HEADER.size, len(content) - size + 1, size), 1):
        _, committed, *frame_salts, sum_0, sum_1 = _FRAME.unpack_from(content, start)
        if frame_salts != salts:  # Left over from before the log was restarted, or damaged.
            foreign = foreign or number
            continue
        damaged = damaged or foreign
        if not damaged:
            running = _checksum(content[start : start + _CHECKSUMMED_OF_FRAME], running, order)
            page = content[start + _FRAME.size : start + size]
            running = _checksum(page, running, order)
            damaged = 0 if running == (sum_0, sum_1) else number
        if committed:
            readable, unreadable = readable + (not damaged), unreadable + bool(damaged)
    return WalReport(readable=readable, unreadable=unreadable, damaged_frame=damaged)


def _checksum(content: bytes, before: Sum, order: str) -> Sum:
    first, second = before
    words = struct.unpack(f"{order}{len(content) // 4}I", content)
    for even, odd in zip(words[::2], words[1::2], strict=True):
        first = (first + even + second) & _MASK
        second = (second + odd + first) & _MASK
    return first, second
