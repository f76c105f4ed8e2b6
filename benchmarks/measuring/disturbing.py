"""What befalls nodes during a phase: kubelets restart, nodes reboot, fail or lose the API server.

The pods of such a node are admitted again. Where nothing but that happens in a phase they are what
is measured: each counts from the instant at which its kubelet may begin.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from benchmarks.measuring.clocks import Driver
from benchmarks.measuring.cluster import node_name
from benchmarks.measuring.following import READMISSION, RESTART, Follower
from benchmarks.measuring.windows import Window
from benchmarks.profiles.disturbances import Disturbance, DisturbanceKind
from benchmarks.results.rows import Measure
from simulator.core.instants import after
from simulator.core.transitions import NodeName
from simulator.engine.actions import ApiOutage, RebootNode, RestartKubelet
from simulator.engine.api_objects import ApiPod
from simulator.engine.timeline import Priority


class Disturber:
    """Lets things befall nodes.

    Args:
        driver: Lets the world's time pass.
        follower: Is to follow the pods that are admitted again.
        disturbances: What befalls whom, and when.
        window: Measures the pods that are admitted again; None where others are measured.

    Attributes:
        under_way: How many of the disturbances are not over: their nodes do not serve again.
    """

    def __init__(
        self,
        driver: Driver,
        follower: Follower,
        disturbances: Sequence[Disturbance],
        window: Window | None,
    ) -> None:
        self.under_way = len(disturbances)
        self._driver = driver
        self._world = driver.world
        self._follower = follower
        self._disturbances = disturbances
        self._window = window
        self._names: list[str] = []
        self._cut_off: list[NodeName] = []
        self._is_ended = False

    def begin(self) -> None:
        """Plan everything; to be called in an event, at the start of the phase."""
        begun = self._world.timeline.now()
        for number, each in enumerate(self._disturbances):
            due = after(begun, each.at)
            self._world.timeline.call_at(due, partial(self._befall, each, number), Priority.STEP)

    def end(self) -> None:
        """Let nothing befall nodes any more."""
        self._is_ended = True

    def is_over(self) -> bool:
        """Tell whether every node that was disturbed serves again."""
        if self.under_way or not all(map(self._world.api.is_reachable, self._cut_off)):
            return False
        return all(self._world.completed_at(name) is not None for name in self._names)

    def _befall(self, what: Disturbance, number: int) -> None:
        if self._is_ended:
            return
        node = node_name(what.node)
        self.under_way -= 1
        name = f"{what.kind.value}-{number}-{node}-{self._world.now}"
        if what.kind is DisturbanceKind.API_OUTAGE:
            self._world.perform(ApiOutage(node, what.down), name)
            self._cut_off.append(node)
            return
        if what.kind is DisturbanceKind.RESTART_KUBELET:
            awaited = READMISSION
            self._world.perform(RestartKubelet(node), name)
        else:
            awaited = RESTART
            self._world.perform(RebootNode(node, what.down), name)
        self._names.append(name)
        if self._window is not None:
            due_ns = self._driver.now_ns() + what.down
            for pod in self._world.api.pods(node):
                self._expect(pod, due_ns, awaited)

    def _expect(self, pod: ApiPod, due_ns: int, awaited: frozenset[Measure]) -> None:
        if self._window is None or pod.deleting or pod.status.is_terminal:
            return
        self._window.offer(due_ns, due_ns)
        self._follower.follow(pod.uid, self._follower.begin(due_ns, self._window, awaited))
