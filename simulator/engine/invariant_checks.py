"""When the invariants of a cluster are looked at: after an event, for the nodes that it touched."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from simulator.core.instants import Duration, Instant, after
from simulator.core.records import Record
from simulator.core.transitions import NodeName
from simulator.engine.api_objects import ApiPod
from simulator.engine.invariants import NodeInvariants
from simulator.engine.node import Node
from simulator.engine.timeline import Timeline


class InvariantChecks:
    """The invariants of all nodes.

    Args:
        timeline: The cluster's time.
        period: A node is checked at most once in this span.
        emit: Keeps the record of a violation.
    """

    def __init__(
        self, timeline: Timeline, period: Duration, emit: Callable[[NodeName, Record], None]
    ) -> None:
        self._timeline = timeline
        self._period = period
        self._emit = emit
        self._invariants: dict[NodeName, NodeInvariants] = {}
        self._touched: dict[NodeName, None] = {}
        self._due: dict[NodeName, Instant] = {}

    def watch(self, nodes: Iterable[Node]) -> None:
        """Check these nodes from now on."""
        self._invariants.update((node.name, NodeInvariants(node)) for node in nodes)

    def touch(self, node: NodeName) -> None:
        """Note that something changed on a node."""
        self._touched[node] = None

    def note(self, node: NodeName, record: Record) -> None:
        """Note what happened on a node."""
        if node in self._invariants:
            self._invariants[node].note(record)

    def forget(self, pod: ApiPod) -> None:
        """Forget a pod that was deleted long ago."""
        if pod.node in self._invariants:
            self._invariants[pod.node].forget(pod.uid)

    def check(self) -> None:
        """Look at the nodes that were touched and are due."""
        now = self._timeline.now()
        due = [name for name in self._touched if self._due.get(name, now) <= now]
        for name in due:
            del self._touched[name]
            self._due[name] = after(now, self._period)
            if name in self._invariants:
                for violation in self._invariants[name].begun():
                    self._emit(name, violation)
                self._touched.pop(name, None)
