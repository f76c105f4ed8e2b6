"""Stories between a plugin and a client that is connected to it, over a real socket."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

from simulator.core.calls import AllocateCall, PreStartContainerCall
from simulator.core.devices import DeviceId
from simulator.core.pods import ContainerName, PodUid
from simulator.core.resources import ResourceName
from simulator.wire.plugin_client import PluginClient, PluginClientSettings
from tests.wire.plugin import DEADLINE_S, Plugin

GPU: Final = ResourceName("example.com/gpu")
POD, CONTAINER = PodUid("pod-1"), ContainerName("main")
SETTINGS: Final = PluginClientSettings()


def ids(*names: str) -> tuple[DeviceId, ...]:
    """Return device ids."""
    return tuple(DeviceId(name) for name in names)


PRE_START: Final = PreStartContainerCall(GPU, ids("g0", "g1"), POD, CONTAINER)


def allocate(*names: str) -> AllocateCall:
    """Return an Allocate call."""
    return AllocateCall(GPU, ids(*names), POD, CONTAINER)


def run(
    folder: Path,
    story: Callable[[Plugin, PluginClient], Awaitable[None]],
    settings: PluginClientSettings = SETTINGS,
) -> None:
    """Let a story happen between a plugin and a connected client."""

    async def tell() -> None:
        async with asyncio.timeout(DEADLINE_S), Plugin(folder / "p.sock") as plugin:
            client = await PluginClient.dial(plugin.path, settings)
            try:
                await story(plugin, client)
            finally:
                await client.close()

    asyncio.run(tell())


async def until(condition: Callable[[], bool]) -> None:
    """Wait until something is true."""
    while not condition():  # noqa: ASYNC110 - the plugin's side has no event for everything
        await asyncio.sleep(0.005)
