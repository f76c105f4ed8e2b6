"""The requests of kubelets, over HTTP to a real API server (`simulator.engine.ports.ApiTransport`).

A refusal (4xx) is an answer; 429, 5xx, a connection that cannot be had or breaks off and an answer
that does not come in time are none: nobody knows what became of the request, and whoever has asked
asks again with the same content (W6). Nothing is repeated here but what the server itself wants to
be asked again (`Retry-After`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final

from typing_extensions import override

from simulator.api.client.http import STRATEGIC_MERGE_PATCH, Answer, HttpClient
from simulator.api.client.paths import path_of
from simulator.api.dialect.documents import Json, Object, text
from simulator.api.dialect.kinds import EVENTS, PODS
from simulator.core.api_calls import ApiUnavailable
from simulator.core.pods import PodUid
from simulator.core.resource_health import AllocatedResourcesStatus
from simulator.core.transitions import NodeName, PodIdentity
from simulator.engine.api import ApiServer
from simulator.engine.api_requests import (
    ApiRequest,
    CreateEvent,
    DeletePod,
    GetPod,
    PatchNodeStatus,
    PatchPodStatus,
    PodRead,
    RenewLease,
    RequestReply,
)
from simulator.engine.node import Node
from simulator.engine.ports import ApiTransport
from simulator.engine.reachability import OUTAGE
from simulator.errors import ApiUnreachableError
from simulator.live.event_documents import event_document, event_name, event_namespace
from simulator.live.pod_statuses import PodSight, pod_status, read_status, read_status_devices
from simulator.live.remote import documents
from simulator.live.remote.complaints import Complaints
from simulator.live.remote.device_requests import DeviceRequests
from simulator.live.remote.node_requests import NodeRequests
from simulator.live.remote.pods import images_of
from simulator.live.remote.replies import NOT_FOUND, told
from simulator.live.remote.settings import Taint
from simulator.live.tasks import Tasks
from simulator.live.timeline import LiveTimeline

_CUT_OFF: Final = "the API server cannot be reached"
_BROKEN_OFF: Final = "the request was broken off"


class RemoteTransport(ApiTransport):
    """Carries requests to one server.

    Args:
        client: Of that server.
        timeline: Where answers enter.
        api: The copy of its objects that the nodes follow.
        nodes: The nodes, once they are made.
        document_of: Returns a pod as the server shows it, if it is followed.
        taints: Those that nodes have when they register.
    """

    def __init__(  # noqa: PLR0913 - what is carried, where, and for whom
        self,
        client: HttpClient,
        timeline: LiveTimeline,
        api: ApiServer,
        nodes: Callable[[], Mapping[NodeName, Node]],
        document_of: Callable[[PodUid], Object | None],
        *,
        taints: Sequence[Taint] = (),
    ) -> None:
        self._client = client
        self._timeline = timeline
        self._api = api
        self._nodes = nodes
        self._document_of = document_of
        self._devices = DeviceRequests(client, api)
        self._tasks = Tasks()
        self._events = 0
        self._of_nodes = NodeRequests(client, timeline, api, nodes, taints)
        self._complaints = Complaints()

    @override
    def send(
        self, node: NodeName, request: ApiRequest, reply: Callable[[RequestReply], None]
    ) -> None:
        self._tasks.start(self._carry(node, request, reply), f"request of {node}")

    async def close(self) -> None:
        """Give up what is under way."""
        await self._tasks.close()

    async def _carry(
        self, node: NodeName, request: ApiRequest, reply: Callable[[RequestReply], None]
    ) -> None:
        answer: RequestReply = ApiUnavailable(_BROKEN_OFF)
        with self._timeline.held():
            try:
                if self._api.is_cut_off(node, OUTAGE):
                    answer = ApiUnavailable(_CUT_OFF)
                else:
                    answer = await self._answer(node, request)
                    self._complaints.heard(node, request, answer)
            except ApiUnreachableError as error:
                answer = ApiUnavailable(str(error))
            finally:
                # Else whoever has asked would wait for ever, and with it all that comes after it.
                self._timeline.enter(partial(reply, answer))

    async def _answer(self, node: NodeName, request: ApiRequest) -> RequestReply:
        match request:
            case GetPod() | PatchPodStatus() | DeletePod():
                answer = self._about_pod(node, request)
            case PatchNodeStatus() | RenewLease():
                answer = self._of_nodes.answer(request)
            case CreateEvent():
                answer = self._post_event(request)
            case _:
                answer = self._devices.answer(request)
        return await answer

    # Pods

    async def _about_pod(
        self, node: NodeName, request: GetPod | PatchPodStatus | DeletePod
    ) -> RequestReply:
        pod, ask = request.pod, self._client.ask
        path = path_of(PODS, pod.namespace, pod.name)
        if isinstance(request, GetPod):
            return _read(pod.uid, await ask("GET", path))
        if isinstance(request, DeletePod):
            return told(await ask("DELETE", path, documents.deletion(pod.uid)))
        body: Object = {"metadata": {"uid": pod.uid}, "status": self._status(node, request)}
        answer = await ask("PATCH", f"{path}/status", body, content_type=STRATEGIC_MERGE_PATCH)
        if request.devices and not answer.is_refused:
            self._check_devices(request, answer)
        return told(answer)

    def _check_devices(self, request: PatchPodStatus, answer: Answer) -> None:
        """Say so when a server has dropped the devices of a status."""
        if not read_status_devices(request.pod.uid, answer.document):
            what = "to keep devices in pod statuses (allocatedResourcesStatus)"
            why = "its feature gate ResourceHealthStatus is off, so pod-status is a checkpoint only"
            self._complaints.say(what, 200, why)

    def _status(self, name: NodeName, request: PatchPodStatus) -> Json:
        pod, node = self._api.pod(request.pod.uid), self._nodes().get(name)
        if pod is None:  # It has gone meanwhile, so the server will refuse.
            return {"phase": request.status.phase}
        health: AllocatedResourcesStatus = {}
        if node is not None and node.behavior.resource_health_in_status:
            kubelet = node.kubelet
            if kubelet is not None and kubelet.serving:
                health = kubelet.manager.resource_health(pod.pod)
        return pod_status(
            PodSight(
                pod,
                request.status,
                node,
                images=images_of(self._document_of(pod.uid) or {}),
                health=health,
                devices=request.devices,
            )
        )

    # Events

    async def _post_event(self, request: CreateEvent) -> RequestReply:
        emitted, now = request.event, self._timeline.now()
        pod = None if emitted.pod is None else self._identity(emitted.pod)
        self._events += 1
        document = event_document(
            emitted,
            name=event_name(request.node, pod, now + self._events),
            node=request.node,
            pod=pod,
            first=now,
            last=now,
        )
        path = path_of(EVENTS, event_namespace(pod))
        return told(await self._client.ask("POST", path, document), of_pod=False)

    def _identity(self, uid: PodUid) -> PodIdentity:
        pod = self._api.pod(uid)
        return (
            PodIdentity(uid) if pod is None else PodIdentity(uid, pod.pod.namespace, pod.pod.name)
        )


def _read(uid: PodUid, answer: Answer) -> RequestReply:
    """Return a pod's status; of another pod of its name there is none."""
    if answer.code == NOT_FOUND:
        return PodRead(None)
    if answer.is_refused:
        return ApiUnavailable(answer.message)
    if text(answer.document, "metadata", "uid") != uid:
        return PodRead(None)
    return PodRead(read_status(answer.document), read_status_devices(uid, answer.document))
