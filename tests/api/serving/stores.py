"""A committer without a thread: what was submitted is committed when a test says so."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from typing_extensions import override

from simulator.errors import StoreError
from simulator.object_ports import ObjectOutcome, ObjectWrite
from store.memory.objects import MemoryObjectStore

Done = Callable[[list[ObjectOutcome] | StoreError], None]


class HeldCommits:
    """Writes that wait until they are committed, together, or fail.

    Args:
        store: Where they are committed.
    """

    def __init__(self, store: MemoryObjectStore) -> None:
        self.store = store
        self.waiting: list[tuple[Sequence[ObjectWrite], Done]] = []

    def submit_objects(self, writes: Sequence[ObjectWrite], done: Done) -> None:
        self.waiting.append((writes, done))

    def commit(self) -> None:
        waiting, self.waiting = self.waiting, []
        outcomes = [(done, self.store.apply(writes)) for writes, done in waiting]
        for done, outcome in outcomes:
            done(outcome)

    def fail(self, error: StoreError) -> None:
        waiting, self.waiting = self.waiting, []
        for _, done in waiting:
            done(error)


class CommitsAtOnce(HeldCommits):
    """Writes that are committed in the moment in which they are submitted."""

    @override
    def submit_objects(self, writes: Sequence[ObjectWrite], done: Done) -> None:
        done(self.store.apply(writes))
