"""Lists of tens of thousands of devices, as real messages of a real plugin."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from plugins.rpc import message_of
from simulator.core.devices import HEALTHY, UNHEALTHY, Device, DeviceId
from simulator.core.records import ListTooLarge, PluginDisconnected, Record, StateWritten
from simulator.core.resources import ResourceName
from simulator.core.transitions import NodeName
from simulator.engine.actions import CreatePod, StartPlugin
from simulator.engine.spec import NodeSpec
from simulator.live.world import LiveWorld
from simulator.protocol import rebind_deviceplugin_pb2 as device_plugin
from simulator.protocol.services import REGISTER
from simulator.wire.connections import ConnectionSettings, dial
from tests.live.worlds import NODE, WITHIN, a_spec, a_world, done
from tests.wire.plugin import Plugin

CHIP = ResourceName("example.com/chip")
OTHER = NodeName("n1")


def devices(count: int, *ill: int) -> list[Device]:
    """Return devices with ids of 65 bytes: 78 bytes each in a message."""
    return [
        Device(DeviceId(f"GPU-{number:08d}-{0:052d}"), UNHEALTHY if number in ill else HEALTHY)
        for number in range(count)
    ]


@asynccontextmanager
async def chips(world: LiveWorld) -> AsyncIterator[Plugin]:
    """Serve a plugin of the other node and register it there."""
    folder = world.settings.folder(OTHER)
    async with Plugin(folder.device_plugins / "chip.sock") as plugin:
        kubelet = await dial(folder.registration_socket, ConnectionSettings())
        request = device_plugin.RegisterRequest(
            version="v1beta1", endpoint="chip.sock", resource_name=CHIP
        )
        await kubelet.call(REGISTER, request)
        await kubelet.close()
        yield plugin


def committed(world: LiveWorld) -> int:
    """Return how many device lists of the other node are durable."""
    return sum(
        isinstance(each.record, StateWritten) and each.record.cause == "devices"
        for each in world.records
        if each.node == OTHER
    )


def allocatable(world: LiveWorld) -> int:
    return dict(world.node(OTHER).allocatable).get(CHIP, 0)


def test_a_list_of_50_000_devices_is_taken_while_other_nodes_admit_pods() -> None:
    """S1.17, S1.18: the whole list is folded in and committed, and again when one has changed."""

    async def play() -> None:
        spec = a_spec(nodes=(NodeSpec(NODE), NodeSpec(OTHER)))
        async with a_world(spec) as world, chips(world) as plugin:
            await done(world, StartPlugin("gpu"), "plugin")
            before = committed(world)
            plugin.lists.put_nowait(message_of(devices(50_000)))
            await done(world, CreatePod("a", NODE), "pod")
            assert await world.until(lambda: committed(world) > before, WITHIN)
            assert allocatable(world) == 50_000
            plugin.lists.put_nowait(message_of(devices(50_000, 7)))
            assert await world.until(lambda: committed(world) > before + 1, WITHIN)
            assert allocatable(world) == 49_999

    asyncio.run(play())


def test_a_list_of_60_000_devices_of_78_bytes_ends_the_stream_and_says_how_many_fit() -> None:
    """S1.21, S1.22; conventions.md §4, trap 3."""

    async def play() -> None:
        spec = a_spec(nodes=(NodeSpec(NODE), NodeSpec(OTHER)))
        async with a_world(spec) as world, chips(world) as plugin:
            plugin.lists.put_nowait(message_of(devices(1_000)))
            assert await world.until(lambda: allocatable(world) == 1_000, WITHIN)
            plugin.lists.put_nowait(message_of(devices(60_000)))
            assert await world.until(lambda: PluginDisconnected(CHIP) in happened(world), WITHIN)
            too_large = ListTooLarge(CHIP, 60_000, size=4_680_000, limit=4_194_304, fitting=53_773)
            assert too_large in happened(world)
            assert allocatable(world) == 0
            assert dict(world.node(OTHER).capacity) == {CHIP: 1_000}

    asyncio.run(play())


def happened(world: LiveWorld) -> list[Record]:
    return [each.record for each in world.records]
