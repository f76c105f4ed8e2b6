"""The lives of the pods that a load brings: creation, lifetime, end.

Pods are created in the API, bound to a node with room; one that finds none waits for it, as it
would in the scheduler's queue, and its latency goes on. A lifetime begins when the API shows the
pod running. At its end the pod is deleted, gracefully, or finishes and is deleted then.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

from benchmarks.measuring.clocks import Driver
from benchmarks.measuring.cluster import NAMESPACE, pod_spec
from benchmarks.measuring.following import Follower
from benchmarks.measuring.room import Room
from benchmarks.measuring.windows import Followed, Window
from benchmarks.profiles.profile import PodTemplate, Profile
from benchmarks.profiles.schedule import Arrival
from simulator.core.instants import Duration
from simulator.core.pods import PodUid
from simulator.core.records import PodDeleted, PodNotCreated, PodPhaseChanged, Stamped
from simulator.core.resources import ResourceName
from simulator.core.transitions import NodeName
from simulator.engine.api_objects import FAILED, RUNNING, SUCCEEDED, ApiPod
from simulator.engine.spec import PodSpec

WAITING_MAX: Final = 200_000
"""Pods that may wait for room; of those behind them it is only counted that they came."""


@dataclass(frozen=True, slots=True)
class _Kind:
    """A template, ready for use."""

    template: PodTemplate
    spec: PodSpec
    wanted: Mapping[ResourceName, int]


@dataclass(eq=False, slots=True)
class _Life:
    """A pod that is created.

    Attributes:
        followed: What is known of how far it is.
        pod: None until the API has it.
        holds: Whether its devices are taken from the node's room.
        ends: Whether its end is planned or has come.
    """

    node: NodeName
    kind: _Kind
    lifetime: Duration | None
    followed: Followed
    pod: ApiPod | None = None
    holds: bool = True
    ends: bool = False


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A pod that has found no room yet."""

    arrival: Arrival
    due_ns: int
    window: Window | None


