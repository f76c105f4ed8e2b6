"""Group commit: many callers, one thread that writes, one commit for all that wait.

The thread takes everything that waits, up to `commit_batch` writes, and commits it at once. There
is no delay to gather more: while one commit waits for the disk the next batch gathers by itself,
and a single write is a batch of one. In virtual time nobody needs this thread: the engine gathers
what is due at one instant and calls the store's `apply` itself.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from itertools import islice
from queue import Empty, SimpleQueue
from typing import Final

from simulator.core.transitions import Transition
from simulator.errors import StoreError, StoreUnavailableError
from simulator.object_ports import ObjectOutcome, ObjectWrite
from simulator.ports import Outcome, Store

COMMIT_BATCH: Final = 512
PENDING_MAX: Final = 65_536
"""Writes that may wait; a node has one admission in flight, so this is very many nodes."""

Answer = list[Outcome] | StoreError
Done = Callable[[Answer], None]
ObjectAnswer = list[ObjectOutcome] | StoreError
ObjectsDone = Callable[[ObjectAnswer], None]
Give = Callable[[], None]
"""Gives one caller its answer."""
Deliver = Callable[[list[Give]], None]


@dataclass(frozen=True, slots=True)
class _Write:
    """Transitions of one caller and where the answer goes."""

    transitions: Sequence[Transition]
    done: Done

    def answer(self, outcomes: Iterator[Outcome], _: Iterator[ObjectOutcome]) -> Give:
        """Take this caller's outcomes, which come next."""
        return partial(self.done, list(islice(outcomes, len(self.transitions))))


@dataclass(frozen=True, slots=True)
class _ObjectWrites:
    """Writes of objects of one caller and where the answer goes."""

    writes: Sequence[ObjectWrite]
    done: ObjectsDone

    def answer(self, _: Iterator[Outcome], outcomes: Iterator[ObjectOutcome]) -> Give:
        """Take this caller's outcomes, which come next."""
        return partial(self.done, list(islice(outcomes, len(self.writes))))


def _deliver_here(answers: list[Give]) -> None:
    for answer in answers:
        answer()


class Committer:
    """The one thread that writes to a store, from construction to `close`.

    Args:
        store: Nobody else may call its `apply` meanwhile.
        commit_batch: Most writes in one commit; 1 is no group commit.
        committed: Told of every commit, in the committing thread: how many transitions and writes
            of objects it had and how many seconds it took.
        deliver: Hands over the answers of a whole batch, for instance to an event loop with one
            `call_soon_threadsafe`; by default they are given in the committing thread.

    Attributes:
        committed: As given.
    """

    def __init__(
        self,
        store: Store,
        *,
        commit_batch: int = COMMIT_BATCH,
        committed: Callable[[int, float], None] = lambda *_: None,
        deliver: Deliver = _deliver_here,
    ) -> None:
        self.committed = committed
        self._store = store
        self._commit_batch = commit_batch
        self._deliver = deliver
        self._waiting: SimpleQueue[_Write | _ObjectWrites | None] = SimpleQueue()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="committer")
        self._thread.start()

    def submit(self, transitions: Sequence[Transition], done: Done) -> None:
        """Write transitions; `done` is given their outcomes, or the error, when it is decided.

        Raises:
            StoreUnavailableError: Too many writes wait, or the committer is closed.
        """
        self._put(_Write(transitions, done))

    def submit_objects(self, writes: Sequence[ObjectWrite], done: ObjectsDone) -> None:
        """Write objects; `done` is given their outcomes, or the error, when it is decided.

        Each write has an outcome of its own; together they are of one commit, with whatever else
        waits. Answers come in order of revision, whoever wrote, so that who publishes changes when
        it is answered publishes them in order.

        Raises:
            StoreUnavailableError: As `submit`.
        """
        self._put(_ObjectWrites(writes, done))

    def commit(self, transitions: Sequence[Transition]) -> Future[list[Outcome]]:
        """Write transitions; the future has their outcomes, or raises the error.

        Raises:
            StoreUnavailableError: As `submit`.
        """
        future: Future[list[Outcome]] = Future()

        def done(answer: Answer) -> None:
            if isinstance(answer, StoreError):
                future.set_exception(answer)
            else:
                future.set_result(answer)

        self.submit(transitions, done)
        return future

    def close(self) -> None:
        """Write what waits and end the thread; the store stays open."""
        if not self._closed:
            self._closed = True
            self._waiting.put(None)
            self._thread.join()

    def _put(self, write: _Write | _ObjectWrites) -> None:
        if self._closed:
            reason = "the committer is closed; nothing is written any more"
            raise StoreUnavailableError(reason)
        if self._waiting.qsize() >= PENDING_MAX:
            reason = f"{PENDING_MAX} writes wait for the database already; try again later"
            raise StoreUnavailableError(reason)
        self._waiting.put(write)

    def _run(self) -> None:
        open_ = True
        while open_:
            batch: list[_Write | _ObjectWrites] = []
            taken = self._waiting.get()
            while taken is not None:
                batch.append(taken)
                if len(batch) >= self._commit_batch:
                    break
                try:
                    taken = self._waiting.get_nowait()
                except Empty:
                    break
            open_ = taken is not None
            if batch:
                self._commit(batch)

    def _commit(self, batch: list[_Write | _ObjectWrites]) -> None:
        transitions = [
            each for write in batch if isinstance(write, _Write) for each in write.transitions
        ]
        writes = [
            each for write in batch if isinstance(write, _ObjectWrites) for each in write.writes
        ]
        begun = time.perf_counter()
        try:
            if writes:
                outcomes, of_objects = self._store.apply_together(transitions, writes)
            else:
                outcomes, of_objects = self._store.apply(transitions), []
        except StoreError as error:
            self._deliver([partial(write.done, error) for write in batch])
            return
        except Exception as error:
            # Whatever went wrong, those who wait must hear of it before the thread ends.
            failed = StoreUnavailableError(f"the committer ended: {error!r}")
            self._closed = True
            self._deliver([partial(write.done, failed) for write in batch])
            self._refuse_waiting(failed)
            raise
        self.committed(len(transitions) + len(writes), time.perf_counter() - begun)
        left, left_of_objects = iter(outcomes), iter(of_objects)
        self._deliver([write.answer(left, left_of_objects) for write in batch])

    def _refuse_waiting(self, failed: StoreError) -> None:
        while True:
            try:
                write = self._waiting.get_nowait()
            except Empty:
                return
            if write is not None:
                self._deliver([partial(write.done, failed)])
