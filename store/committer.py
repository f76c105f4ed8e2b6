"""Many writers, one commit: a thread that takes whatever waits and applies it as one batch.

There is no delay: while one commit is under way the next writes gather, so a quiet database commits
each write at once and a busy one commits many together (`commitBatch`). A refused write does not
fail its neighbours. When a commit fails, all that were in it fail, and the next ones are tried.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import Final, Self

from simulator.core.transitions import Transition
from simulator.ports import Outcome, Store

BATCH_MAX: Final = 512
"""Writes in one commit, as measured: larger batches gain nothing more."""

_Write = tuple[Sequence[Transition], Future[list[Outcome]]]


class Committer:
    """Applies writes to a store in a thread of its own, in the order in which they come.

    What waits is bounded by what callers have in flight: a node submits a write and awaits it.
    """

    def __init__(self, store: Store, *, batch_max: int = BATCH_MAX) -> None:
        """Start the thread.

        Args:
            store: Written by this committer alone until it is closed; who opened it closes it.
            batch_max: Writes in one commit at most, 1 or more.
        """
        self._store = store
        self._batch_max = batch_max
        self._waiting: SimpleQueue[_Write | None] = SimpleQueue()
        self._is_closed = False
        self._closing = Lock()
        self._thread = Thread(target=self._run, name="committer", daemon=True)
        self._thread.start()

    def submit(self, transitions: Sequence[Transition]) -> Future[list[Outcome]]:
        """Hand in a write.

        Returns:
            A future with one outcome for each transition, done when all of them are durable, or
            with the `StoreError` because of which none of the batch was applied.

        Raises:
            RuntimeError: The committer is closed.
        """
        done: Future[list[Outcome]] = Future()
        with self._closing:
            if self._is_closed:
                reason = "the committer is closed"
                raise RuntimeError(reason)
            self._waiting.put((transitions, done))
        return done

    def close(self) -> None:
        """Commit what waits and end the thread."""
        with self._closing:
            if not self._is_closed:
                self._is_closed = True
                self._waiting.put(None)
        self._thread.join()

    def __enter__(self) -> Self:
        """Return the committer itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    def _run(self) -> None:
        for batch in self._batches():
            wanted = [write for write in batch if write[1].set_running_or_notify_cancel()]
            self._commit(wanted)

    def _batches(self) -> Iterator[list[_Write]]:
        """Wait for a write, take all that wait with it, until the end is asked for."""
        while (first := self._waiting.get()) is not None:
            batch = [first]
            while len(batch) < self._batch_max:
                try:
                    following = self._waiting.get_nowait()
                except Empty:
                    break
                if following is None:
                    yield batch
                    return
                batch.append(following)
            yield batch

    def _commit(self, batch: list[_Write]) -> None:
        try:
            outcomes = iter(
                self._store.apply([one for transitions, _ in batch for one in transitions])
            )
        except Exception as error:  # noqa: BLE001 - whoever waits for the write is told, whatever it was
            for _, done in batch:
                done.set_exception(error)
            return
        for transitions, done in batch:
            done.set_result([next(outcomes) for _ in transitions])
