"""Two instances of one plugin on a live node: which of them is cut, and what stays behind."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest

from simulator.core.instants import MILLISECOND, Duration
from simulator.engine.plugin_ports import PluginStream
from simulator.errors import PluginCallError
from simulator.live.kubelet_sockets import KubeletSockets
from simulator.live.world import LiveWorld
from simulator.protocol import rebind_deviceplugin_pb2 as device_plugin
from simulator.protocol.services import REGISTER
from simulator.wire.connections import ConnectionSettings, dial
from tests.live.worlds import GPU, NODE, WITHIN, a_spec, a_world
from tests.wire.plugin import Plugin

LOOK = Duration(10 * MILLISECOND)
CUT_WHILE_ASKED = (
    "rpc error: code = Unknown desc = failed to get device plugin options: "
    "rpc error: code = Canceled desc = grpc: the client connection is closing"
)


def folder(world: LiveWorld) -> Path:
    return world.settings.folder(NODE).device_plugins


async def register(world: LiveWorld, plugin: Plugin) -> str:
    """Call Register for a plugin; return what it is told, empty when it is registered."""
    connection = await dial(folder(world) / "kubelet.sock", ConnectionSettings())
    request = device_plugin.RegisterRequest(
        version="v1beta1", endpoint=plugin.path.name, resource_name=GPU
    )
    try:
        await connection.call(REGISTER, request)
    except PluginCallError as error:
        return str(error)
    finally:
        await connection.close()
    return ""


async def comes_true(world: LiveWorld, condition: Callable[[], bool]) -> bool:
    """Wait for something that is no event of the nodes."""
    for _ in range(WITHIN // LOOK):
        if await world.until(condition, LOOK):
            return True
    return False


async def has_devices(world: LiveWorld, count: int) -> bool:
    return await world.until(lambda: world.node(NODE).allocatable == ((GPU, count),), WITHIN)


@asynccontextmanager
async def a_node_with_an_old_plugin(
    version: str, stack: AsyncExitStack
) -> AsyncIterator[tuple[LiveWorld, Plugin]]:
    async with a_world(a_spec(plugins=(), pods=(), kubelet_version=version)) as world:
        old = await stack.enter_async_context(Plugin(folder(world) / "old.sock"))
        old.send("g0", "g1")
        assert await register(world, old) == ""
        assert await has_devices(world, 2)
        yield world, old
        await stack.aclose()


def streams(kubelet: KubeletSockets) -> list[PluginStream]:
    return [each.stream for each in kubelet.peers_at("old.sock") if each.stream is not None]


def drop_what_nobody_took(plugin: Plugin) -> None:
    while not plugin.lists.empty():
        plugin.lists.get_nowait()


def dialed(world: LiveWorld, plugin: Plugin) -> bool:
    sockets = world.parts.sockets_of(NODE).present
    return sockets is not None and bool(sockets.peers_at(plugin.path.name))


@pytest.mark.parametrize(("version", "left"), [("1.25.0", 2), ("1.36.2", 2), ("1.37.0", 0)])
def test_a_plugin_that_is_dialed_as_its_predecessor_ends_loses_its_slot(
    version: str, left: int
) -> None:
    """S1.16, S1.22: its slot is taken before it is dialed, and so it is the one that is removed.

    It is registered all the same; when its own stream ends, nobody is found to disconnect. From
    1.37 on each has a slot of its own (PR 135437).
    """

    async def play() -> None:
        async with (
            AsyncExitStack() as stack,
            a_node_with_an_old_plugin(version, stack) as (world, old),
        ):
            new = Plugin(folder(world) / "new.sock")
            registering = asyncio.create_task(register(world, new))
            assert await comes_true(world, lambda: dialed(world, new))
            old.lists.put_nowait(None)
            assert await has_devices(world, 0)
            await stack.enter_async_context(new)
            new.send("g0", "g1")
            assert await registering == ""
            assert await has_devices(world, 2)
            new.lists.put_nowait(None)
            peers = world.parts.sockets_of(NODE).present
            assert peers is not None
            assert await comes_true(
                world, lambda: not any(peer.stream for peer in peers.peers_at("new.sock"))
            )
            assert world.node(NODE).allocatable == ((GPU, left),)

    asyncio.run(play())


def test_a_plugin_that_is_asked_for_its_options_as_its_predecessor_ends_is_refused() -> None:
    """S1.12.6, S1.22: the connection of whoever has the slot is closed."""

    async def play() -> None:
        async with (
            AsyncExitStack() as stack,
            a_node_with_an_old_plugin("1.36.2", stack) as (world, old),
        ):
            new = await stack.enter_async_context(Plugin(folder(world) / "new.sock"))
            new.hangs = True
            registering = asyncio.create_task(register(world, new))
            assert await comes_true(world, lambda: bool(new.calls))
            old.lists.put_nowait(None)
            assert await registering == CUT_WHILE_ASKED
            assert world.node(NODE).allocatable == ((GPU, 0),)
            assert world.node(NODE).capacity == ((GPU, 2),)

            new.hangs = False
            new.send("g0")
            assert await register(world, new) == ""
            assert await has_devices(world, 1)

    asyncio.run(play())


@pytest.mark.parametrize("version", ["1.24.0", "1.36.2", "1.37.0"])
def test_connections_of_earlier_registrations_do_not_add_up(version: str) -> None:
    """S1.23: each registration has a stream; when all have ended, one connection is kept."""

    async def play() -> None:
        async with (
            AsyncExitStack() as stack,
            a_node_with_an_old_plugin(version, stack) as (world, old),
        ):
            kubelet = world.parts.sockets_of(NODE).present
            assert kubelet is not None
            for _ in range(9):
                old.send("g0", "g1")
                assert await register(world, old) == ""
            assert await comes_true(world, lambda: len(streams(kubelet)) == old.watching == 10)
            for _ in range(10):
                old.lists.put_nowait(None)
            assert await comes_true(world, lambda: not streams(kubelet) and not old.watching)
            drop_what_nobody_took(old)  # of a stream that the kubelet cut before its end was sent
            old.send("g0")
            assert await register(world, old) == ""
            assert await has_devices(world, 1)
            assert await comes_true(world, lambda: len(kubelet.peers_at("old.sock")) == 1)

    asyncio.run(play())
