"""A load of API calls: what a kubelet's client lets through, with no pod around it (S12.1)."""

from __future__ import annotations

from functools import partial

from typing_extensions import override

from benchmarks.measuring.offering import Offering
from benchmarks.measuring.windows import Followed
from benchmarks.profiles.schedule import Arrival
from benchmarks.results.rows import Measure
from simulator.core.api_calls import ApiUnavailable
from simulator.core.pods import PodUid
from simulator.core.transitions import PodIdentity
from simulator.engine.api_requests import GetPod, RequestReply

NOBODY = PodIdentity(PodUid("00000000-0000-4000-8000-000000000000"), "default", "nobody")
"""The pod that is asked for; there is none."""


class CallOffering(Offering):
    """A phase in which each arrival is one GET by its node's API client, the nodes in turn."""

    @override
    def _offer(self, arrival: Arrival, due_ns: int) -> None:
        nodes = list(self._driver.world.nodes.values())
        kubelet = nodes[self.offered % len(nodes)].kubelet
        self.offered += 1
        window = self._window(due_ns - self.begun_ns)
        if window is not None:
            window.offer(due_ns, self._driver.now_ns())
        followed = Followed(due_ns, window, {Measure.ADMISSION})
        if window is not None:
            window.begin(followed)
        if kubelet is None:
            self._fail(followed)
        else:
            kubelet.api.main.send(GetPod(NOBODY), partial(self._answered, followed))

    def _answered(self, followed: Followed, reply: RequestReply) -> None:
        if isinstance(reply, ApiUnavailable):
            self._fail(followed)
        elif followed.window is not None:
            followed.window.reached(followed, Measure.ADMISSION, self._driver.now_ns())

    @staticmethod
    def _fail(followed: Followed) -> None:
        if followed.window is not None:
            followed.window.failed(followed)
