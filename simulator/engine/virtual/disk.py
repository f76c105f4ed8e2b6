"""A disk that can lose power: one directory of files with a volatile and a durable side.

What a program sees is the volatile side. What a power cut leaves is bounded by three rules, those
of a journaling file system (ext4, XFS) on hardware that keeps what it acknowledged:

1. The content of a file is durable once it was fsynced; before that it may be lost, whole or in
   part.
2. Directory changes (create, rename, remove) become durable in the order in which they were made:
   after a power cut some prefix of them has happened. A rename is atomic: the name has the whole
   old file or the whole new one.
3. An fsync of any file, or of the directory, makes all directory changes before it durable, and so
   does the passing of `WRITEBACK`.

So an fsynced and renamed file whose directory was not synced may be found under its old name again.
The steps take no time here; the caller adds the latency (`DiskLatency`).
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from simulator.core.instants import MICROSECOND, MILLISECOND, SECOND, Duration, Instant
from simulator.engine.actions import Loss
from simulator.engine.storage_faults import NO_SPACE

WRITEBACK: Final = Duration(30 * SECOND)
"""After so long the operating system has written back everything by itself."""


@dataclass(frozen=True, slots=True)
class DiskLatency:
    """How long each step takes in virtual time."""

    read: Duration = Duration(100 * MICROSECOND)
    write: Duration = Duration(50 * MICROSECOND)
    fsync: Duration = Duration(MILLISECOND)
    rename: Duration = Duration(20 * MICROSECOND)


@dataclass(eq=False, slots=True)
class _File:
    """A file's content on both sides; `written` is when the volatile side last changed."""

    volatile: bytes
    durable: bytes = b""
    dirty: bool = True
    written: Instant = Instant(0)


@dataclass(frozen=True, slots=True)
class _Change:
    """A directory change: `name` now means `file`; a rename also takes `gone` away."""

    at: Instant
    name: str
    file: _File | None
    gone: str = ""

    def apply(self, names: dict[str, _File]) -> None:
        if self.gone:
            names.pop(self.gone, None)
        if self.file is None:
            names.pop(self.name, None)
        else:
            names[self.name] = self.file


@dataclass(eq=False)
class Disk:
    """One directory of one node.

    Attributes:
        full: Whether writes fail with `NO_SPACE`.
        added_fsync: Extra time that every fsync takes now.
        fsyncs: How many there were so far, of files and of the directory.
        written: Bytes so far, by programs.
    """

    now: Callable[[], Instant]
    latency: DiskLatency = field(default_factory=DiskLatency)
    full: bool = False
    added_fsync: Duration = Duration(0)
    fsyncs: int = 0
    written: int = 0
    _names: dict[str, _File] = field(default_factory=dict)
    _durable_names: dict[str, _File] = field(default_factory=dict)
    _changes: list[_Change] = field(default_factory=list)

    @property
    def fsync_latency(self) -> Duration:
        """How long an fsync takes now."""
        return Duration(self.latency.fsync + self.added_fsync)

    def names(self) -> list[str]:
        """Return the names in the directory, sorted."""
        return sorted(self._names)

    def read(self, name: str) -> bytes | None:
        """Return the file's content as a program sees it; None when there is no such file."""
        file = self._names.get(name)
        return None if file is None else file.volatile

    def write(self, name: str, content: bytes) -> str:
        """Create or overwrite a file; return an error text, empty on success.

        On a full disk the file is created and stays as it was, or empty.
        """
        file = self._names.get(name)
        if file is None:
            file = _File(b"", written=self.now())
            self._change(_Change(self.now(), name, file))
        if self.full:
            return NO_SPACE
        self.written += len(content)
        file.volatile = content
        file.dirty = True
        file.written = self.now()
        return ""

    def fsync(self, name: str) -> str:
        """Make a file's content durable, and every directory change so far."""
        file = self._names.get(name)
        if file is None:
            return "no such file or directory"
        file.durable = file.volatile
        file.dirty = False
        self.fsyncs += 1
        self._settle_names()
        return ""

    def rename(self, old: str, new: str) -> str:
        """Give the file `old` the name `new`, replacing what had it."""
        file = self._names.get(old)
        if file is None:
            return "no such file or directory"
        self._change(_Change(self.now(), new, file, gone=old))
        return ""

    def remove(self, name: str) -> None:
        """Remove a name; nothing happens when there is none."""
        if name in self._names:
            self._change(_Change(self.now(), name, None))

    def fsync_directory(self) -> None:
        """Make every directory change so far durable."""
        self.fsyncs += 1
        self._settle_names()

    def _settle_names(self) -> None:
        for change in self._changes:
            change.apply(self._durable_names)
        self._changes.clear()

    def put(self, name: str, content: bytes) -> None:
        """Place a durable file from outside, as an operator would."""
        self._change(_Change(self.now(), name, _File(content, content, dirty=False)))
        self._settle_names()

    def settle(self) -> None:
        """Write everything back, as an orderly shutdown does."""
        for file in self._names.values():
            file.durable = file.volatile
            file.dirty = False
        self._settle_names()

    def wipe(self) -> None:
        """Be blank again."""
        self._names.clear()
        self._durable_names.clear()
        self._changes.clear()

    def cut_power(self, loss: Loss, chance: random.Random) -> None:
        """Lose what `loss` says of what is not durable; the rest is what the next boot finds."""
        old = self.now() - WRITEBACK
        kept = sum(change.at <= old for change in self._changes)
        survivors = _draw(loss, chance, kept, len(self._changes))
        for change in self._changes[:survivors]:
            change.apply(self._durable_names)
        self._changes.clear()
        for _, file in sorted(self._durable_names.items()):
            if file.dirty and file.written > old:
                _lose_content(file, loss, chance)
            file.durable = file.volatile
            file.dirty = False
        self._names = dict(self._durable_names)

    def _change(self, change: _Change) -> None:
        change.apply(self._names)
        self._changes.append(change)


def _draw(loss: Loss, chance: random.Random, fewest: int, most: int) -> int:
    if loss is Loss.ALL:
        return fewest
    if loss is Loss.NONE:
        return most
    return chance.randint(fewest, most)


def _lose_content(file: _File, loss: Loss, chance: random.Random) -> None:
    """Leave the durable content, the new one, or (by chance) a part of the new one."""
    if loss is Loss.NONE or (loss is Loss.RANDOM and chance.random() < 1 / 2):
        return
    if loss is Loss.ALL or chance.random() < 1 / 2:
        file.volatile = file.durable
    else:
        file.volatile = file.volatile[: chance.randint(0, len(file.volatile))]
