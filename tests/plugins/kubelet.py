"""The registration side of a kubelet, small and strict, against which plugins are tested.

It does what S1.8 to S1.17 say of 1.36 and no more: clean the folder, serve `kubelet.sock`, dial a
plugin that registers, ask for its options, and read its list.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec

import grpc

from simulator.core.allocate_response import AllocateResponse, container_responses, decode
from simulator.protocol import rebind_deviceplugin_pb2 as device_plugin
from simulator.protocol import services
from simulator.protocol.services import Method

P = ParamSpec("P")
LIMIT = 60.0
"""Seconds after which a test has failed."""


def in_loop(test: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, None]:
    """Let an asynchronous test run, for as long as a test may take."""

    @wraps(test)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        async def limited() -> None:
            async with asyncio.timeout(LIMIT):
                await test(*args, **kwargs)

        asyncio.run(limited())

    return run


Devices = dict[str, tuple[str, tuple[int, ...] | None]]
"""Health and NUMA nodes by id."""


@dataclass
class Registered:
    """One registration: the request, the plugin's own options, and the lists since."""

    request: device_plugin.RegisterRequest
    options: device_plugin.DevicePluginOptions
    channel: grpc.aio.Channel
    lists: list[device_plugin.ListAndWatchResponse] = field(default_factory=list)
    ended: str | None = None
    """Why the stream ended: the status; None while it is open."""
    reader: asyncio.Task[None] | None = None

    def devices(self) -> Devices:
        """Return the last list."""
        return {
            device.ID: (
                device.health,
                tuple(node.ID for node in device.topology.nodes)
                if device.HasField("topology")
                else None,
            )
            for device in self.lists[-1].devices
        }

    async def call(self, method: Method[Any, Any], request: object) -> Any:  # noqa: ANN401 - any message
        """Call the plugin."""
        call: grpc.aio.UnaryUnaryMultiCallable[Any, Any] = self.channel.unary_unary(
            method.path,
            request_serializer=method.request.SerializeToString,
            response_deserializer=method.response.FromString,
        )
        return await call(request, timeout=LIMIT)

    async def allocate_bytes(self, *devices: str) -> bytes:
        """Return the serialized answer to Allocate for one container."""
        call: grpc.aio.UnaryUnaryMultiCallable[Any, Any] = self.channel.unary_unary(
            services.ALLOCATE.path,
            request_serializer=services.ALLOCATE.request.SerializeToString,
        )
        request = device_plugin.AllocateRequest(
            container_requests=[device_plugin.ContainerAllocateRequest(devices_ids=devices)]
        )
        return bytes(await call(request, timeout=LIMIT))

    async def allocate(self, *devices: str) -> AllocateResponse:
        """Return the answer to Allocate for one container, as the kubelet decodes it."""
        (response,) = container_responses(await self.allocate_bytes(*devices))
        return decode(response)

    async def prefer(
        self, available: list[str], size: int, must_include: tuple[str, ...] = ()
    ) -> list[str]:
        """Return the devices that the plugin prefers."""
        container = device_plugin.ContainerPreferredAllocationRequest(
            available_deviceIDs=available,
            must_include_deviceIDs=must_include,
            allocation_size=size,
        )
        request = device_plugin.PreferredAllocationRequest(container_requests=[container])
        answer = await self.call(services.GET_PREFERRED_ALLOCATION, request)
        return list(answer.container_responses[0].deviceIDs)


