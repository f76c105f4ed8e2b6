"""The kubelet's side of one device plugin: options, device lists, calls (S1.12 to S1.26).

Kubelet: client and endpoint (plugin/v1beta1/client.go, devicemanager/endpoint.go).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from simulator.core.calls import (
    AllocateCall,
    AllocateReply,
    CallFailed,
    PluginCall,
    PluginReply,
    PreferredAllocationCall,
    PreferredAllocationReply,
    PreStartContainerCall,
    PreStartContainerReply,
)
from simulator.core.devices import Device, DeviceId
from simulator.core.endpoints import PRE_START_TIMEOUT, PluginOptions
from simulator.core.instants import Duration
from simulator.errors import (
    MessageTooLargeError,
    PluginCallError,
    PluginError,
    ServerError,
)
from simulator.protocol import rebind_deviceplugin_pb2 as device_plugin
from simulator.protocol.services import (
    ALLOCATE,
    GET_DEVICE_PLUGIN_OPTIONS,
    GET_PREFERRED_ALLOCATION,
    LIST_AND_WATCH,
    PRE_START_CONTAINER,
)
from simulator.wire.allocate_answers import container_answers
from simulator.wire.connections import Connection, ConnectionSettings, dial
from simulator.wire.device_lists import DEVICES_MAX, DeviceListReader, OversizeList, measure
from simulator.wire.status import STREAM_ENDED, too_large_error


@dataclass(frozen=True, slots=True)
class PluginClientSettings:
    """How a kubelet treats its plugins.

    Attributes:
        connection: Dialing, sizes, signs of life.
        options_timeout: Deadline of GetDevicePluginOptions; None for none, as in the kubelet
            (S1.13).
        pre_start_timeout: Deadline of PreStartContainer.
        devices_max: Most devices of one list; a longer one ends the stream.
        lenient: `Behavior.lenient_allocate_responses`: what passes for an answer to Allocate.
    """

    connection: ConnectionSettings = field(default_factory=ConnectionSettings)
    options_timeout: Duration | None = None
    pre_start_timeout: Duration = PRE_START_TIMEOUT
    devices_max: int = DEVICES_MAX
    lenient: bool = True


@dataclass(frozen=True, slots=True)
class StreamEnd:
    """How a ListAndWatch stream ended (S1.22).

    Attributes:
        cause: `EOF` when the plugin ended it, else Go's text of the error.
        oversize: The list that was too large, if that was the cause (S1.21).
    """

    cause: str
    oversize: OversizeList | None = None


class PluginClient:
    """One plugin behind one socket, connected by `dial`, until `close`.

    Attributes:
        path: Its socket.
    """

    def __init__(self, connection: Connection, settings: PluginClientSettings) -> None:
        self.path = connection.path
        self._connection = connection
        self._settings = settings

    @classmethod
    async def dial(cls, path: Path, settings: PluginClientSettings) -> Self:
        """Connect to a plugin, waiting until it serves its socket (S1.12.5, S1.13).

        Raises:
            PluginCallError: It does not in time; the text is the one that Register fails with.
        """
        try:
            connection = await dial(path, settings.connection)
        except (PluginError, ServerError) as error:
            message = f"failed to dial device plugin: {error}"
            raise PluginCallError(message) from error
        return cls(connection, settings)

    async def options(self) -> PluginOptions:
        """Ask for the plugin's options (S1.12.6).

        Raises:
            PluginCallError: The call failed; the text is the one that Register fails with.
        """
        try:
            answer = await self._connection.call(
                GET_DEVICE_PLUGIN_OPTIONS, device_plugin.Empty(), self._settings.options_timeout
            )
        except PluginCallError as error:
            message = f"failed to get device plugin options: {error}"
            raise PluginCallError(message, code=error.code) from error
        return PluginOptions(answer.pre_start_required, answer.get_preferred_allocation_available)

    async def watch(self, listed: Callable[[tuple[Device, ...]], Awaitable[None]]) -> StreamEnd:
        """Read the plugin's device lists until the stream ends, and tell how it ended.

        The next list is read when `listed` has returned, so a plugin that sends faster than it is
        listened to has to wait. An error of `listed` ends the stream and is passed on.
        """
        contents = self._connection.stream_of_bytes(LIST_AND_WATCH, device_plugin.Empty())
        reader = DeviceListReader(self._settings.devices_max)
        async with aclosing(contents):
            while True:
                devices = await self._next_list(contents, reader)
                if isinstance(devices, StreamEnd):
                    return devices
                await listed(devices)

    async def call(self, call: PluginCall) -> PluginReply:
        """Make a call out of a decision; a failure is a reply with Go's text."""
        try:
            if isinstance(call, AllocateCall):
                return await self._allocate(call)
            if isinstance(call, PreferredAllocationCall):
                return await self._preferred_allocation(call)
            return await self._pre_start_container(call)
        except PluginCallError as error:
            return CallFailed(str(error))

    async def close(self) -> None:
        """Close the connection; the stream and the calls under way fail. The plugin is not told."""
        await self._connection.close()

    async def _next_list(
        self, contents: AsyncIterator[bytes], reader: DeviceListReader
    ) -> tuple[Device, ...] | StreamEnd:
        limit = self._connection.receive_bytes_max
        try:
            content = await anext(contents, None)
            if content is None:
                return StreamEnd(STREAM_ENDED)
            if len(content) > limit:
                oversize = await measure(content, limit, self._settings.devices_max)
                return StreamEnd(str(too_large_error(len(content), limit)), oversize)
            return await reader.read(content)
        except MessageTooLargeError as error:
            return StreamEnd(str(error), OversizeList(error.size, error.limit))
        except PluginCallError as error:
            return StreamEnd(str(error))

    async def _allocate(self, call: AllocateCall) -> AllocateReply:
        container = device_plugin.ContainerAllocateRequest(devices_ids=call.devices)
        request = device_plugin.AllocateRequest(container_requests=[container])
        content = await self._connection.call_for_bytes(ALLOCATE, request)
        answers = container_answers(content, lenient=self._settings.lenient)
        return AllocateReply(answers[0] if answers else None)

    async def _preferred_allocation(self, call: PreferredAllocationCall) -> PluginReply:
        container = device_plugin.ContainerPreferredAllocationRequest(
            available_deviceIDs=call.available,
            must_include_deviceIDs=call.must_include,
            allocation_size=call.size,
        )
        request = device_plugin.PreferredAllocationRequest(container_requests=[container])
        answer = await self._connection.call(GET_PREFERRED_ALLOCATION, request)
        preferred = answer.container_responses[0].deviceIDs if answer.container_responses else ()
        return PreferredAllocationReply(tuple(DeviceId(each) for each in preferred))

    async def _pre_start_container(self, call: PreStartContainerCall) -> PluginReply:
        request = device_plugin.PreStartContainerRequest(devices_ids=call.devices)
        await self._connection.call(PRE_START_CONTAINER, request, self._settings.pre_start_timeout)
        return PreStartContainerReply()
