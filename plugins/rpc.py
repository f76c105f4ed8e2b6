"""The plugin's side of the device plugin API (S1.3, S1.29): calls in, answers out.

It decides nothing; answers are the model's, whose bytes go out as they are.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from typing import Final, Protocol

from plugins.model import DevicePlugin
from simulator.core.allocate_response import encode
from simulator.core.devices import Device, DeviceId
from simulator.core.protobuf_wire import write_bytes
from simulator.protocol import rebind_deviceplugin_pb2 as device_plugin
from simulator.protocol import rebind_pluginregistration_pb2 as plugin_registration
from simulator.protocol import services
from simulator.protocol.services import Method, Request, Response
from simulator.wire.servers import UnixServer

_CONTAINER_RESPONSES: Final = 1
"""The field of AllocateResponse (S1.4)."""


class Witness(Protocol):
    """Who is told of what a kubelet does."""

    def called(self, name: str) -> None:
        """A call has come in."""
        ...

    def stream_opened(self) -> int:
        """A kubelet watches the list; returns what tells this stream from others."""
        ...

    def stream_ended(self, stream: int) -> None:
        """A kubelet has stopped watching, or was left."""
        ...

    def notified(self, *, registered: bool, error: str) -> None:
        """The kubelet has said whether it took the plugin that it found (S1.33)."""
        ...


def message_of(devices: Sequence[Device]) -> bytes:
    """Return a serialized ListAndWatchResponse."""
    message = device_plugin.ListAndWatchResponse()
    for device in devices:
        listed = message.devices.add(ID=device.id, health=device.health)
        if device.topology is not None:
            listed.topology.SetInParent()
            for node in device.topology:
                listed.topology.nodes.add(ID=node)
    return message.SerializeToString()


class DevicePluginService:
    """`v1beta1.DevicePlugin` of one model (S1.3).

    Args:
        model: Whose devices and answers they are.
        witness: Is told of calls and streams.
    """

    def __init__(self, model: DevicePlugin, witness: Witness) -> None:
        self._model = model
        self._witness = witness

    def serve_on(self, server: UnixServer) -> None:
        """Let a server have this service."""
        self._answer(server, services.GET_DEVICE_PLUGIN_OPTIONS, self._options)
        self._answer(server, services.GET_PREFERRED_ALLOCATION, self._prefer)
        self._answer(server, services.ALLOCATE, self._allocate)
        self._answer(server, services.PRE_START_CONTAINER, self._pre_start)
        server.stream(services.LIST_AND_WATCH, self._list)

    def _answer(
        self,
        server: UnixServer,
        method: Method[Request, Response],
        answer: Callable[[Request], Awaitable[Response | bytes]],
    ) -> None:
        async def handle(request: Request) -> Response | bytes:
            self._witness.called(method.name)
            return await answer(request)

        server.answer(method, handle)

    async def _list(self, _: device_plugin.Empty) -> AsyncGenerator[bytes, None]:
        self._witness.called(services.LIST_AND_WATCH.name)
        stream = self._witness.stream_opened()
        try:
            async with aclosing(self._model.lists()) as lists:
                async for devices in lists:
                    yield message_of(devices)
        finally:
            self._witness.stream_ended(stream)

    async def _options(self, _: device_plugin.Empty) -> device_plugin.DevicePluginOptions:
        options = await self._model.options()
        return device_plugin.DevicePluginOptions(
            pre_start_required=options.pre_start_required,
            get_preferred_allocation_available=options.preferred_allocation,
        )

    async def _allocate(self, request: device_plugin.AllocateRequest) -> bytes:
        answers = [
            await self._model.allocate(_ids(each.devices_ids))
            for each in request.container_requests
        ]
        return b"".join(
            write_bytes(_CONTAINER_RESPONSES, encode(answer))
            for answer in answers
            if answer is not None
        )

    async def _prefer(
        self, request: device_plugin.PreferredAllocationRequest
    ) -> device_plugin.PreferredAllocationResponse:
        response = device_plugin.PreferredAllocationResponse()
        for each in request.container_requests:
            preferred = await self._model.prefer(
                _ids(each.available_deviceIDs),
                _ids(each.must_include_deviceIDs),
                each.allocation_size,
            )
            response.container_responses.add(deviceIDs=preferred)
        return response

    async def _pre_start(
        self, request: device_plugin.PreStartContainerRequest
    ) -> device_plugin.PreStartContainerResponse:
        await self._model.pre_start(_ids(request.devices_ids))
        return device_plugin.PreStartContainerResponse()


class PluginRegistrationService:
    """`pluginregistration.Registration`, by which a kubelet learns what it has found (S1.29).

    Args:
        resource: The plugin's resource name.
        version: The device plugin API version that it names.
        witness: Is told whether the kubelet took it.
    """

    def __init__(self, resource: str, version: str, witness: Witness) -> None:
        self._info = plugin_registration.PluginInfo(
            type="DevicePlugin", name=resource, supported_versions=[version]
        )
        self._witness = witness

    def serve_on(self, server: UnixServer) -> None:
        """Let a server have this service; the endpoint is its socket (S1.33)."""
        server.answer(services.GET_INFO, self._tell)
        server.answer(services.NOTIFY_REGISTRATION_STATUS, self._take)

    async def _tell(self, _: plugin_registration.InfoRequest) -> plugin_registration.PluginInfo:
        self._witness.called(services.GET_INFO.name)
        return self._info

    async def _take(
        self, status: plugin_registration.RegistrationStatus
    ) -> plugin_registration.RegistrationStatusResponse:
        self._witness.called(services.NOTIFY_REGISTRATION_STATUS.name)
        self._witness.notified(registered=status.plugin_registered, error=status.error)
        return plugin_registration.RegistrationStatusResponse()


def _ids(texts: Sequence[str]) -> tuple[DeviceId, ...]:
    return tuple([DeviceId(text) for text in texts])