class RegistrationServer:
    """A kubelet's plugin directory with somebody behind `kubelet.sock`."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.registered: list[Registered] = []
        self.requests: list[device_plugin.RegisterRequest] = []
        self.refuses = ""
        self._server: grpc.aio.Server | None = None
        self._stirred = asyncio.Event()

    async def start(self) -> None:
        """Clean the folder (S1.9) and serve."""
        for entry in self.directory.iterdir():
            if entry.is_socket():
                entry.unlink()
        self._server = grpc.aio.server()
        register = grpc.unary_unary_rpc_method_handler(
            self._register,
            request_deserializer=services.REGISTER.request.FromString,
            response_serializer=services.REGISTER.response.SerializeToString,
        )
        self._server.add_generic_rpc_handlers(
            [grpc.method_handlers_generic_handler(services.REGISTRATION, {"Register": register})]
        )
        self._server.add_insecure_port(f"unix:{self.directory / 'kubelet.sock'}")
        await self._server.start()

    async def stop(self) -> None:
        """End the process: streams are gone, the sockets stay where they are."""
        for plugin in self.registered:
            await self.hang_up(plugin)
        if self._server is not None:
            await self._server.stop(None)
        self._server = None

    async def restart(self) -> None:
        """Stop and start."""
        await self.stop()
        await self.start()

    async def hang_up(self, plugin: Registered) -> None:
        """Close the connection to a plugin."""
        if plugin.reader is not None:
            plugin.reader.cancel()
            await asyncio.gather(plugin.reader, return_exceptions=True)
        await plugin.channel.close()

    async def until(self, condition: Callable[[], object]) -> None:
        """Wait until something is true that an event here makes true."""
        while not condition():
            await self._stirred.wait()

    async def plugin_of(self, resource: str) -> Registered:
        """Wait for a registration of this resource and its first list."""

        def found() -> list[Registered]:
            return [
                each
                for each in self.registered
                if each.request.resource_name == resource and each.lists
            ]

        await self.until(found)
        return found()[0]

    async def plugin(self, number: int = 0) -> Registered:
        """Wait for the registration of this number and its first list."""
        await self.until(lambda: len(self.registered) > number and self.registered[number].lists)
        return self.registered[number]

    def dial(self, endpoint: str) -> grpc.aio.Channel:
        """Connect to a plugin's socket."""
        return grpc.aio.insecure_channel(
            f"unix:{self.directory / endpoint}", options=[("grpc.use_local_subchannel_pool", 1)]
        )

    async def _register(
        self,
        request: device_plugin.RegisterRequest,
        context: grpc.aio.ServicerContext[Any, Any],
    ) -> device_plugin.Empty:
        self.requests.append(request)
        self._stir()
        if self.refuses:
            await context.abort(grpc.StatusCode.UNKNOWN, self.refuses)
        channel = self.dial(request.endpoint)
        plugin = Registered(request, device_plugin.DevicePluginOptions(), channel)
        try:
            plugin.options = await plugin.call(
                services.GET_DEVICE_PLUGIN_OPTIONS, device_plugin.Empty()
            )
        except grpc.aio.AioRpcError as error:
            await channel.close()
            await context.abort(
                grpc.StatusCode.UNKNOWN, f"failed to get device plugin options: {error.details()}"
            )
        self.registered.append(plugin)
        plugin.reader = asyncio.create_task(self._read(plugin))
        return device_plugin.Empty()

    async def _read(self, plugin: Registered) -> None:
        call = plugin.channel.unary_stream(
            services.LIST_AND_WATCH.path,
            request_serializer=services.LIST_AND_WATCH.request.SerializeToString,
            response_deserializer=services.LIST_AND_WATCH.response.FromString,
        )(device_plugin.Empty())
        try:
            async for listed in call:
                plugin.lists.append(listed)
                self._stir()
            plugin.ended = "EOF"
        except grpc.aio.AioRpcError as error:
            plugin.ended = f"{error.code().name}: {error.details()}"
        self._stir()

    def _stir(self) -> None:
        self._stirred.set()
        self._stirred = asyncio.Event()


@contextmanager
def plugin_directory() -> Iterator[Path]:
    """Give a folder with a short path, as sockets need it."""
    path = Path(tempfile.mkdtemp(prefix="rb"))
    try:
        yield path
    finally:
        shutil.rmtree(path)


@asynccontextmanager
async def kubelet() -> AsyncIterator[RegistrationServer]:
    """Give a running registration server in a folder of its own."""
    with plugin_directory() as directory:
        server = RegistrationServer(directory)
        await server.start()
        try:
            yield server
        finally:
            with suppress(asyncio.CancelledError):
                await server.stop()
