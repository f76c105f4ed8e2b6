"""What a kubelet does between its persistence and the API server.

It learns from the first LIST, writes what is owed in the turns of its loop, and notices by its own
watch that a write has come through (persistence-designs 1.1, 1.2).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial

from simulator.core.api_calls import ApiReply, ApiStored, AwaitEcho
from simulator.core.instants import Duration
from simulator.core.pods import Pod, PodUid
from simulator.engine.kubelet_parts import KubeletParts
from simulator.engine.latencies import LIST_RETRY


class ApiUpkeep:
    """The API side of one kubelet process's device manager."""

    def __init__(self, parts: KubeletParts) -> None:
        self._host = parts.host
        self._driver = parts.driver
        self._manager = parts.manager.api
        self._loop = parts.loop
        self._started_at = parts.host.timeline.now()
        self._is_planned = self._is_flushing = False
        self._seen: dict[PodUid, int] = {}
        self._echoes: defaultdict[PodUid, list[tuple[int, Callable[[ApiReply], None]]]]
        self._echoes = defaultdict(list)

    def learn(self, listed: Callable[[], Sequence[Pod]], done: Callable[[], None]) -> None:
        """Learn from the pods of the first LIST; `done` is called when all is known.

        Args:
            listed: Returns the pods that the API has now; each try has a list of its own.
            done: Whoever takes up pods.
        """

        def learned(error: str) -> None:
            if error:
                self._driver.process.after(LIST_RETRY, partial(self.learn, listed, done))
            else:
                done()

        self._driver.run_store(self._manager.pods_listed(listed()), learned)

    # What is owed

    def plan_flush(self) -> None:
        """Plan the next flush, if something is owed and none is planned or under way."""
        period = self._manager.flush_period
        if self._is_planned or self._is_flushing or period is None or not self._manager.is_owed:
            return
        self._is_planned = True
        age = self._host.timeline.now() - self._started_at
        rest = Duration(period - age % period) if period else Duration(0)
        self._plan(rest)

    def _plan(self, rest: Duration) -> None:
        self._is_planned = True
        self._driver.process.after(rest, lambda: self._loop.do(self._flush))

    def _flush(self) -> None:
        self._is_planned, self._is_flushing = False, True
        self._driver.run_store(self._manager.flush(), self._flushed)

    def _flushed(self, answered: bool) -> None:  # noqa: FBT001 - the result of the flush
        self._is_flushing = False
        if answered:
            self.plan_flush()
        elif self._manager.is_owed:
            self._plan(Duration(max(self._manager.flush_period or 0, LIST_RETRY)))

    # The kubelet's own watch

    def await_echo(self, call: AwaitEcho, reply: Callable[[ApiReply], None]) -> None:
        """Answer when the watch has shown a pod in this revision, or a later one."""
        seen = self._seen.get(call.pod.uid, -1)
        if seen >= call.revision:
            reply(ApiStored(seen))
        else:
            self._echoes[call.pod.uid].append((call.revision, reply))

    def saw(self, uid: PodUid) -> None:
        """Take note of a pod that the watch has shown; one that is gone answers all who wait."""
        pod = self._host.api.pod(uid)
        waiting = self._echoes.pop(uid, [])
        if pod is None:
            self._seen.pop(uid, None)
        else:
            self._seen[uid] = pod.revision
        for revision, reply in waiting:
            if pod is None or pod.revision >= revision:
                reply(ApiStored(revision))
            else:
                self._echoes[uid].append((revision, reply))
