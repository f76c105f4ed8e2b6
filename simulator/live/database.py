"""A database under a live node: the store behind its committer thread (`store.committer`)."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from contextlib import ExitStack, suppress
from functools import partial

from simulator.core.calls import StoreFailed, StoreReply
from simulator.core.instants import Duration
from simulator.core.transitions import NodeName, Transition
from simulator.engine.storage_faults import DATABASE_FULL
from simulator.engine.storage_ports import StoreAnswer
from simulator.engine.timeline import Process
from simulator.errors import StoreError
from simulator.live.tasks import Tasks
from simulator.live.timeline import TURN_S, LiveTimeline
from simulator.ports import Outcome, Store
from simulator.store_calls import committed, loaded
from store.committer import Answer, Committer


class LiveDatabase:
    """One database of all nodes of a server (`simulator.engine.storage_ports.NodeDatabase`).

    Args:
        timeline: Where answers enter.
        store: The open store.
        commit_batch: Most commits that are made one.
        committed: Told of every commit, in a thread: its transitions and how many seconds it took.
        shared: A committer that others use too, and close; it gives its answers on this loop.

    Attributes:
        full: Whether commits fail as on a full disk, because a fault says so.
        added: Time that is added to every commit, because a fault says so.
    """

    def __init__(
        self,
        timeline: LiveTimeline,
        store: Store,
        *,
        commit_batch: int,
        committed: Callable[[int, float], None],
        shared: Committer | None = None,
    ) -> None:
        self.full = False
        self.added = Duration(0)
        self._timeline = timeline
        self._store = store
        self._commits = 0
        self._tasks = Tasks()
        self._answers: deque[Callable[[], None]] = deque()
        self._is_entering = False
        self._is_applying = False
        self._loop = asyncio.get_running_loop()
        self._shared = shared
        if shared is None:
            self._committer = Committer(
                store, commit_batch=commit_batch, committed=committed, deliver=self._deliver
            )
        else:
            self._committer = shared
            shared.committed = committed

    @property
    def store(self) -> Store:
        """The store itself, for observations."""
        return self._store

    @property
    def damage(self) -> str:
        """Nothing: a database that cannot be read says so when it is asked."""
        return ""

    @property
    def commits(self) -> int:
        """Number of answered commits."""
        return self._commits

    def apply(self, transitions: tuple[Transition, ...]) -> list[Outcome]:
        """Apply transitions before the nodes begin; the loop waits for it."""
        self._is_applying = True
        try:
            return self._committer.commit(transitions).result()
        finally:
            self._is_applying = False

    def load(
        self, node: NodeName, process: Process, reply: StoreAnswer, *, with_file: bool = False
    ) -> None:
        """Load a node's state for a process, in a thread."""

        def read() -> StoreReply:
            try:
                return loaded(self._store, node, with_file=with_file)
            except StoreError as error:
                return StoreFailed(str(error))

        def enter(answer: StoreReply) -> None:
            if process.is_alive():
                reply(answer)

        async def run() -> None:
            with self._timeline.held():
                answer = await asyncio.to_thread(read)
            self._timeline.enter(lambda: enter(answer))

        self._tasks.start(run(), f"load {node}")

    def commit(
        self, process: Process, transitions: tuple[Transition, ...], reply: StoreAnswer
    ) -> None:
        """Commit transitions; the reply comes when they are durable."""
        under_way = ExitStack()

        def done(answer: Answer) -> None:
            under_way.close()
            told = _told(answer)
            self._commits += 1
            if process.is_alive():
                process.delayed(self.added, lambda: reply(told))

        def entered(answer: Answer) -> None:
            self._enter([partial(done, answer)])

        if self.full:
            process.after(Duration(0), lambda: reply(StoreFailed(DATABASE_FULL)))
            return
        under_way.enter_context(self._timeline.held())
        try:
            self._committer.submit(transitions, done if self._shared is None else entered)
        except StoreError as error:
            under_way.close()
            failure = StoreFailed(str(error))
            process.after(Duration(0), lambda: reply(failure))

    async def close(self) -> None:
        """Write what waits and end the committer; the store stays open."""
        await self._tasks.close()
        if self._shared is None:
            await asyncio.to_thread(self._committer.close)

    def _deliver(self, answers: list[Callable[[], None]]) -> None:
        """Take the answers of one commit over from the committer's thread.

        While the loop itself waits for them, they are given at once.
        """
        if self._is_applying:
            for answer in answers:
                answer()
            return
        with suppress(RuntimeError):  # The loop is closed: nobody waits for them any more.
            self._loop.call_soon_threadsafe(self._enter, answers)

    def _enter(self, answers: list[Callable[[], None]]) -> None:
        """Let answers enter in order, those of a long commit in several turns of the loop."""
        self._answers.extend(answers)
        if not self._is_entering:
            self._enter_some()

    def _enter_some(self) -> None:
        end = self._loop.time() + TURN_S
        try:
            while self._answers and self._loop.time() < end:
                self._timeline.enter(self._answers.popleft())
        finally:
            self._is_entering = bool(self._answers)
            if self._is_entering:
                self._loop.call_soon(self._enter_some)


def _told(answer: Answer) -> StoreReply:
    return StoreFailed(str(answer)) if isinstance(answer, StoreError) else committed(answer)
