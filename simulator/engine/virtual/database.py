"""A database in virtual time: a real store behind modelled latency and durability.

Commits that are due at one instant, or arrive while another commit is under way, go to the store as
one batch with one commit, as under the committer thread of the live node. Latency comes from the
model, so that runs repeat themselves. What a power cut takes is modelled at the level of
transactions: `full` keeps every acknowledged commit; `normal` keeps some prefix since the last
sync; `off` may leave a database that cannot be opened.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from simulator.core.calls import StoreFailed, StoreReply
from simulator.core.instants import MICROSECOND, MILLISECOND, SECOND, Duration, Instant
from simulator.core.transitions import NodeName, Transition
from simulator.engine.actions import Loss
from simulator.engine.storage_faults import DATABASE_FULL
from simulator.engine.timeline import Priority, Process, Timeline
from simulator.errors import StoreError
from simulator.ports import Durability, Outcome, Store
from simulator.store_calls import committed, loaded

LOAD_LATENCY: Final = Duration(MILLISECOND)
COMMIT_LATENCY: Final = Duration(100 * MICROSECOND)
"""A commit without its fsync."""

FSYNC_LATENCY: Final = Duration(MILLISECOND)
"""What a commit takes longer under `full`."""

SYNC_PERIOD: Final = Duration(30 * SECOND)
"""Under `normal` and `off`, commits of so long ago have reached the disk."""

BATCH_MAX: Final = 512
"""Commits that are gathered at most."""

Reply = Callable[[StoreReply], None]
StoreOpener = Callable[[], Store]


@dataclass(eq=False, slots=True)
class _Pending:
    """A commit that was asked for; it is dropped when its process dies before the commit."""

    process: Process
    transitions: tuple[Transition, ...]
    reply: Reply


class Database:
    """One database; of one node, or shared by several when they are given the same store.

    Args:
        store: The open store.
        reopen: Opens a new and empty store in its place.
        durability: What a power cut may take.
        ideal: Whether nothing ever befalls it: what every persistence is measured by.

    Attributes:
        shared: Whether several nodes use it; then it is on none of them, and what befalls a node
            does not befall it.
        full: Whether commits fail because the disk is full.
        added_fsync: Extra time of the fsync of a commit.
        commits: Number of commits, for reports.
        fsyncs: How many of them waited for an fsync.
    """

    def __init__(
        self,
        timeline: Timeline,
        store: Store,
        reopen: StoreOpener,
        durability: Durability,
        *,
        ideal: bool = False,
    ) -> None:
        self._ideal = ideal
        self.shared = False
        self.full = False
        self.added_fsync = Duration(0)
        self.commits = 0
        self.fsyncs = 0
        self._timeline = timeline
        self._reopen = reopen
        self._store = store
        self._durability = durability
        self._pending: list[_Pending] = []
        self._busy = False
        self._damage = ""
        self._history: list[tuple[Instant, tuple[Transition, ...]]] = []

    @property
    def store(self) -> Store:
        """The store itself, for observations."""
        return self._store

    @property
    def damage(self) -> str:
        """Why the database cannot be opened; empty when it can."""
        return self._damage

    def load(
        self, node: NodeName, process: Process, reply: Reply, *, with_file: bool = False
    ) -> None:
        """Load a node's state, as for a kubelet that starts."""

        def finish() -> None:
            if self._damage:
                reply(StoreFailed(self._damage))
                return
            try:
                state = loaded(self._store, node, with_file=with_file)
            except StoreError as error:
                reply(StoreFailed(str(error)))
            else:
                reply(state)

        process.after(LOAD_LATENCY, finish)

    def commit(self, process: Process, transitions: tuple[Transition, ...], reply: Reply) -> None:
        """Commit `transitions` (see `Commit`); the reply comes when they are durable."""
        self._pending.append(_Pending(process, transitions, reply))
        if not self._busy:
            self._busy = True
            self._timeline.call_after(Duration(0), self._begin, Priority.COMMIT)

    def apply(self, transitions: tuple[Transition, ...]) -> list[Outcome]:
        """Apply transitions at once, outside virtual time: the state before the run."""
        return self._apply(transitions)

    def break_down(self, damage: str) -> None:
        """Damage the database, or repair it with an empty text."""
        self._damage = "" if self._ideal else damage

    def replace(self) -> None:
        """Put a new, empty database in place, as a recreated node has."""
        if self.shared:
            return
        self._rebuild(())
        self._damage = ""

    def close(self) -> None:
        """Let go of the store."""
        self._store.close()

    def cut_power(self, loss: Loss, chance: random.Random) -> None:
        """Lose what the durability class does not promise."""
        if self._ideal or self.shared or self._durability is Durability.FULL or loss is Loss.NONE:
            return
        oldest = self._timeline.now() - SYNC_PERIOD
        synced = sum(at <= oldest for at, _ in self._history)
        kept = synced if loss is Loss.ALL else chance.randint(synced, len(self._history))
        if kept == len(self._history):
            return
        if self._durability is Durability.OFF and (loss is Loss.ALL or chance.random() < 1 / 2):
            self._damage = "database disk image is malformed"
        else:
            self._rebuild(self._history[:kept])

    def _begin(self) -> None:
        batch, self._pending = self._pending[:BATCH_MAX], self._pending[BATCH_MAX:]
        latency = COMMIT_LATENCY
        if self._durability is Durability.FULL:
            latency = Duration(latency + FSYNC_LATENCY + self.added_fsync)
            self.fsyncs += 1
        self._timeline.call_after(latency, lambda: self._finish(batch))

    def _finish(self, batch: list[_Pending]) -> None:
        alive = [pending for pending in batch if pending.process.is_alive()]
        replies = self._commit(alive) if alive else []
        for pending, reply in zip(alive, replies, strict=True):
            if pending.process.is_alive():
                pending.reply(reply)
        if self._pending:
            self._begin()
        else:
            self._busy = False

    def _commit(self, batch: Sequence[_Pending]) -> list[StoreReply]:
        failure = self._damage or (DATABASE_FULL if self.full and not self._ideal else "")
        if not failure:
            transitions = tuple(each for pending in batch for each in pending.transitions)
            try:
                outcomes = self._apply(transitions)
            except StoreError as error:
                failure = str(error)
            else:
                return _replies(batch, outcomes)
        return [StoreFailed(failure) for _ in batch]

    def _apply(self, transitions: tuple[Transition, ...]) -> list[Outcome]:
        outcomes = self._store.apply(transitions)
        self.commits += 1
        if self._durability is not Durability.FULL:
            self._history.append((self._timeline.now(), transitions))
        return outcomes

    def _rebuild(self, history: Sequence[tuple[Instant, tuple[Transition, ...]]]) -> None:
        """Open a new store and bring it to where `history` leads."""
        self._store.close()
        self._store = self._reopen()
        self._history = list(history)
        for _, transitions in self._history:
            self._store.apply(transitions)


def _replies(batch: Sequence[_Pending], outcomes: Sequence[Outcome]) -> list[StoreReply]:
    remaining = iter(outcomes)
    return [committed([next(remaining) for _ in pending.transitions]) for pending in batch]
