"""A device plugin on a real socket, that behaves as it is told and remembers what it was asked."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from types import TracebackType
from typing import Final, Self, TypeVar

from google.protobuf.message import Message

from simulator.errors import RebindError
from simulator.protocol import rebind_deviceplugin_pb2 as device_plugin
from simulator.protocol import services
from simulator.wire.servers import UnixServer

Answer = TypeVar("Answer")

DEADLINE_S: Final = 60.0
"""After how long a test gives up."""


class PluginFailedError(RebindError):
    """The plugin's own error."""


class Plugin:
    """Serves `v1beta1.DevicePlugin` while it is entered.

    Attributes:
        calls: Requests received, in order.
        lists: What is sent to whoever watches; None ends the stream, an error breaks it.
        watching: How many streams are served, and take from `lists`.
        options, allocated, preferred: What is answered.
        error: The error that is answered instead, if not empty.
        hangs: Whether calls are never answered.
        abandoned: Calls that were canceled before they were answered.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.calls: list[Message] = []
        self.lists: asyncio.Queue[
            device_plugin.ListAndWatchResponse | bytes | PluginFailedError | None
        ] = asyncio.Queue()
        self.options: device_plugin.DevicePluginOptions | bytes = (
            device_plugin.DevicePluginOptions()
        )
        self.allocated: device_plugin.AllocateResponse | bytes = device_plugin.AllocateResponse()
        self.preferred: device_plugin.PreferredAllocationResponse | bytes = (
            device_plugin.PreferredAllocationResponse()
        )
        self.error = ""
        self.hangs = False
        self.abandoned = 0
        self.watching = 0
        self.server = UnixServer(path)
        self.server.answer(services.GET_DEVICE_PLUGIN_OPTIONS, self._options)
        self.server.answer(services.ALLOCATE, self._allocate)
        self.server.answer(services.GET_PREFERRED_ALLOCATION, self._preferred)
        self.server.answer(services.PRE_START_CONTAINER, self._pre_start)
        self.server.stream(services.LIST_AND_WATCH, self._list)

    async def __aenter__(self) -> Self:
        """Serve."""
        await self.server.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop."""
        await self.server.stop()

    def send(self, *ids: str, health: str = "Healthy") -> None:
        """Send a list of devices without topology."""
        devices = [device_plugin.Device(ID=each, health=health) for each in ids]
        self.lists.put_nowait(device_plugin.ListAndWatchResponse(devices=devices))

    async def _options(
        self, request: device_plugin.Empty
    ) -> device_plugin.DevicePluginOptions | bytes:
        return await self._answer(request, self.options)

    async def _allocate(
        self, request: device_plugin.AllocateRequest
    ) -> device_plugin.AllocateResponse | bytes:
        return await self._answer(request, self.allocated)

    async def _preferred(
        self, request: device_plugin.PreferredAllocationRequest
    ) -> device_plugin.PreferredAllocationResponse | bytes:
        return await self._answer(request, self.preferred)

    async def _pre_start(
        self, request: device_plugin.PreStartContainerRequest
    ) -> device_plugin.PreStartContainerResponse:
        return await self._answer(request, device_plugin.PreStartContainerResponse())

    async def _list(
        self, request: device_plugin.Empty
    ) -> AsyncIterator[device_plugin.ListAndWatchResponse | bytes]:
        self.calls.append(request)
        self.watching += 1
        try:
            while (devices := await self.lists.get()) is not None:
                if isinstance(devices, PluginFailedError):
                    raise devices
                yield devices
        except asyncio.CancelledError:
            self.abandoned += 1
            raise
        finally:
            self.watching -= 1

    async def _answer(self, request: Message, answer: Answer) -> Answer:
        self.calls.append(request)
        try:
            if self.hangs:
                await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.abandoned += 1
            raise
        if self.error:
            raise PluginFailedError(self.error)
        return answer
