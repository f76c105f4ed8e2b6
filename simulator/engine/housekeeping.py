"""The kubelet's housekeeping loop: it kills containers that no pod worker knows (S5.10).

The loop has its turn every 2 s from the start of the process; here a turn is planned only when
there is something to do.
"""

from __future__ import annotations

from simulator.core.instants import Duration
from simulator.core.pods import PodUid
from simulator.engine.kubelet_parts import KubeletParts
from simulator.engine.latencies import HOUSEKEEPING_PERIOD
from simulator.engine.local_pods import Stage
from simulator.engine.pod_workers import PodWorkers


class Housekeeping:
    """The housekeeping of one kubelet process."""

    def __init__(self, parts: KubeletParts, workers: PodWorkers) -> None:
        self._parts = parts
        self._workers = workers
        self._started_at = parts.host.timeline.now()
        self._planned = False

    def plan(self) -> None:
        """Look for orphans at the next turn, if there are any."""
        if self._planned or not self._orphans():
            return
        self._planned = True
        age = self._parts.host.timeline.now() - self._started_at
        rest = Duration(HOUSEKEEPING_PERIOD - age % HOUSEKEEPING_PERIOD)
        self._parts.driver.process.after(rest, lambda: self._parts.loop.do(self._take_turn))

    def _take_turn(self) -> None:
        """Kill orphans, unless a config source is not ready: then they may be known yet."""
        self._planned = False
        if not self._parts.facts.sources_ready:
            self.plan()
            return
        for uid in self._orphans():
            self._workers.orphaned(uid, gone=self._parts.pods.get(uid) is None)

    def _orphans(self) -> list[PodUid]:
        """Return the pods with running containers that no pod worker knows."""
        running = dict.fromkeys(each.pod for each in self._parts.host.runtime.running())
        return [uid for uid in running if self._is_workerless(uid)]

    def _is_workerless(self, uid: PodUid) -> bool:
        local = self._parts.pods.get(uid)
        return local is None or local.stage is Stage.REJECTED
