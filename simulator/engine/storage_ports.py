"""What a node keeps durably, as its kubelet sees it: files and a database, simulated or real.

Where a promise takes time, the answer comes by a callback on the node's timeline.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Protocol

from simulator.core.calls import StoreReply
from simulator.core.instants import Duration
from simulator.core.transitions import NodeName, Transition
from simulator.engine.actions import FileAction, Loss
from simulator.engine.injection import Injector
from simulator.engine.timeline import Process
from simulator.ports import Outcome, Store

StoreAnswer = Callable[[StoreReply], None]


class Directory(Protocol):
    """A node's plugin directory, as programs see it; sockets are left out."""

    def names(self) -> list[str]:
        """Return the names of the files, sorted."""
        ...

    def read(self, name: str) -> bytes | None:
        """Return a file's content; None when there is no such file."""
        ...

    def put(self, name: str, content: bytes) -> None:
        """Place a durable file from outside, as an operator would."""
        ...


class StateFile(Protocol):
    """One kubelet process' way to its checkpoint file (S4.9, S4.12)."""

    def read(self, reply: StoreAnswer) -> None:
        """Read the file: `CheckpointContent | Missing | StoreFailed`."""
        ...

    def write(self, content: bytes, reply: StoreAnswer, *, directory_synced: bool = False) -> None:
        """Replace the file, after the writes that were asked for before: `Stored | StoreFailed`."""
        ...

    def set_aside(self, reply: StoreAnswer) -> None:
        """Move the file out of the plugin directory, durably: `Stored | StoreFailed`."""
        ...


class NodeDatabase(Protocol):
    """A database, as a kubelet process uses it."""

    @property
    def store(self) -> Store:
        """The store itself, for observations."""
        ...

    @property
    def damage(self) -> str:
        """Why the database cannot be opened; empty when it can."""
        ...

    @property
    def commits(self) -> int:
        """Number of commits so far: while it stands, so do the rows."""
        ...

    def apply(self, transitions: tuple[Transition, ...]) -> list[Outcome]:
        """Apply transitions at once: the state before the run."""
        ...

    def load(
        self, node: NodeName, process: Process, reply: StoreAnswer, *, with_file: bool = False
    ) -> None:
        """Load a node's state for a process, if that still lives."""
        ...

    def commit(
        self, process: Process, transitions: tuple[Transition, ...], reply: StoreAnswer
    ) -> None:
        """Commit transitions; the reply comes when they are durable."""
        ...


class Storage(Protocol):
    """What a node keeps durably, and what can befall it."""

    @property
    def disk(self) -> Directory:
        """The plugin directory."""
        ...

    @property
    def database(self) -> NodeDatabase | None:
        """The database, if the persistence keeps its state there."""
        ...

    def state_file(self, process: Process, injector: Injector) -> StateFile:
        """Return a new kubelet process' way to the checkpoint file."""
        ...

    def settle(self) -> None:
        """Write everything back, as an orderly shutdown does."""
        ...

    def cut_power(self, loss: Loss, chance: random.Random) -> None:
        """Lose what was not durable."""
        ...

    def replace(self) -> None:
        """Be that of a blank machine."""
        ...

    def fill(self, duration: Duration | None) -> None:
        """Let writes fail, for `duration` or for good."""
        ...

    def slow_down(self, added_fsync: Duration, duration: Duration | None) -> None:
        """Let every fsync take longer, for `duration` or for good."""
        ...

    def damage_checkpoint(self, action: FileAction, content: bytes | None) -> None:
        """Do something to the checkpoint file behind the kubelet's back."""
        ...

    def damage_database(self, action: FileAction) -> None:
        """Do something to the database behind the kubelet's back; `replace` repairs it."""
        ...
