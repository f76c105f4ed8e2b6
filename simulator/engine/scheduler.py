"""A scheduler that only counts: requests of the pods on a node against its allocatable.

It sees nodes as the API shows them, so after a restart it may for up to 10 s send pods to devices
that are not there (S2.15, S5.12).
"""

from __future__ import annotations

from simulator.core.instants import Duration
from simulator.core.pods import PodUid
from simulator.core.records import EventEmitted
from simulator.core.resources import ResourceName
from simulator.core.transitions import NodeName
from simulator.engine.api import ApiServer
from simulator.engine.api_objects import ApiNode, ApiPod
from simulator.engine.latencies import SCHEDULING
from simulator.engine.timeline import Timeline


class Scheduler:
    """Binds pods without a node to the first ready node, by name, that has room."""

    def __init__(self, timeline: Timeline, api: ApiServer) -> None:
        self._timeline = timeline
        self._api = api
        self._waiting: dict[PodUid, ApiPod] = {}
        self._requested: dict[NodeName, dict[ResourceName, int]] = {}
        self._counted: dict[PodUid, NodeName] = {}
        self._turn_planned = False
        api.watch_pods(self._pod_changed)
        api.watch_nodes(self._wake)

    def _pod_changed(self, pod: ApiPod) -> None:
        ended = pod.deleted or pod.status.is_terminal
        if pod.node is not None:
            self._count(pod, pod.node, ended=ended)
            self._waiting.pop(pod.uid, None)
        elif ended:
            self._waiting.pop(pod.uid, None)
            self._assume_no_more(pod)
        elif pod.uid not in self._waiting:
            self._assume_no_more(pod)
            self._waiting[pod.uid] = pod
            self._wake()

    def _count(self, pod: ApiPod, node: NodeName, *, ended: bool) -> None:
        """Keep the sum of the requests on a node in step; pods that ended do not count."""
        if ended == (pod.uid not in self._counted):
            return
        requested = self._requested.setdefault(node, {})
        sign = -1 if ended else 1
        for resource, count in pod.request.items():
            requested[resource] = requested.get(resource, 0) + sign * count
        if ended:
            del self._counted[pod.uid]
            self._wake()
        else:
            self._counted[pod.uid] = node

    def _assume_no_more(self, pod: ApiPod) -> None:
        """Know that a pod was not bound after all, if it was taken to be."""
        if pod.uid in self._counted:
            self._count(pod, self._counted[pod.uid], ended=True)

    def _wake(self) -> None:
        if self._waiting and not self._turn_planned:
            self._turn_planned = True
            self._timeline.call_after(Duration(SCHEDULING), self._take_turn)

    def _take_turn(self) -> None:
        self._turn_planned = False
        for pod in list(self._waiting.values()):
            ready = self._api.ready_nodes()
            nodes = [each for each in ready if not each.cordoned]
            node = next((each for each in nodes if self._has_room(each, pod)), None)
            if node is not None:
                self._api.bind(pod, node.name)
                if pod.node is None:  # A real server is being asked; until then it is assumed.
                    self._waiting.pop(pod.uid, None)
                    self._count(pod, node.name, ended=False)
            elif not pod.unschedulable:
                why = _lacking(pod, nodes=len(nodes), cordoned=len(ready) - len(nodes))
                message = f"0/{len(ready)} nodes are available: {why}"
                event = EventEmitted("Warning", "FailedScheduling", message, pod.uid)
                self._api.leave_waiting(pod, event)

    def _has_room(self, node: ApiNode, pod: ApiPod) -> bool:
        requested = self._requested.get(node.name, {})
        return all(
            requested.get(resource, 0) + count <= node.allocatable.get(resource, 0)
            for resource, count in pod.request.items()
        )


def _lacking(pod: ApiPod, *, nodes: int, cordoned: int) -> str:
    reasons = [f"{cordoned} node(s) were unschedulable"] if cordoned else []
    if nodes or not cordoned:
        reasons += [f"Insufficient {resource}" for resource in sorted(pod.request)]
    return f"{', '.join(reasons) or 'no node is ready'}."
