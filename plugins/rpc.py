"""The plugin's side of the device plugin API on gRPC (S1.3, S1.29): calls in, answers out.

It decides nothing; answers are the model's, whose bytes go out as they are.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from typing import Any, Final, Protocol, TypeAlias, TypeVar

import grpc
from google.protobuf.message import Message

from plugins.model import DevicePlugin
from simulator.core.allocate_response import encode
from simulator.core.devices import Device, DeviceId
from simulator.core.protobuf_wire import write_bytes
from simulator.errors import PluginError
from simulator.protocol import rebind_deviceplugin_pb2 as device_plugin
from simulator.protocol import rebind_pluginregistration_pb2 as plugin_registration
from simulator.protocol import services

_CONTAINER_RESPONSES: Final = 1
"""The field of AllocateResponse (S1.4)."""

Request = TypeVar("Request", bound=Message)
Response = TypeVar("Response", bound=Message)

_Context: TypeAlias = "grpc.aio.ServicerContext[Any, bytes]"
_Handlers: TypeAlias = "dict[str, grpc.RpcMethodHandler[Any, Any]]"


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

    def handler(self) -> grpc.GenericRpcHandler:
        """Return the service for a server."""
        lists = services.LIST_AND_WATCH
        return grpc.method_handlers_generic_handler(
            services.DEVICE_PLUGIN,
            {
                **self._unary(services.GET_DEVICE_PLUGIN_OPTIONS, self._options),
                **self._unary(services.GET_PREFERRED_ALLOCATION, self._prefer),
                **self._unary(services.ALLOCATE, self._allocate),
                **self._unary(services.PRE_START_CONTAINER, self._pre_start),
                lists.name: grpc.unary_stream_rpc_method_handler(
                    self._list, request_deserializer=lists.request.FromString
                ),
            },
        )

    def _unary(
        self,
        method: services.Method[Request, Response],
        answer: Callable[[Request], Awaitable[bytes]],
    ) -> _Handlers:
        async def handle(request: Request, context: _Context) -> bytes:
            self._witness.called(method.name)
            try:
                return await answer(request)
            except PluginError as error:
                await context.abort(grpc.StatusCode.UNKNOWN, str(error))

        return _handlers(method, handle)

    async def _list(self, _: device_plugin.Empty, context: _Context) -> AsyncGenerator[bytes, None]:
        self._witness.called(services.LIST_AND_WATCH.name)
        stream = self._witness.stream_opened()
        try:
            async with aclosing(self._model.lists()) as lists:
                async for devices in lists:
                    yield message_of(devices)
        except PluginError as error:
            await context.abort(grpc.StatusCode.UNKNOWN, str(error))
        finally:
            self._witness.stream_ended(stream)

    async def _options(self, _: device_plugin.Empty) -> bytes:
        options = await self._model.options()
        return device_plugin.DevicePluginOptions(
            pre_start_required=options.pre_start_required,
            get_preferred_allocation_available=options.preferred_allocation,
        ).SerializeToString()

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

    async def _prefer(self, request: device_plugin.PreferredAllocationRequest) -> bytes:
        response = device_plugin.PreferredAllocationResponse()
        for each in request.container_requests:
            preferred = await self._model.prefer(
                _ids(each.available_deviceIDs),
                _ids(each.must_include_deviceIDs),
                each.allocation_size,
            )
            response.container_responses.add(deviceIDs=preferred)
        return response.SerializeToString()

    async def _pre_start(self, request: device_plugin.PreStartContainerRequest) -> bytes:
        await self._model.pre_start(_ids(request.devices_ids))
        return device_plugin.PreStartContainerResponse().SerializeToString()


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

    def handler(self) -> grpc.GenericRpcHandler:
        """Return the service for a server; the endpoint is the socket itself (S1.33)."""
        return grpc.method_handlers_generic_handler(
            services.PLUGIN_REGISTRATION,
            {
                **_handlers(services.GET_INFO, self._tell),
                **_handlers(services.NOTIFY_REGISTRATION_STATUS, self._take),
            },
        )

    async def _tell(self, _: plugin_registration.InfoRequest, __: _Context) -> bytes:
        self._witness.called(services.GET_INFO.name)
        return self._info.SerializeToString()

    async def _take(self, status: plugin_registration.RegistrationStatus, _: _Context) -> bytes:
        self._witness.called(services.NOTIFY_REGISTRATION_STATUS.name)
        self._witness.notified(registered=status.plugin_registered, error=status.error)
        return plugin_registration.RegistrationStatusResponse().SerializeToString()


def _handlers(
    method: services.Method[Request, Response],
    handle: Callable[[Request, _Context], Awaitable[bytes]],
) -> _Handlers:
    """Return the handler of one method by its name; answers are serialized already."""
    return {
        method.name: grpc.unary_unary_rpc_method_handler(
            handle, request_deserializer=method.request.FromString
        )
    }


def _ids(texts: Sequence[str]) -> tuple[DeviceId, ...]:
    return tuple([DeviceId(text) for text in texts])
