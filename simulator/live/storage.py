"""What a live node keeps: its plugin directory with the checkpoint file, and its database."""

from __future__ import annotations

import asyncio
import os
import random
from collections import deque
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

from simulator.config import CHECKPOINT_FILE_NAME, PLUGIN_DIRECTORY, RETIRED_CHECKPOINT_NAME
from simulator.core.calls import CheckpointContent, Missing, Stored, StoreFailed, StoreReply
from simulator.core.instants import Duration
from simulator.core.records import FaultInjected, Record
from simulator.engine.actions import FileAction, Loss
from simulator.engine.injection import Injector
from simulator.engine.storage_faults import NO_SPACE, damaged
from simulator.engine.storage_ports import StoreAnswer
from simulator.engine.timeline import Process
from simulator.errors import ScenarioError, StoreError, StoreUnavailableError
from simulator.live.database import LiveDatabase
from simulator.live.tasks import Tasks
from simulator.live.timeline import LiveTimeline
from store.file_store import FileStore

DIRECTORY_MODE: Final = 0o750
"""Of the plugin directory (S1.8)."""


class PluginDirectory:
    """A node's plugin directory on the disk (`simulator.engine.storage_ports.Directory`)."""

    def __init__(self, path: Path, *, sync: Callable[[int], None] = os.fsync) -> None:
        self.path = path
        self.files = FileStore(path, sync=sync)

    def names(self) -> list[str]:
        """Return the names of the files, sorted; sockets are left out."""
        return self.files.keys()

    def read(self, name: str) -> bytes | None:
        """Return a file's content, None when there is no such file, nothing of an unreadable one.

        Who looks is told what a kubelet would find there, whatever was done to the directory.
        """
        try:
            return self.files.read(name)
        except StoreUnavailableError:
            return b""

    def put(self, name: str, content: bytes) -> None:
        """Place a durable file from outside."""
        self.path.mkdir(mode=DIRECTORY_MODE, parents=True, exist_ok=True)
        self.files.write(name, content, sync_directory=True)


class LiveStateFile:
    """One kubelet process' way to its checkpoint file; one step after the other, in a thread.

    What is under way when the kubelet dies is finished, as the kernel would finish it, before the
    next process gets at the file; the answer is nobody's.
    """

    def __init__(
        self,
        storage: LiveStorage,
        process: Process,
        *,
        dir_fsync: bool,
    ) -> None:
        self._storage = storage
        self._files = storage.disk.files
        self._process = process
        self._dir_fsync = dir_fsync

    def read(self, reply: StoreAnswer) -> None:
        """Read the file."""

        def act() -> StoreReply:
            content = self._files.read(CHECKPOINT_FILE_NAME)
            return Missing() if content is None else CheckpointContent(content)

        self._do(act, reply)

    def write(self, content: bytes, reply: StoreAnswer, *, directory_synced: bool = False) -> None:
        """Replace the file, after the writes that were asked for before."""

        def act() -> StoreReply:
            if self._storage.full:
                return StoreFailed(NO_SPACE)
            synced = directory_synced or self._dir_fsync
            self._files.write(CHECKPOINT_FILE_NAME, content, sync_directory=synced)
            return Stored()

        self._do(act, reply)

    def set_aside(self, reply: StoreAnswer) -> None:
        """Move the file out of the plugin directory, durably, if there is one."""

        def act() -> StoreReply:
            target = self._storage.disk.path.parent / RETIRED_CHECKPOINT_NAME
            self._files.set_aside(CHECKPOINT_FILE_NAME, target)
            return Stored()

        self._do(act, reply)

    def _do(self, act: Callable[[], StoreReply], reply: StoreAnswer) -> None:
        self._storage.do(act, lambda answer: self._told(answer, reply))

    def _told(self, answer: StoreReply, reply: StoreAnswer) -> None:
        if self._process.is_alive():
            self._process.delayed(self._storage.added, lambda: reply(answer))


