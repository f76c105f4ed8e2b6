"""Pods come and go on many nodes, in an open loop, and every admission waits for its durable write.

Each node admits one pod after the other, as a kubelet does; with `database` all share one database.
So `commitBatch` can gather only as many writes as there are nodes with an admission in flight. A
node is full: for each arrival its oldest pod has left, and its devices are freed by the admission
itself.
"""

from __future__ import annotations

import random
import time
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from itertools import count
from queue import Empty, SimpleQueue
from typing import Final

from benchmarks import workload
from benchmarks.driving import answer_plugin
from benchmarks.nodes import MeasuredNode
from benchmarks.open_loop import Latencies, poisson_arrivals
from benchmarks.writers import Writers
from simulator.core.calls import (
    AllocateCall,
    Decision,
    PreferredAllocationCall,
    PreStartContainerCall,
    Reply,
    StoreReply,
    of_store,
)
from simulator.core.pods import Pod
from simulator.core.refusals import Admission

_SECOND_NS: Final = 1_000_000_000


@dataclass(frozen=True, slots=True)
class ChurnLoad:
    """How much comes, and on what.

    Attributes:
        devices: On each node; a pod takes one.
        rate: Pods per second over all nodes, as Poisson arrivals.
        drain_seconds: How long what is left may take after the last arrival.
    """

    nodes: int = 200
    devices: int = 8
    rate: float = 1_000.0
    seconds: float = 4.0
    drain_seconds: float = 1.0
    seed: int = 1


@dataclass(slots=True)
class ChurnResult:
    """What one run gave.

    Attributes:
        offered, served: Pods.
        elapsed: Seconds until the last one was served, or until the run was cut.
        latencies: From the scheduled instant to the durable admission; pods that were not served
            count with the time they had waited when the run was cut.
    """

    offered: int = 0
    served: int = 0
    elapsed: float = 0.0
    latencies: Latencies = field(default_factory=Latencies)


def churn(load: ChurnLoad, nodes: Sequence[MeasuredNode], writers: Writers) -> ChurnResult:
    """Let pods come and go on nodes that are full and whose plugins are connected."""
    return _Churn(load, [_Node(node) for node in nodes], writers).run()


class _Node:
    """A node under churn: its pods, oldest first, and the arrivals that wait for their turn."""

    def __init__(self, measured: MeasuredNode) -> None:
        self.measured = measured
        self.pods: deque[Pod] = deque(measured.facts.active_pods.values())
        self.coming: Iterator[Pod] = map(workload.pod, count(measured.devices))
        self.waiting: deque[int] = deque()
        self.decision: Decision[Admission] | None = None


class _Churn:
    """One run: a single thread decides, the writers write."""

    def __init__(self, load: ChurnLoad, nodes: Sequence[_Node], writers: Writers) -> None:
        self.result = ChurnResult()
        self._load = load
        self._nodes = nodes
        self._writers = writers
        self._replies: SimpleQueue[tuple[_Node, Future[StoreReply]]] = SimpleQueue()
        self._started_ns = 0
        self._in_flight = 0

    def run(self) -> ChurnResult:
        """Let the arrivals come and serve them."""
        load = self._load
        chance = random.Random(load.seed)  # noqa: S311 - which node is no secret
        arrivals = deque(
            (at, chance.randrange(load.nodes))
            for at in poisson_arrivals(load.rate, load.seconds, seed=load.seed)
        )
        self.result.offered = len(arrivals)
        limit_ns = round((load.seconds + load.drain_seconds) * _SECOND_NS)
        self._started_ns = time.perf_counter_ns()
        while (arrivals or self._in_flight) and self._elapsed_ns() < limit_ns:
            while arrivals and arrivals[0][0] <= self._elapsed_ns():
                at, index = arrivals.popleft()
                self._arrive(self._nodes[index], at)
            self._resume_one(arrivals[0][0] if arrivals else limit_ns)
        self.result.elapsed = self._elapsed_ns() / _SECOND_NS
        self._count_unserved([at for at, _ in arrivals])
        return self.result

    def _elapsed_ns(self) -> int:
        return time.perf_counter_ns() - self._started_ns

    def _arrive(self, node: _Node, at: int) -> None:
        node.waiting.append(at)
        if node.decision is None:
            self._begin(node)

    def _begin(self, node: _Node) -> None:
        """Let the oldest pod leave and begin to admit a new one."""
        facts = node.measured.facts
        del facts.active_pods[node.pods.popleft().uid]
        pod = next(node.coming)
        node.pods.append(pod)
        facts.active_pods.add(pod)
        node.decision = node.measured.manager.admit(pod)
        self._in_flight += 1
        self._go_on(node, None)

    def _resume_one(self, until_ns: int) -> None:
        """Wait for a reply of a writer, at most until an instant, and resume its node."""
        wait = max(until_ns - self._elapsed_ns(), 0) / _SECOND_NS
        try:
            node, done = self._replies.get(timeout=wait)
        except Empty:
            return
        self._go_on(node, done.result())

    def _go_on(self, node: _Node, reply: Reply | None) -> None:
        """Drive a decision to its next write or to its end."""
        decision = node.decision
        if decision is None:
            return
        try:
            call = next(decision) if reply is None else decision.send(reply)
            while isinstance(call, AllocateCall | PreferredAllocationCall | PreStartContainerCall):
                call = decision.send(answer_plugin(call))
        except StopIteration as end:
            self._finish(node, end.value)
            return
        self._writers.submit(node.measured.name, of_store(call)).add_done_callback(
            lambda done: self._replies.put((node, done))
        )

    def _finish(self, node: _Node, admission: Admission) -> None:
        if not admission.admitted:
            raise RuntimeError(admission.message)
        self.result.latencies.record(self._elapsed_ns() - node.waiting.popleft())
        self.result.served += 1
        node.decision = None
        node.measured.manager.take_records()
        self._in_flight -= 1
        if node.waiting:
            self._begin(node)

    def _count_unserved(self, never_begun: list[int]) -> None:
        now = self._elapsed_ns()
        for at in never_begun:
            self.result.latencies.record(now - at)
        for node in self._nodes:
            for at in node.waiting:
                self.result.latencies.record(now - at)