class Lives:
    """The pods of a load.

    Args:
        driver: Lets the world's time pass.
        profile: With the templates.
        room: Where pods can go.
        follower: Is to follow them.
        grace_min: How long their containers take to end at least: an API server removes a pod
            without any grace at once, and does not ask the kubelet.
        namespace: Where pods are created.
    """

    def __init__(  # noqa: PLR0913 - what a load is made of
        self,
        driver: Driver,
        profile: Profile,
        room: Room,
        follower: Follower,
        *,
        grace_min: Duration = Duration(0),
        namespace: str = NAMESPACE,
    ) -> None:
        self._driver = driver
        self._world = driver.world
        self._room = room
        self._follower = follower
        self._grace_min = grace_min
        self._namespace = namespace
        self._resources = [plugin.resource for plugin in profile.plugins]
        self._kinds = {name: self._kind(one) for name, one in profile.templates.items()}
        self._awaited: dict[str, _Life] = {}
        self._lives: dict[PodUid, _Life] = {}
        self._waiting: deque[_Waiting] = deque()
        self._made = 0

    @property
    def utilization(self) -> float:
        """The share of devices that pods hold or wait for."""
        return self._room.utilization

    @property
    def is_waited_for(self) -> bool:
        """Whether pods wait for room."""
        return bool(self._waiting)

    @property
    def are_over(self) -> bool:
        """Whether no pod is left."""
        return not self._lives and not self._awaited and not self._waiting

    def offer(self, arrival: Arrival, due_ns: int, window: Window | None) -> None:
        """Let a pod come, whose latency counts from `due_ns`."""
        if not self._waiting:
            kind = self._kinds[arrival.template]
            node = self._room.find(kind.wanted)
            if node is not None:
                self._create(arrival, due_ns, window, node)
                return
        if window is not None:
            window.waited += 1
        if len(self._waiting) < WAITING_MAX:
            self._waiting.append(_Waiting(arrival, due_ns, window))
        elif window is not None:
            window.skip(due_ns, self._driver.now_ns())

    def give_up_waiting(self) -> None:
        """Count those who wait for room as skipped, with the time that they have waited."""
        now_ns = self._driver.now_ns()
        while self._waiting:
            each = self._waiting.popleft()
            if each.window is not None:
                each.window.skip(each.due_ns, now_ns)

    def end_all(self) -> None:
        """Delete every pod."""
        self.give_up_waiting()
        for life in list(self._lives.values()):
            self._delete(life)

    def on(self, node: NodeName) -> Iterator[ApiPod]:
        """Iterate over the pods of a node that run or were to run."""
        return (
            life.pod
            for life in self._lives.values()
            if life.pod is not None and life.node == node and not life.ends
        )

    def take(self, stamped: Stamped) -> None:
        """Take a record of the world; what follows from it happens in an event of its own."""
        record = stamped.record
        if isinstance(record, PodPhaseChanged):
            life = self._lives.get(record.pod) or self._adopted(record.pod, record.name)
            if life is not None:
                self._phase(life, record.phase)
        elif isinstance(record, PodDeleted):
            life = self._lives.pop(record.pod, None)
            if life is not None:
                self._leave(life)
        elif isinstance(record, PodNotCreated):
            life = self._awaited.pop(record.name, None)
            if life is not None:
                self._follower.give_up(life.followed)
                self._leave(life)

    def _kind(self, template: PodTemplate) -> _Kind:
        counts = {resource: template.devices(resource) for resource in self._resources}
        wanted = {resource: count for resource, count in counts.items() if count}
        spec = pod_spec(template, grace_min=self._grace_min, namespace=self._namespace)
        return _Kind(template, spec, wanted)

    def _create(self, arrival: Arrival, due_ns: int, window: Window | None, node: NodeName) -> None:
        kind = self._kinds[arrival.template]
        self._room.take(node, kind.wanted)
        self._made += 1
        name = f"{arrival.template}-{self._made}"
        followed = self._follower.begin(due_ns, window)
        self._awaited[name] = _Life(node, kind, arrival.lifetime, followed)
        self._world.factory.create(kind.spec, name=name, node=node)

    def _adopted(self, uid: PodUid, name: str) -> _Life | None:
        """Know a pod by its uid, which a server may have given it, once the API has it."""
        life = self._awaited.pop(name, None)
        if life is not None:
            life.pod = self._world.api.pod(uid)
            self._lives[uid] = life
            self._follower.follow(uid, life.followed)
        return life

    def _phase(self, life: _Life, phase: str) -> None:
        if phase == RUNNING and life.lifetime is not None and not life.ends:
            life.ends = True
            self._world.timeline.call_after(life.lifetime, partial(self._end, life))
        elif phase in {FAILED, SUCCEEDED}:
            self._leave(life)
            self._world.timeline.call_after(Duration(0), partial(self._delete, life))

    def _end(self, life: _Life) -> None:
        """A pod's lifetime is over."""
        if life.pod is None or life.pod.deleted:
            return
        if not life.kind.template.finishes:
            self._delete(life)
            return
        node = self._world.nodes[life.node]
        node.runtime.finish(life.pod.uid, succeeded=True)
        if node.kubelet is not None:
            node.kubelet.container_exited(life.pod.uid)

    def _delete(self, life: _Life) -> None:
        life.ends = True
        if life.pod is not None and not life.pod.deleted and not life.pod.deleting:
            self._world.api.mark_deleting(life.pod)

    def _leave(self, life: _Life) -> None:
        """A pod holds its devices no longer; who waits for them comes next."""
        if not life.holds:
            return
        life.holds = False
        self._room.give_back(life.node, life.kind.wanted)
        if self._waiting:
            self._world.timeline.call_after(Duration(0), partial(self._fill, life.node))

    def _fill(self, node: NodeName) -> None:
        """Let those who have waited longest have the room of a node."""
        while self._waiting:
            first = self._waiting[0]
            if not self._room.has(node, self._kinds[first.arrival.template].wanted):
                return
            self._waiting.popleft()
            self._create(first.arrival, first.due_ns, first.window, node)
