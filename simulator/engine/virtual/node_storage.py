"""What a node keeps durably, and what befalls it: full, slow, damaged, without power, replaced."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Final

from simulator.config import CHECKPOINT_FILE_NAME
from simulator.core.instants import Duration
from simulator.core.records import FaultInjected, Record
from simulator.engine.actions import FileAction, Loss
from simulator.engine.injection import Injector
from simulator.engine.spec import SimulationSpec
from simulator.engine.storage_faults import damaged
from simulator.engine.timeline import Process, Timeline
from simulator.engine.virtual.checkpoint_file import CheckpointFile
from simulator.engine.virtual.database import Database
from simulator.engine.virtual.disk import Disk

DAMAGES: Final = {
    FileAction.DELETE: "the database file is missing; restore it from a copy",
    FileAction.TRUNCATE: "database disk image is malformed",
    FileAction.CORRUPT: "file is not a database",
    FileAction.REPLACE: "",
}
"""What SQLite, or the check before it, says of a file to which this was done."""


class NodeStorage:
    """A node's disk and, if state is kept there, its database.

    It is a `simulator.engine.storage_ports.Storage`.

    Args:
        run: Its extra time of every fsync is what the disk takes as a rule.
    """

    def __init__(
        self,
        timeline: Timeline,
        emit: Callable[[Record], None],
        database: Database | None,
        run: SimulationSpec,
    ) -> None:
        added_fsync = run.added_fsync
        self.disk = Disk(timeline.now, added_fsync=added_fsync)
        self.database = database
        self._dir_fsync = dict(run.persistence_options).get("dirFsync", False) is True
        self._timeline = timeline
        self._emit = emit
        self._usual_fsync = added_fsync

    def state_file(self, process: Process, injector: Injector) -> CheckpointFile:
        """Return a new kubelet process' way to the checkpoint file."""
        return CheckpointFile(self.disk, process, injector, dir_fsync=self._dir_fsync)

    def settle(self) -> None:
        """Write everything back, as an orderly shutdown does."""
        self.disk.settle()

    def cut_power(self, loss: Loss, chance: random.Random) -> None:
        """Lose what was not durable."""
        self.disk.cut_power(loss, chance)
        if self.database is not None:
            self.database.cut_power(loss, chance)

    def replace(self) -> None:
        """Be that of a blank machine."""
        self.disk.wipe()
        self._set_full(full=False)
        self._add_fsync(self._usual_fsync)
        if self.database is not None:
            self.database.replace()

    def fill(self, duration: Duration | None) -> None:
        """Let writes fail, for `duration` or for good."""
        self._emit(FaultInjected("diskFull"))
        self._set_full(full=True)
        if duration is not None:
            self._timeline.call_after(duration, lambda: self._set_full(full=False))

    def slow_down(self, added_fsync: Duration, duration: Duration | None) -> None:
        """Let every fsync take longer, for `duration` or for good."""
        self._emit(FaultInjected("slowDisk"))
        self._add_fsync(added_fsync)
        if duration is not None:
            self._timeline.call_after(duration, lambda: self._add_fsync(self._usual_fsync))

    def damage_checkpoint(self, action: FileAction, content: bytes | None) -> None:
        """Do something to the checkpoint file behind the kubelet's back."""
        self._emit(FaultInjected("checkpointFile", action.value))
        present = self.disk.read(CHECKPOINT_FILE_NAME) or b""
        left = damaged(present, action, content)
        if left is None:
            self.disk.remove(CHECKPOINT_FILE_NAME)
        else:
            self.disk.put(CHECKPOINT_FILE_NAME, left)

    def damage_database(self, action: FileAction) -> None:
        """Do something to the database behind the kubelet's back; `replace` repairs it."""
        self._emit(FaultInjected("databaseFile", action.value))
        if self.database is not None:
            self.database.break_down(DAMAGES[action])

    def _set_full(self, *, full: bool) -> None:
        self.disk.full = full
        if self.database is not None:
            self.database.full = full

    def _add_fsync(self, added: Duration) -> None:
        self.disk.added_fsync = added
        if self.database is not None:
            self.database.added_fsync = added
