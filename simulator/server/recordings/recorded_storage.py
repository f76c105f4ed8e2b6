"""What a live node keeps, watched: its disk and database tell when they answer (`inputs`)."""

from __future__ import annotations

import random

from simulator.core.instants import Duration
from simulator.core.transitions import NodeName, Transition
from simulator.engine.actions import FileAction, Loss
from simulator.engine.injection import Injector
from simulator.engine.storage_ports import Directory, NodeDatabase, StateFile, Storage, StoreAnswer
from simulator.engine.timeline import Process
from simulator.ports import Outcome, Store
from simulator.server.recordings.seats import Seat


class RecordedStorage:
    """What a node keeps, watched (`simulator.engine.storage_ports.Storage`)."""

    def __init__(self, inner: Storage, seat: Seat) -> None:
        self._inner = inner
        self._seat = seat
        database = inner.database
        self._database = None if database is None else _RecordedDatabase(database, seat)

    @property
    def disk(self) -> Directory:
        """The plugin directory."""
        return self._inner.disk

    @property
    def database(self) -> NodeDatabase | None:
        """The database, if there is one."""
        return self._database

    def state_file(self, process: Process, injector: Injector) -> StateFile:
        """Return a kubelet process' way to the checkpoint file."""
        return _RecordedFile(self._inner.state_file(process, injector), self._seat)

    def settle(self) -> None:
        """Write everything back."""
        self._inner.settle()

    def cut_power(self, loss: Loss, chance: random.Random) -> None:
        """Lose what was not durable."""
        self._inner.cut_power(loss, chance)

    def replace(self) -> None:
        """Be that of a blank machine."""
        self._inner.replace()

    def fill(self, duration: Duration | None) -> None:
        """Let writes fail."""
        self._inner.fill(duration)

    def slow_down(self, added_fsync: Duration, duration: Duration | None) -> None:
        """Let every fsync take longer."""
        self._inner.slow_down(added_fsync, duration)

    def damage_checkpoint(self, action: FileAction, content: bytes | None) -> None:
        """Do something to the checkpoint file."""
        self._inner.damage_checkpoint(action, content)

    def damage_database(self, action: FileAction) -> None:
        """Do something to the database."""
        self._inner.damage_database(action)


class _RecordedDatabase:
    """A database, watched (`simulator.engine.storage_ports.NodeDatabase`)."""

    def __init__(self, inner: NodeDatabase, seat: Seat) -> None:
        self._inner = inner
        self._seat = seat

    @property
    def store(self) -> Store:
        """The store itself."""
        return self._inner.store

    @property
    def damage(self) -> str:
        """Why it cannot be opened."""
        return self._inner.damage

    @property
    def commits(self) -> int:
        """Number of commits so far."""
        return self._inner.commits

    def apply(self, transitions: tuple[Transition, ...]) -> list[Outcome]:
        """Apply transitions at once."""
        return self._inner.apply(transitions)

    def load(
        self, node: NodeName, process: Process, reply: StoreAnswer, *, with_file: bool = False
    ) -> None:
        """Load a node's state."""
        self._inner.load(node, process, self._seat.store_answer(reply), with_file=with_file)

    def commit(
        self, process: Process, transitions: tuple[Transition, ...], reply: StoreAnswer
    ) -> None:
        """Commit transitions."""
        self._inner.commit(process, transitions, self._seat.store_answer(reply))


class _RecordedFile:
    """A way to the checkpoint file, watched (`simulator.engine.storage_ports.StateFile`)."""

    def __init__(self, inner: StateFile, seat: Seat) -> None:
        self._inner = inner
        self._seat = seat

    def read(self, reply: StoreAnswer) -> None:
        """Read the file."""
        self._inner.read(self._seat.store_answer(reply))

    def write(self, content: bytes, reply: StoreAnswer, *, directory_synced: bool = False) -> None:
        """Replace the file."""
        answer = self._seat.store_answer(reply)
        self._inner.write(content, answer, directory_synced=directory_synced)

    def set_aside(self, reply: StoreAnswer) -> None:
        """Move the file away."""
        self._inner.set_aside(self._seat.store_answer(reply))
