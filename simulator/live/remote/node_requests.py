"""What kubelets ask a real API server about their nodes: registration, status, lease (S12.6)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from simulator.api.client.http import STRATEGIC_MERGE_PATCH, Answer, HttpClient
from simulator.api.client.paths import path_of
from simulator.api.dialect.documents import Object, mapping, text
from simulator.api.dialect.kinds import LEASES, NODES
from simulator.core.instants import Instant
from simulator.core.transitions import NodeName
from simulator.engine.api import ApiServer
from simulator.engine.api_requests import PatchNodeStatus, RenewLease, RequestReply
from simulator.engine.node import Node
from simulator.live.remote import documents
from simulator.live.remote.replies import NOT_FOUND, told
from simulator.live.remote.settings import Taint
from simulator.live.timeline import LiveTimeline

_CONFLICT: Final = 409


class NodeRequests:
    """Carries requests about nodes to one server.

    Args:
        client: Of that server.
        timeline: Where answers enter.
        api: The copy of its objects; it knows at once what a node has reported.
        nodes: The nodes, once they are made.
        taints: Those that nodes have when they register.
    """

    def __init__(
        self,
        client: HttpClient,
        timeline: LiveTimeline,
        api: ApiServer,
        nodes: Callable[[], Mapping[NodeName, Node]],
        taints: Sequence[Taint],
    ) -> None:
        self._client = client
        self._timeline = timeline
        self._api = api
        self._nodes = nodes
        self._taints = taints
        self._leases: dict[NodeName, Object] = {}
        self._uids: dict[NodeName, str] = {}
        self._ready_since: dict[NodeName, Instant] = {}

    async def answer(self, request: PatchNodeStatus | RenewLease) -> RequestReply:
        """Carry out a request, and return what became of it.

        Raises:
            ApiUnreachableError: Nobody knows what became of it.
        """
        if isinstance(request, RenewLease):
            return await self._renew_lease(request.node)
        return await self._patch_status(request)

    async def _patch_status(self, request: PatchNodeStatus) -> RequestReply:
        """Patch a node's status; a node that is not there registers itself before.

        It is looked at first, as kubelets do.
        """
        path, now = path_of(NODES, name=request.node), self._timeline.now()
        found = await self._client.ask("GET", path)
        if found.is_unavailable:
            return told(found)
        if found.code == NOT_FOUND:
            registered = documents.node_document(request.node, self._taints)
            made = await self._client.ask("POST", path_of(NODES), registered)
            if made.is_refused and made.code != _CONFLICT:
                return told(made, of_pod=False)
        elif not found.is_refused:
            request = self._without_removed(request, found.document)
        version = self._nodes()[request.node].behavior.version
        since = self._ready_since.setdefault(request.node, now)
        answer = await self._client.ask(
            "PATCH",
            f"{path}/status",
            documents.node_status(request, version, now, since),
            content_type=STRATEGIC_MERGE_PATCH,
        )
        if not answer.is_refused:
            self._uids[request.node] = text(answer.document, "metadata", "uid")
            self._timeline.enter(
                lambda: self._api.report_node(
                    request.node,
                    capacity=request.capacity,
                    allocatable=request.allocatable,
                    boot_id=request.boot_id,
                )
            )
        return told(answer, of_pod=False)

    def _without_removed(self, request: PatchNodeStatus, node: Object) -> PatchNodeStatus:
        """Leave out the resources that somebody has removed from the Node object (S2.14).

        Those that the device manager still has come back with the next status.
        """
        there = mapping(node, "status", "capacity")
        gone = {name for name in self._api.node(request.node).capacity if name not in there}
        return replace(
            request,
            capacity={name: n for name, n in request.capacity.items() if name not in gone},
            allocatable={name: n for name, n in request.allocatable.items() if name not in gone},
        )

    async def _renew_lease(self, name: NodeName) -> RequestReply:
        """Renew a lease, which is found or made when that cannot be done."""
        answer = await self._put_lease(name)
        if answer is None or (answer.is_refused and not answer.is_unavailable):
            self._leases.pop(name, None)
            found = await self._client.ask("GET", path_of(LEASES, documents.LEASE_NAMESPACE, name))
            if found.code == NOT_FOUND:
                if answer is not None:
                    # It went with its owner, and with that owner the next one would go, too.
                    self._uids.pop(name, None)
                answer = await self._client.ask(
                    "POST", path_of(LEASES, documents.LEASE_NAMESPACE), self._lease(name, None)
                )
                self._note_lease(name, answer)
            else:
                self._note_lease(name, found)
                answer = await self._put_lease(name) or found
        if not answer.is_refused:
            self._timeline.enter(lambda: self._api.renew_lease(name))
        return told(answer, of_pod=False)

    async def _put_lease(self, name: NodeName) -> Answer | None:
        held = self._leases.get(name)
        if held is None:
            return None
        path = path_of(LEASES, documents.LEASE_NAMESPACE, name)
        answer = await self._client.ask("PUT", path, self._lease(name, held))
        self._note_lease(name, answer)
        return answer

    def _lease(self, name: NodeName, held: Object | None) -> Object:
        owner = self._uids.get(name, "")
        return documents.lease_document(name, self._timeline.now(), held, owner)

    def _note_lease(self, name: NodeName, answer: Answer) -> None:
        if not answer.is_refused:
            self._leases[name] = answer.document
