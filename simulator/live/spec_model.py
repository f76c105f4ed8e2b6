"""What a built-in plugin answers that does what the spec of a simulated one says."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from typing import Final

from typing_extensions import override

from plugins.model import DevicePlugin
from simulator.core.allocate_response import AllocateResponse, decode
from simulator.core.calls import (
    AllocateCall,
    AllocateReply,
    CallFailed,
    PluginCall,
    PluginReply,
    PreferredAllocationCall,
    PreferredAllocationReply,
    PreStartContainerCall,
)
from simulator.core.devices import Device, DeviceId
from simulator.core.endpoints import PluginOptions
from simulator.core.instants import Duration
from simulator.core.pods import ContainerName, PodUid
from simulator.engine.plugin_answers import answer_of, latency_of
from simulator.engine.spec import PluginSpec
from simulator.errors import PluginCallError

_NO_POD: Final = PodUid("")
_NO_CONTAINER: Final = ContainerName("")


class SpecModel(DevicePlugin):
    """A plugin that does what the spec of a simulated one says, over a real socket.

    Attributes:
        listed: The list that it sends.
        waiting: How many calls are answered later, because the spec says so.
        sleeping: How often it waits for time to pass.
    """

    def __init__(self, spec: PluginSpec, sleep: Callable[[Duration], Awaitable[None]]) -> None:
        wants = PluginOptions(spec.pre_start_required, spec.preferred_allocation)
        super().__init__(spec.resource, wants=wants, sleep=self._sleep)
        self.listed = spec.devices
        self.waiting = self.sleeping = 0
        self._time = sleep
        self._spec = spec
        self._answers = asyncio.Event()
        self._answers.set()
        self._breaks = 0

    def hang(self) -> None:
        """Answer no call from now on."""
        self._answers.clear()

    def recover(self) -> None:
        """Answer again, what waits included."""
        self._answers.set()

    def begin_anew(self) -> None:
        """Answer what comes from now on; what waits belongs to a process that has ended."""
        self._answers = asyncio.Event()
        self._answers.set()

    def break_streams(self) -> None:
        """End the streams that are open now."""
        self._breaks += 1
        self.report()

    @override
    def devices(self) -> Sequence[Device]:
        """Return the list."""
        return self.listed

    @override
    async def options(self) -> PluginOptions:
        """Answer which of the optional calls are wanted, or fail."""
        if self._spec.fail_options:
            raise PluginCallError(self._spec.fail_options)
        return self.wants

    @override
    async def lists(self) -> AsyncGenerator[Sequence[Device], None]:
        """Yield the list whenever it was reported, until the stream is broken."""
        breaks = self._breaks
        while breaks == self._breaks and not self._spec.fail_list:
            news = self._news
            yield self.devices()
            await news.wait()

    @override
    async def allocate(self, devices: tuple[DeviceId, ...]) -> AllocateResponse | None:
        """Grant the devices."""
        call = AllocateCall(self._spec.resource, devices, _NO_POD, _NO_CONTAINER)
        reply = await self._answer(call)
        response = reply.response if isinstance(reply, AllocateReply) else None
        return None if response is None else decode(response)

    @override
    async def prefer(
        self, available: tuple[DeviceId, ...], must_include: tuple[DeviceId, ...], size: int
    ) -> tuple[DeviceId, ...]:
        """Return the preferred devices."""
        call = PreferredAllocationCall(
            self._spec.resource, available, must_include, size, _NO_POD, _NO_CONTAINER
        )
        reply = await self._answer(call)
        return reply.devices if isinstance(reply, PreferredAllocationReply) else ()

    @override
    async def pre_start(self, devices: tuple[DeviceId, ...]) -> None:
        """Prepare devices."""
        await self._answer(
            PreStartContainerCall(self._spec.resource, devices, _NO_POD, _NO_CONTAINER)
        )

    async def _sleep(self, span: Duration) -> None:
        self.sleeping += 1
        try:
            await self._time(span)
        finally:
            self.sleeping -= 1

    async def _answer(self, call: PluginCall) -> PluginReply:
        self.waiting += 1
        try:
            await self.sleep(latency_of(self._spec, call))
            await self._answers.wait()
        finally:
            self.waiting -= 1
        reply = answer_of(self._spec, call)
        if isinstance(reply, CallFailed):
            raise PluginCallError(reply.message.partition(" desc = ")[2])
        return reply
