"""The scheduler and nodes that are cordoned (`kubectl cordon`)."""

from __future__ import annotations

from dataclasses import replace

from simulator.core.pods import PodUid
from simulator.core.records import EventEmitted, Record
from simulator.core.transitions import NodeName
from simulator.engine.api import ApiServer
from simulator.engine.api_objects import ApiPod
from simulator.engine.scheduler import Scheduler
from simulator.engine.timeline import Timeline
from tests.engine.runs import GPU, container, pod

FIRST, SECOND = NodeName("n0"), NodeName("n1")


class Nodes:
    """Two nodes with a device each, and a scheduler."""

    def __init__(self) -> None:
        self.timeline = Timeline()
        self.records: list[Record] = []
        self.api = ApiServer(self.timeline, lambda _, record: self.records.append(record))
        Scheduler(self.timeline, self.api)
        for name in (FIRST, SECOND):
            self.api.report_node(name, capacity={GPU: 1}, allocatable={GPU: 1}, boot_id="b")

    def create(self, name: str, count: int = 1) -> ApiPod:
        """Create a pod on no node, and let the scheduler see it."""
        spec = pod(name, container(count=count))
        made = ApiPod(replace(spec, node=None), replace(spec.pod, uid=PodUid(name)))
        self.api.create(made)
        self.settle()
        return made

    def settle(self) -> None:
        while self.timeline.next_at() is not None:
            self.timeline.step()

    def events(self) -> list[str]:
        return [each.message for each in self.records if isinstance(each, EventEmitted)]


def test_a_cordoned_node_is_passed_over_and_keeps_what_it_has() -> None:
    nodes = Nodes()
    before = nodes.create("before")
    nodes.api.cordon(FIRST, cordoned=True)
    after = nodes.create("after", count=0)

    assert (before.node, after.node) == (FIRST, SECOND)


def test_a_pod_waits_until_a_node_takes_pods_again() -> None:
    nodes = Nodes()
    nodes.api.cordon(FIRST, cordoned=True)
    nodes.create("a")
    waiting = nodes.create("b")
    nodes.api.cordon(SECOND, cordoned=True)
    nodes.create("c", count=0)

    assert waiting.node is None
    assert nodes.events() == [
        "0/2 nodes are available: 1 node(s) were unschedulable, Insufficient example.com/gpu.",
        "0/2 nodes are available: 2 node(s) were unschedulable.",
    ]
    nodes.api.cordon(FIRST, cordoned=False)
    nodes.settle()
    assert waiting.node == FIRST
