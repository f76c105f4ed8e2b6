"""Plugins on sockets of their own beside a live node, in the hands of a test."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final, TypeVar

from plugins.registering import register
from simulator.core.endpoints import PluginOptions
from simulator.core.instants import MILLISECOND, SECOND, Duration
from simulator.core.records import Record
from simulator.live.world import LiveWorld
from simulator.protocol import rebind_deviceplugin_pb2 as device_plugin
from tests.live.worlds import GPU, NODE, WITHIN, a_pod, a_spec, a_world
from tests.wire.plugin import Plugin

Kind = TypeVar("Kind", bound=Record)
LOOK: Final = Duration(20 * MILLISECOND)


class Beside:
    """A plugin and the node that it serves.

    Attributes:
        plugin: Its server, which answers as it is told.
    """

    def __init__(self, world: LiveWorld, endpoint: str) -> None:
        folder = world.settings.folder(NODE)
        self.plugin = Plugin(folder.device_plugins / endpoint)
        self.plugin.allocated = device_plugin.AllocateResponse(
            container_responses=[device_plugin.ContainerAllocateResponse(envs={"A": "b"})]
        )
        self._world = world
        self._endpoint = endpoint
        self._kubelet = folder.registration_socket

    async def register(
        self,
        resource: str = GPU,
        *,
        version: str = "v1beta1",
        wants: PluginOptions | None = None,
        endpoint: str | None = None,
    ) -> str:
        """Call Register; returns the error's text, empty when it was accepted."""
        return await register(
            self._kubelet,
            endpoint=self._endpoint if endpoint is None else endpoint,
            resources=(resource,),
            version=version,
            wants=wants or PluginOptions(),
            within=WITHIN,
        )

    def send_states(self, *states: tuple[str, str]) -> None:
        """Send a list of ids and what is said of each one's health."""
        devices = [device_plugin.Device(ID=id_, health=state) for id_, state in states]
        self.plugin.lists.put_nowait(device_plugin.ListAndWatchResponse(devices=devices))

    async def lists(self, *ids: str, total: int | None = None, health: str = "Healthy") -> None:
        """Send a list, and wait until the node has so many devices of the resource."""
        self.plugin.send(*ids, health=health)
        await until(self._world, lambda: capacity(self._world) == (total or len(ids)))


@asynccontextmanager
async def beside(world: LiveWorld, endpoint: str = "p.sock") -> AsyncIterator[Beside]:
    """Serve a plugin's socket; it has not registered yet."""
    found = Beside(world, endpoint)
    async with found.plugin:
        yield found


async def until(world: LiveWorld, condition: Callable[[], bool]) -> None:
    """Wait until something is true of a world, or of a plugin beside it."""
    end = time.monotonic() + WITHIN / SECOND
    while not await world.until(condition, LOOK):
        assert time.monotonic() < end


def capacity(world: LiveWorld, resource: str = GPU) -> int | None:
    """Return how many devices of a resource the node has; None when it does not know it."""
    return {str(name): count for name, count in world.node(NODE).capacity}.get(resource)


def allocatable(world: LiveWorld, resource: str = GPU) -> int | None:
    """Return how many of them can be given to pods."""
    return {str(name): count for name, count in world.node(NODE).allocatable}.get(resource)


def records_of(world: LiveWorld, kind: type[Kind]) -> list[Kind]:
    """Return the records of one type."""
    return [each.record for each in world.records if isinstance(each.record, kind)]


def on_a_node(
    test: Callable[[LiveWorld], Awaitable[None]], version: str = "1.36.2", **settings: object
) -> None:
    """Run a test on one node without plugins of its own."""

    async def play() -> None:
        spec = a_spec(
            plugins=(),
            pods=(a_pod("a"), a_pod("b")),
            kubelet_version=version,
            persistence="checkpoint",
        )
        async with a_world(spec, **settings) as world:
            await test(world)

    asyncio.run(play())
