"""Disk and database of a replay: they answer when the recorded ones did, and what those did."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from simulator.config import CHECKPOINT_FILE_NAME
from simulator.core.calls import (
    CheckpointContent,
    Missing,
    Stored,
    StoreFailed,
    StoreReply,
)
from simulator.core.instants import Duration
from simulator.core.transitions import (
    NodeName,
    Transition,
)
from simulator.engine.actions import FileAction, Loss
from simulator.engine.injection import Injector
from simulator.engine.storage_ports import StoreAnswer
from simulator.engine.timeline import Process, Timeline
from simulator.engine.virtual.checkpoint_file import RETIRED_FILE
from simulator.engine.virtual.disk import Disk
from simulator.ports import Outcome, Store
from simulator.server.recordings.inputs import (
    StoreAnswered,
)
from simulator.server.recordings.replay_errors import refuse
from simulator.store_calls import committed, loaded
from store.memory.store import MemoryStore


@dataclass(slots=True)
class _Call:
    """A call to disk or database: what it does, and who waits for its answer."""

    act: Callable[[], StoreReply]
    reply: StoreAnswer
    done: StoreReply | None = None


class StoreCalls:
    """The calls of one node to its disk and database; the n-th gets the n-th answer.

    A call whose answer nobody got, since its kubelet died, has happened all the same before
    anything is read again.
    """

    def __init__(self) -> None:
        self._made = 0
        self._waiting: dict[int, _Call] = {}

    def make(self, act: Callable[[], StoreReply], reply: StoreAnswer, *, reads: bool) -> None:
        """Make a call."""
        self._made += 1
        if reads:
            for call in self._waiting.values():
                call.done = call.done or call.act()
        self._waiting[self._made] = _Call(act, reply)

    def answer(self, content: StoreAnswered) -> None:
        """Answer a call as it was answered.

        Raises:
            ConfigError: It was not made.
        """
        call = self._waiting.pop(content.call, None)
        if call is None:
            refuse("the store call", content.call)
        if content.error:
            call.reply(StoreFailed(content.error))
        else:
            call.reply(call.done or call.act())


class ReplayedStorage:
    """What a node keeps (`simulator.engine.storage_ports.Storage`).

    Attributes:
        calls: Its calls, which wait for their recorded answers.
    """

    def __init__(self, timeline: Timeline, store: MemoryStore | None) -> None:
        self.calls = StoreCalls()
        self.disk = Disk(timeline.now)
        self.database = None if store is None else ReplayedDatabase(store, self.calls)

    def state_file(self, process: Process, injector: Injector) -> ReplayedFile:
        """Return a kubelet process' way to the checkpoint file."""
        del process, injector
        return ReplayedFile(self.disk, self.calls)

    def settle(self) -> None:
        """Write everything back."""
        self.disk.settle()

    def cut_power(self, loss: Loss, chance: random.Random) -> None:
        """Lose what was not durable."""
        self.disk.cut_power(loss, chance)

    def replace(self) -> None:
        """Be that of a blank machine."""
        self.disk.wipe()

    def fill(self, duration: Duration | None) -> None:
        """Let writes fail: what failed was recorded."""

    def slow_down(self, added_fsync: Duration, duration: Duration | None) -> None:
        """Let every fsync take longer: how long was recorded."""

    def damage_checkpoint(self, action: FileAction, content: bytes | None) -> None:
        """Do something to the checkpoint file: a recorded run has no such step."""

    def damage_database(self, action: FileAction) -> None:
        """Do something to the database: a recorded run has no such step."""


class ReplayedFile:
    """A way to the checkpoint file (`simulator.engine.storage_ports.StateFile`)."""

    def __init__(self, disk: Disk, calls: StoreCalls) -> None:
        self._disk = disk
        self._calls = calls

    def read(self, reply: StoreAnswer) -> None:
        """Read the file."""

        def act() -> StoreReply:
            content = self._disk.read(CHECKPOINT_FILE_NAME)
            return Missing() if content is None else CheckpointContent(content)

        self._calls.make(act, reply, reads=True)

    def write(self, content: bytes, reply: StoreAnswer, *, directory_synced: bool = False) -> None:
        """Replace the file."""
        del directory_synced

        def act() -> StoreReply:
            self._disk.put(CHECKPOINT_FILE_NAME, content)
            return Stored()

        self._calls.make(act, reply, reads=False)

    def set_aside(self, reply: StoreAnswer) -> None:
        """Move the file away."""

        def act() -> StoreReply:
            content = self._disk.read(CHECKPOINT_FILE_NAME)
            if content is not None:
                self._disk.put(RETIRED_FILE, content)
                self._disk.remove(CHECKPOINT_FILE_NAME)
            return Stored()

        self._calls.make(act, reply, reads=False)


class ReplayedDatabase:
    """A database (`simulator.engine.storage_ports.NodeDatabase`)."""

    def __init__(self, store: MemoryStore, calls: StoreCalls) -> None:
        self._store = store
        self._calls = calls
        self.commits = 0

    @property
    def store(self) -> Store:
        """The store itself."""
        return self._store

    @property
    def damage(self) -> str:
        """Nothing: what failed was recorded."""
        return ""

    def apply(self, transitions: tuple[Transition, ...]) -> list[Outcome]:
        """Apply transitions at once."""
        return self._store.apply(transitions)

    def load(
        self, node: NodeName, process: Process, reply: StoreAnswer, *, with_file: bool = False
    ) -> None:
        """Load a node's state."""
        del process
        act = lambda: loaded(self._store, node, with_file=with_file)  # noqa: E731 - one call
        self._calls.make(act, reply, reads=True)

    def commit(
        self, process: Process, transitions: tuple[Transition, ...], reply: StoreAnswer
    ) -> None:
        """Commit transitions."""
        del process

        def act() -> StoreReply:
            self.commits += 1
            return committed(self._store.apply(transitions))

        self._calls.make(act, reply, reads=False)
