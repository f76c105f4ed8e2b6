"""A real API server behind a live world: its nodes are clients of it, and follow its pods.

One watch for each node, of the pods that are bound to it, as kubelets watch (S12.7); one watch of
all pods where Rebind schedules too. Measured on two cores with 200 nodes and the starts of 1,000
pods: with a watch for each node this process needs 2.1 s of CPU and the server 1.1 s, with one for
all 1.7 s and 0.9 s; the pods run as soon in both.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final

from typing_extensions import override

from simulator.api.client.backing_off import BackOff
from simulator.api.client.following import BACK_OFF_S, Following
from simulator.api.client.http import STRATEGIC_MERGE_PATCH, Answer, HttpClient
from simulator.api.client.paths import path_of
from simulator.api.dialect.documents import Object, mapping, text
from simulator.api.dialect.kinds import NODES, PODS
from simulator.core.pods import PodUid
from simulator.core.records import EventEmitted, PodNotCreated
from simulator.core.resource_requests import extended_counts
from simulator.core.transitions import NodeName, PodIdentity
from simulator.engine.api import ApiServer
from simulator.engine.api_copy import ApiCopy
from simulator.engine.api_objects import FAILED, NO_NODE, ApiPod, PodStatus
from simulator.engine.api_requests import CreateEvent
from simulator.engine.node import Node
from simulator.engine.pod_writer import PodWriter
from simulator.errors import ApiUnreachableError
from simulator.live.remote import documents
from simulator.live.remote.following import AWAY, PodFollower
from simulator.live.remote.node_following import NodeFollower, is_cordoned
from simulator.live.remote.pods import pod_document
from simulator.live.remote.settings import RemoteSettings
from simulator.live.remote.transport import RemoteTransport
from simulator.live.tasks import Tasks
from simulator.live.timeline import LiveTimeline

_LOG: Final = logging.getLogger(__name__)
_CONFLICT: Final = 409
_NOT_FOUND: Final = 404
_TRIES: Final = 20
_PAUSES_S: Final = (0.25, 2.0)
"""The first and the longest between two tries of what has had no answer."""


class RemoteApi(PodWriter):
    """One API server, as the nodes of one world have it.

    Args:
        settings: Which server.
        timeline: The world's time.
        api: The world's objects, which become a copy of the server's.
        names: The nodes.
        nodes: The nodes themselves, once they are made.

    Attributes:
        client: For requests to the server that are no kubelet's.
        transport: Carries the kubelets' requests.
    """

    def __init__(
        self,
        settings: RemoteSettings,
        timeline: LiveTimeline,
        api: ApiServer,
        names: Sequence[NodeName],
        nodes: Callable[[], Mapping[NodeName, Node]],
    ) -> None:
        self.client = HttpClient(settings.endpoint, at_once=settings.at_once)
        self.transport = RemoteTransport(
            self.client, timeline, api, nodes, self.document_of, taints=settings.taints
        )
        self._timeline = timeline
        self._api = api
        self._names = tuple(names)
        self._schedules = settings.schedules
        self._copy = ApiCopy(api)
        self._tasks = Tasks()
        self._documents: dict[PodUid, Object] = {}
        api.writer = self
        api.watch_delay = documents.NO_DELAY
        watched = [self._names] if settings.schedules else [(name,) for name in self._names]
        for covered in watched:
            follower = PodFollower(
                api,
                self._copy,
                timeline,
                covered,
                sees_all=settings.schedules,
                shown=self._show,
            )
            query = {} if settings.schedules else {"fieldSelector": f"spec.nodeName={covered[0]}"}
            following = Following(self.client, path_of(PODS), query, follower)
            self._tasks.start(self._follow(covered, following), f"pods of {covered[0]}")
        if settings.schedules:
            cordons = NodeFollower(api, timeline, self._names)
            self._tasks.start(Following(self.client, path_of(NODES), {}, cordons).run(), "nodes")

    @property
    def is_following(self) -> bool:
        """Whether all nodes know all that the server has for them."""
        return not any(self._api.is_cut_off(name, AWAY) for name in self._names)

    def covers(self, node: NodeName | None) -> bool:
        """Tell whether a pod on this node, or on none, comes to one of the nodes."""
        return self._schedules if node is None else node in self._names

    def document_of(self, uid: PodUid) -> Object | None:
        """Return a pod as the server shows it; None for one that is not there."""
        return self._documents.get(uid)

    async def close(self) -> None:
        """Give up what is under way, and close the connections."""
        await self._tasks.close()
        await self.transport.close()
        await self.client.close()

    # What is done to pods

    @override
    def create(self, pod: ApiPod) -> None:
        self._copy.await_pod(pod)
        self._tasks.start(self._create(pod), f"creation of {pod.pod.name}")

    @override
    def bind(self, pod: ApiPod, node: NodeName) -> None:
        self._tasks.start(self._bind(pod, node), f"binding of {pod.pod.name}")

    @override
    def delete(self, pod: ApiPod, *, force: bool) -> None:
        self._tasks.start(self._delete(pod, force=force), f"deletion of {pod.pod.name}")

    @override
    def leave_waiting(self, pod: ApiPod, event: EventEmitted) -> None:
        self._tasks.start(self._leave_waiting(pod, event), f"condition of {pod.pod.name}")

    async def _leave_waiting(self, pod: ApiPod, event: EventEmitted) -> None:
        with self._timeline.held():
            path = path_of(PODS, pod.pod.namespace, pod.pod.name, "status")
            try:
                await self.client.ask(
                    "PATCH",
                    path,
                    documents.unscheduled(pod.uid, event.message),
                    content_type=STRATEGIC_MERGE_PATCH,
                )
            except ApiUnreachableError as error:
                _LOG.warning("why the pod %s waits is not told: %s", pod.pod.name, error)
        self.transport.send(NO_NODE, CreateEvent(NO_NODE, event), lambda _: None)

    async def _create(self, pod: ApiPod) -> None:
        with self._timeline.held():
            path, body = path_of(PODS, pod.pod.namespace), pod_document(pod)
            answer, is_first = await self._tried("POST", path, body)
            if answer.is_refused and (is_first or not await self._is_there(pod, answer)):
                self._timeline.enter(partial(self._not_created, pod, answer))

    async def _is_there(self, pod: ApiPod, answer: Answer) -> bool:
        """Tell whether an earlier try has created a pod, though the last one was refused.

        Not only because of its name: it may have used up the quota itself.
        """
        if answer.code == _CONFLICT:
            return True
        path = path_of(PODS, pod.pod.namespace, pod.pod.name)
        return not (await self._asked("GET", path)).is_refused

    def _not_created(self, pod: ApiPod, answer: Answer) -> None:
        if pod.revision:
            return  # A watch has shown it, so that it was created all the same.
        _LOG.warning("the pod %s is not created: %s", pod.pod.name, answer.message)
        self._copy.await_no_more(pod)
        pod.deleted = True
        pod.status = PodStatus(FAILED, answer.reason, answer.message)
        refused = PodNotCreated(pod.uid, pod.pod.name, answer.reason, answer.message)
        self._api.emit(pod.node or NO_NODE, refused)

    async def _bind(self, pod: ApiPod, node: NodeName) -> None:
        with self._timeline.held():
            path = path_of(PODS, pod.pod.namespace, pod.pod.name, "binding")
            answer, _ = await self._tried("POST", path, documents.binding(_identity(pod), node))
            if answer.is_refused and answer.code != _CONFLICT:
                _LOG.warning("the pod %s is not bound: %s", pod.pod.name, answer.message)
            if answer.is_refused and pod.node is None:
                await asyncio.sleep(_PAUSES_S[0])  # The scheduler may choose the same at once.
                self._timeline.enter(partial(self._api.tell, pod))

    async def _delete(self, pod: ApiPod, *, force: bool) -> None:
        with self._timeline.held():
            path = path_of(PODS, pod.pod.namespace, pod.pod.name)
            options = documents.deletion(pod.uid, grace=0 if force else None)
            answer, _ = await self._tried("DELETE", path, options)
            if answer.is_refused and answer.code not in {_NOT_FOUND, _CONFLICT}:
                _LOG.warning("the pod %s is not deleted: %s", pod.pod.name, answer.message)

    async def _tried(self, method: str, path: str, body: Object) -> tuple[Answer, bool]:
        """Send a request until it is answered; tell whether that was at the first time."""
        answer = Answer(0)
        back_off = BackOff(*_PAUSES_S)
        for number in range(_TRIES):
            answer = await self._asked(method, path, body)
            if not answer.is_unavailable:
                return answer, number == 0
            await asyncio.sleep(back_off.pause_s())
        return answer, False

    async def _asked(self, method: str, path: str, body: Object | None = None) -> Answer:
        """Send a request; that there was no answer is one, too."""
        try:
            return await self.client.ask(method, path, body)
        except ApiUnreachableError as error:
            return Answer(503, message=str(error))

    # What is followed

    def _show(self, uid: PodUid, document: Object | None) -> None:
        if document is None:
            self._documents.pop(uid, None)
        else:
            self._documents[uid] = document

    async def _follow(self, covered: Sequence[NodeName], following: Following) -> None:
        """Learn what the server knows of the nodes, then follow their pods."""
        for name in covered:
            await self._learn(name)
        await following.run()

    async def _learn(self, name: NodeName) -> None:
        """Take over what the Node object says: a node that comes back keeps it (S2.14)."""
        back_off = BackOff(*BACK_OFF_S)
        answer = await self._asked("GET", path_of(NODES, name=name))
        while answer.is_unavailable:
            await asyncio.sleep(back_off.pause_s())
            answer = await self._asked("GET", path_of(NODES, name=name))
        self._timeline.enter(partial(self._know, name, answer))

    def _know(self, name: NodeName, answer: Answer) -> None:
        known = self._api.node(name)
        if not answer.is_refused and known.heartbeat is None:
            status = mapping(answer.document, "status")
            known.capacity, known.allocatable = (
                extended_counts({key: str(count) for key, count in mapping(status, part).items()})
                for part in ("capacity", "allocatable")
            )
            known.boot_id = text(status, "nodeInfo", "bootID")
        known.cordoned = is_cordoned(answer.document)


def _identity(pod: ApiPod) -> PodIdentity:
    return PodIdentity(pod.uid, pod.pod.namespace, pod.pod.name)
