"""What kubelets ask a real API server about devices: bindings of pods and DeviceBindings."""

from __future__ import annotations

from typing import Final

from simulator.api.client.http import Answer, HttpClient, status_answer
from simulator.api.client.listing import list_whole
from simulator.api.client.paths import path_of
from simulator.api.dialect.documents import items
from simulator.api.dialect.kinds import BULK_RESOURCE_BINDINGS, DEVICE_BINDINGS, PODS
from simulator.core.api_calls import (
    ApiAnsweredEach,
    ApiRefused,
    ApiStored,
    ApiUnavailable,
    BindDevices,
    BindManyDevices,
    DeviceBindingsListed,
    GetDeviceBinding,
    ListDeviceBindings,
    PutDeviceBinding,
    RemoveDeviceBinding,
    SentCall,
)
from simulator.core.transitions import NodeName
from simulator.engine.api import ApiServer
from simulator.engine.api_requests import RequestReply
from simulator.live.remote import documents
from simulator.live.remote.replies import NOT_FOUND, told

_BAD_REQUEST: Final = 400


class DeviceRequests:
    """Carries requests about devices to one server.

    Args:
        client: Of that server.
        api: The copy of its objects that the nodes follow; it knows at once what was written.
    """

    def __init__(self, client: HttpClient, api: ApiServer) -> None:
        self._client = client
        self._api = api

    async def answer(self, request: SentCall) -> RequestReply:
        """Carry out a request, and return what became of it.

        Raises:
            ApiUnreachableError: Nobody knows what became of it.
        """
        match request:
            case BindDevices():
                return told(await self._bind(request))
            case BindManyDevices():
                return await self._bind_many(request)
            case ListDeviceBindings():
                return await self._list_bindings(request.node)
            case _:
                return await self._about_binding(request)

    async def _bind(self, call: BindDevices) -> Answer:
        path = path_of(PODS, call.pod.namespace, call.pod.name, "resourcebinding")
        return await self._client.ask("POST", path, documents.resource_binding(call))

    async def _bind_many(self, call: BindManyDevices) -> RequestReply:
        """Bind in one request; each has an answer of its own."""
        path = path_of(BULK_RESOURCE_BINDINGS)
        answer = await self._client.ask("POST", path, documents.bulk_binding(call.requests))
        if answer.is_refused:
            return ApiUnavailable(answer.message)
        replies: list[ApiStored | ApiRefused] = []
        for status in items(answer.document, "results"):
            reply = told(status_answer(status))
            if isinstance(reply, ApiUnavailable):
                return reply
            replies.append(reply)
        if len(replies) != len(call.requests):
            return ApiUnavailable("the answer does not tell what became of each binding")
        return ApiAnsweredEach(tuple(replies))

    async def _about_binding(
        self,
        request: PutDeviceBinding | GetDeviceBinding | RemoveDeviceBinding,
    ) -> RequestReply:
        ask, pod = self._client.ask, request.pod
        path = path_of(DEVICE_BINDINGS, pod.namespace, pod.name)
        if isinstance(request, GetDeviceBinding):
            answer = await ask("GET", path)
            if answer.code == NOT_FOUND:
                return DeviceBindingsListed(())
            if answer.is_refused:
                return ApiUnavailable(answer.message)
            return DeviceBindingsListed((documents.read_device_binding(answer.document),))
        if isinstance(request, RemoveDeviceBinding):
            options = documents.deletion(grace=None, revision=request.revision)
            answer = await ask("DELETE", path, options)
            if not answer.is_refused or answer.code == NOT_FOUND:
                self._api.devices.forget(pod)
        else:
            body = documents.device_binding(request.node, pod, request.bindings, request.replaces)
            if request.replaces is None:
                answer = await ask("POST", path_of(DEVICE_BINDINGS, pod.namespace), body)
            else:
                answer = await ask("PUT", path, body)
            if not answer.is_refused:
                self._api.devices.know(documents.read_device_binding(answer.document))
        return told(answer, of_pod=False)

    async def _list_bindings(self, node: NodeName) -> RequestReply:
        """List the bindings of a node; a server that cannot select them is asked for all."""
        path = path_of(DEVICE_BINDINGS)
        query = {"fieldSelector": f"spec.nodeName={node}"}
        listing = await list_whole(self._client, path, query)
        if listing.answer.code == _BAD_REQUEST:
            listing = await list_whole(self._client, path)
        if listing.answer.is_refused:
            return ApiUnavailable(listing.answer.message)
        listed = map(documents.read_device_binding, listing.objects)
        found = tuple(each for each in listed if each.node == node)
        for each in found:
            self._api.devices.know(each)
        return DeviceBindingsListed(found)