class LiveStorage:
    """A live node's storage (`simulator.engine.storage_ports.Storage`).

    Args:
        timeline: The node's time.
        folder: The node's folder, laid out like `/var/lib/kubelet`.
        database: That of the server, if the persistence keeps its state there.
        emit: Takes records of the node.
        dir_fsync: Whether the directory is fsynced after every write of the checkpoint.
        sync: What fsyncs an open file.

    Attributes:
        full: Whether writes fail as on a full disk, because a fault says so.
        added: Time that is added to every write, because a fault says so.
    """

    def __init__(  # noqa: PLR0913 - what a driver supplies, most of it by position
        self,
        timeline: LiveTimeline,
        folder: Path,
        database: LiveDatabase | None,
        emit: Callable[[Record], None],
        *,
        dir_fsync: bool,
        sync: Callable[[int], None] = os.fsync,
    ) -> None:
        self.disk = PluginDirectory(folder / PLUGIN_DIRECTORY, sync=sync)
        self.database = database
        self.timeline = timeline
        self.tasks = Tasks()
        self.name = folder.name
        self.full = False
        self.added = Duration(0)
        self._dir_fsync = dir_fsync
        self._emit = emit
        self._waiting: deque[tuple[Callable[[], StoreReply], StoreAnswer]] = deque()
        self._busy = False

    def state_file(self, process: Process, injector: Injector) -> LiveStateFile:
        """Return a new kubelet process' way to the checkpoint file."""
        del injector  # Its faults cut simulated files; real ones have their own ways to fail.
        return LiveStateFile(self, process, dir_fsync=self._dir_fsync)

    def do(self, act: Callable[[], StoreReply], reply: StoreAnswer) -> None:
        """Do something to the files in a thread, after what was asked for before, by whomever."""
        self._waiting.append((act, reply))
        if not self._busy:
            self._busy = True
            self.tasks.start(self._work(), f"checkpoint of {self.name}")

    def settle(self) -> None:
        """Do nothing: the operating system that wrote still runs."""

    def cut_power(self, loss: Loss, chance: random.Random) -> None:
        """Refuse: the power of a real machine is not cut.

        Raises:
            ScenarioError: Always.
        """
        del loss, chance
        message = "a live node has no power to cut"
        raise ScenarioError(message)

    def replace(self) -> None:
        """Be that of a blank machine: no file is left; what a database knows of the node stays."""
        for name in self.disk.names():
            self.disk.files.delete(name)

    def fill(self, duration: Duration | None) -> None:
        """Let writes fail, for `duration` or for good."""
        self._emit(FaultInjected("diskFull"))
        self._set_full(full=True)
        if duration is not None:
            self.timeline.call_after(duration, lambda: self._set_full(full=False))

    def slow_down(self, added_fsync: Duration, duration: Duration | None) -> None:
        """Let every write take longer, for `duration` or for good."""
        self._emit(FaultInjected("slowDisk"))
        self._add(added_fsync)
        if duration is not None:
            self.timeline.call_after(duration, lambda: self._add(Duration(0)))

    def damage_checkpoint(self, action: FileAction, content: bytes | None) -> None:
        """Do something to the checkpoint file behind the kubelet's back."""
        self._emit(FaultInjected("checkpointFile", action.value))
        present = self.disk.read(CHECKPOINT_FILE_NAME) or b""
        left = damaged(present, action, content)
        if left is None:
            self.disk.files.delete(CHECKPOINT_FILE_NAME)
        else:
            self.disk.put(CHECKPOINT_FILE_NAME, left)

    def damage_database(self, action: FileAction) -> None:
        """Refuse: other nodes use it, and what it holds was acknowledged.

        Raises:
            ScenarioError: Always.
        """
        message = f"the database of a live node is not damaged ({action.value})"
        raise ScenarioError(message)

    async def close(self) -> None:
        """Wait until the writes under way are done."""
        await self.tasks.finish()

    async def _work(self) -> None:
        try:
            with self.timeline.held():
                while self._waiting:
                    act, reply = self._waiting.popleft()
                    try:
                        answer = await asyncio.to_thread(act)
                    except StoreError as error:
                        answer = StoreFailed(str(error))
                    self.timeline.enter(partial(reply, answer))
        finally:
            self._busy = False

    def _set_full(self, *, full: bool) -> None:
        self.full = full
        if self.database is not None:
            self.database.full = full

    def _add(self, added: Duration) -> None:
        self.added = added
        if self.database is not None:
            self.database.added = added
