"""What a device plugin is to the server that speaks for it: devices, and answers to five calls.

A plugin of Rebind is a subclass of `DevicePlugin`; it knows its devices and nothing of sockets.
`plugins.serving` serves it. All of it runs on one asyncio loop: a method that has to wait awaits.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence

from simulator.core.allocate_response import AllocateResponse
from simulator.core.devices import Device, DeviceId
from simulator.core.endpoints import PluginOptions
from simulator.core.instants import SECOND, Duration

Sleep = Callable[[Duration], Awaitable[None]]
"""Waits for a span of time; a plugin inside a node follows the node's clock."""


async def sleep_really(span: Duration) -> None:
    """Wait by the real clock."""
    await asyncio.sleep(span / SECOND)


class DevicePlugin(ABC):
    """One resource of one plugin, as the API sees it (S1.3).

    A method refuses a call by raising `simulator.errors.PluginCallError`; its text reaches the
    kubelet as `rpc error: code = Unknown desc = TEXT` (S3.12).

    Attributes:
        resource: The name that is registered; not checked, since that is the kubelet's business.
        wants: Which of the optional calls it wants, as it says when it registers (S1.12.6).
        sleep: How time passes for this plugin.
        gone: Set when it is to be as if its process had died.
    """

    def __init__(
        self,
        resource: str,
        *,
        wants: PluginOptions = PluginOptions(),  # noqa: B008 - a frozen value
        sleep: Sleep = sleep_really,
    ) -> None:
        self.resource = resource
        self.wants = wants
        self.sleep = sleep
        self.gone = asyncio.Event()
        self._news = asyncio.Event()

    @abstractmethod
    def devices(self) -> Sequence[Device]:
        """Return the complete list of devices as it is now."""

    @abstractmethod
    async def allocate(self, devices: tuple[DeviceId, ...]) -> AllocateResponse | None:
        """Return what a container gets with `devices`; None answers without container responses."""

    async def options(self) -> PluginOptions:
        """Answer which of the optional calls the plugin wants."""
        return self.wants

    async def prefer(
        self, available: tuple[DeviceId, ...], must_include: tuple[DeviceId, ...], size: int
    ) -> tuple[DeviceId, ...]:
        """Return the devices that the plugin would take; empty for no preference."""
        del available, must_include, size
        return ()

    async def pre_start(self, devices: tuple[DeviceId, ...]) -> None:  # noqa: B027 - most need none
        """Prepare `devices` for the start of a container that has them."""

    async def lists(self) -> AsyncGenerator[Sequence[Device], None]:
        """Yield the list of devices, and again whenever it was reported anew (S1.17)."""
        while True:
            news = self._news
            yield self.devices()
            await news.wait()

    async def run(self) -> None:  # noqa: B027 - most have nothing to look after
        """Look after the devices for as long as the plugin is served, e.g. watch their health.

        It calls `report` when the list has changed, may return early, and is cancelled at the end.
        """

    def report(self) -> None:
        """Send the list of devices to every kubelet that watches."""
        self._news.set()
        self._news = asyncio.Event()
