"""The kubelet's side of a plugin, over a real socket."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from simulator.core.calls import (
    CallFailed,
)
from simulator.core.devices import HEALTHY, UNHEALTHY, Device, DeviceId, NumaNode
from simulator.core.endpoints import PluginOptions
from simulator.core.instants import MILLISECOND, MINUTE, SECOND, Duration
from simulator.errors import PluginCallError
from simulator.protocol import rebind_deviceplugin_pb2 as device_plugin
from simulator.wire.connections import ConnectionSettings
from simulator.wire.device_lists import OversizeList
from simulator.wire.plugin_client import PluginClient, PluginClientSettings, StreamEnd
from tests.wire.plugin import DEADLINE_S, Plugin, PluginFailedError
from tests.wire.stories import PRE_START, SETTINGS, allocate, run, until

HASTY: Final = PluginClientSettings(
    connection=ConnectionSettings(dial_timeout=Duration(50 * MILLISECOND))
)


def watched(
    folder: Path,
    prepare: Callable[[Plugin], None],
    settings: PluginClientSettings = SETTINGS,
) -> tuple[list[tuple[Device, ...]], StreamEnd]:
    """Watch a plugin until its stream ends; return its lists and the end."""
    lists: list[tuple[Device, ...]] = []
    ends: list[StreamEnd] = []

    async def listed(devices: tuple[Device, ...]) -> None:
        lists.append(devices)

    async def story(plugin: Plugin, client: PluginClient) -> None:
        prepare(plugin)
        ends.append(await client.watch(listed))

    run(folder, story, settings)
    return lists, ends[0]


# Dialing and options


def test_a_plugin_that_never_serves_fails_the_dial_at_the_deadline(folder: Path) -> None:
    """S1.12.5."""
    with pytest.raises(PluginCallError) as failure:
        asyncio.run(PluginClient.dial(folder / "absent.sock", HASTY))

    assert str(failure.value) == "failed to dial device plugin: context deadline exceeded"


def test_the_deadline_of_a_dial_is_10_seconds() -> None:
    """S1.12.5."""
    assert SETTINGS.connection.dial_timeout == 10 * SECOND


def test_a_socket_that_accepts_but_never_speaks_fails_the_dial_at_the_deadline(
    folder: Path,
) -> None:
    path = folder / "silent.sock"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.fspath(path))
        listener.listen()

        with pytest.raises(PluginCallError, match="context deadline exceeded"):
            asyncio.run(PluginClient.dial(path, HASTY))


def test_a_path_that_is_too_long_fails_the_dial_at_once_with_its_length(folder: Path) -> None:
    """S1.6; conventions.md §4, trap 5."""
    path = folder / ("x" * 100)
    length = len(os.fsencode(path))

    with pytest.raises(PluginCallError) as failure:
        asyncio.run(PluginClient.dial(path, SETTINGS))

    assert str(failure.value).startswith("failed to dial device plugin: ")
    assert f"has {length} bytes; at most 107 are possible" in str(failure.value)


def test_a_plugin_that_serves_a_little_late_is_reached(folder: Path) -> None:
    """S1.13: the dial waits for the socket."""

    async def story() -> None:
        plugin = Plugin(folder / "p.sock")
        dialed = asyncio.create_task(PluginClient.dial(plugin.path, SETTINGS))
        await asyncio.sleep(0.05)
        async with plugin:
            client = await dialed
            assert await client.options() == PluginOptions()
            await client.close()

    asyncio.run(story())


def test_options_are_asked_for(folder: Path) -> None:
    """S1.12.6."""

    async def story(plugin: Plugin, client: PluginClient) -> None:
        plugin.options = device_plugin.DevicePluginOptions(pre_start_required=True)
        assert await client.options() == PluginOptions(pre_start_required=True)
        plugin.options = device_plugin.DevicePluginOptions(get_preferred_allocation_available=True)
        assert await client.options() == PluginOptions(preferred_allocation=True)
        assert plugin.calls == [device_plugin.Empty(), device_plugin.Empty()]

    run(folder, story)


def test_failed_options_fail_with_the_text_of_the_plugin(folder: Path) -> None:
    """S1.12.6; upstream-tests.md §8, GetDevicePluginOptions fails."""

    async def story(plugin: Plugin, client: PluginClient) -> None:
        plugin.error = "the card is on fire"
        with pytest.raises(PluginCallError) as failure:
            await client.options()
        assert str(failure.value) == (
            "failed to get device plugin options: "
            "rpc error: code = Unknown desc = the card is on fire"
        )
        assert len(plugin.calls) == 1

    run(folder, story)


def test_hanging_options_hang_until_the_caller_gives_up(folder: Path) -> None:
    """S1.13: the kubelet has no timeout of its own."""

    async def story(plugin: Plugin, client: PluginClient) -> None:
        plugin.hangs = True
        asked = asyncio.create_task(client.options())
        await until(lambda: bool(plugin.calls))
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
        await until(lambda: plugin.abandoned == 1)

    run(folder, story)


def test_options_can_be_given_a_deadline(folder: Path) -> None:
    async def story(plugin: Plugin, client: PluginClient) -> None:
        plugin.hangs = True
        with pytest.raises(PluginCallError) as failure:
            await client.options()
        assert str(failure.value) == (
            "failed to get device plugin options: "
            "rpc error: code = DeadlineExceeded desc = context deadline exceeded"
        )

    run(folder, story, replace(SETTINGS, options_timeout=Duration(50 * MILLISECOND)))


# ListAndWatch


def test_each_message_is_a_complete_list(folder: Path) -> None:
    """S1.17, S1.20."""

    def prepare(plugin: Plugin) -> None:
        plugin.send("g0", "g1")
        plugin.send("g1", health="Unhealthy")
        plugin.send()
        plugin.lists.put_nowait(None)

    lists, end = watched(folder, prepare)

    assert lists == [
        (Device(DeviceId("g0")), Device(DeviceId("g1"))),
        (Device(DeviceId("g1"), "Unhealthy"),),
        (),
    ]
    assert end == StreamEnd("EOF")


def test_run(folder: Path) -> None:
    """Upstream TestRun (endpoint_test.go): two callbacks, contents and order as sent."""

    def listing(*devices: tuple[str, str]) -> device_plugin.ListAndWatchResponse:
        return device_plugin.ListAndWatchResponse(
            devices=[device_plugin.Device(ID=name, health=health) for name, health in devices]
        )

    first = (("ADeviceId", HEALTHY), ("AnotherDeviceId", HEALTHY), ("AThirdDeviceId", UNHEALTHY))
    second = (("ADeviceId", UNHEALTHY), ("AThirdDeviceId", HEALTHY), ("AFourthDeviceId", HEALTHY))

    def prepare(plugin: Plugin) -> None:
        plugin.lists.put_nowait(listing(*first))
        plugin.lists.put_nowait(listing(*second))
        plugin.lists.put_nowait(None)

    lists, _ = watched(folder, prepare)

    assert lists == [
        tuple(Device(DeviceId(name), health) for name, health in devices)
        for devices in (first, second)
    ]


def test_50_000_devices_are_taken_while_others_get_their_turn(folder: Path) -> None:
    """Issue 4, acceptance 5; the time that it takes is a benchmark's."""
    turns: list[int] = []

    async def story(plugin: Plugin, client: PluginClient) -> None:
        lists: list[tuple[Device, ...]] = []

        async def listed(devices: tuple[Device, ...]) -> None:
            lists.append(devices)

        async def count_turns() -> None:
            while not lists:
                turns.append(len(turns))
                await asyncio.sleep(0)

        plugin.send(*(f"gpu-{index}" for index in range(50_000)))
        plugin.lists.put_nowait(None)
        other = asyncio.create_task(count_turns())
        assert await client.watch(listed) == StreamEnd("EOF")
        await other
        assert [len(devices) for devices in lists] == [50_000]
        assert lists[0][-1] == Device(DeviceId("gpu-49999"))

    run(folder, story)

    assert len(turns) >= 25


def test_health_and_topology_come_as_the_plugin_sent_them(folder: Path) -> None:
    """S1.4, S1.5: no message, a message without nodes and several nodes are three things."""
    topology = device_plugin.TopologyInfo

    def prepare(plugin: Plugin) -> None:
        devices = [
            device_plugin.Device(ID="a", health="healthy"),
            device_plugin.Device(ID="a", health="", topology=topology()),
            device_plugin.Device(
                ID="b",
                health="Healthy",
                topology=topology(
                    nodes=[device_plugin.NUMANode(ID=1), device_plugin.NUMANode(ID=-1)]
                ),
            ),
        ]
        plugin.lists.put_nowait(device_plugin.ListAndWatchResponse(devices=devices))
        plugin.lists.put_nowait(None)

    lists, _ = watched(folder, prepare)

    assert lists == [
        (
            Device(DeviceId("a"), "healthy", None),
            Device(DeviceId("a"), "", ()),
            Device(DeviceId("b"), "Healthy", (NumaNode(1), NumaNode(-1))),
        )
    ]


def test_a_stream_that_fails_at_once_ends_with_the_text_of_the_plugin(folder: Path) -> None:
    """S1.22; upstream-tests.md §8, ListAndWatch fails immediately."""
    lists, end = watched(folder, lambda plugin: plugin.lists.put_nowait(PluginFailedError("gone")))

    assert lists == []
    assert end == StreamEnd("rpc error: code = Unknown desc = gone")


def test_a_list_larger_than_may_be_received_ends_the_stream_and_says_how_many_fit(
    folder: Path,
) -> None:
    """S1.21; conventions.md §4, trap 3: 60,000 devices of 78 bytes do not fit, 53,773 would."""
    name = "GPU-{:08d}-" + "0" * 52

    def prepare(plugin: Plugin) -> None:
        plugin.send(*(name.format(index) for index in range(60_000)))

    lists, end = watched(folder, prepare)

    assert lists == []
    assert end.cause == (
        "rpc error: code = ResourceExhausted desc = "
        "grpc: received message larger than max (4680000 vs. 4194304)"
    )
    assert end.oversize == OversizeList(4_680_000, 4_194_304, devices=60_000, fitting=53_773)


def test_the_limit_can_be_set(folder: Path) -> None:
    """S1.21; a message that is far too large is not looked at."""
    tiny = replace(SETTINGS, connection=ConnectionSettings(receive_bytes_max=100))

    def prepare(plugin: Plugin) -> None:
        plugin.send("g0")
        plugin.send("x" * 1_000)

    lists, end = watched(folder, prepare, tiny)

    assert [len(devices) for devices in lists] == [1]
    assert end.cause.endswith("desc = grpc: received message larger than max (1015 vs. 100)")
    assert end.oversize == OversizeList(1015, 100)


def test_bytes_that_are_no_list_end_the_stream(folder: Path) -> None:
    _, end = watched(folder, lambda plugin: plugin.lists.put_nowait(b"\x0a\xff"))

    assert end == StreamEnd(
        "rpc error: code = Internal desc = grpc: failed to unmarshal the received message: "
        "proto: cannot parse invalid wire-format data"
    )


def test_a_list_is_read_only_when_the_one_before_has_been_taken(folder: Path) -> None:
    async def story(plugin: Plugin, client: PluginClient) -> None:
        taken, go_on = 0, asyncio.Event()

        async def listed(_: tuple[Device, ...]) -> None:
            nonlocal taken
            taken += 1
            await go_on.wait()

        plugin.send("a")
        plugin.send("b")
        plugin.lists.put_nowait(None)
        watching = asyncio.create_task(client.watch(listed))
        await until(lambda: taken == 1)
        await client.call(allocate("a"))  # The other calls are not held up.
        assert taken == 1
        go_on.set()
        assert await watching == StreamEnd("EOF")
        assert taken == 2

    run(folder, story)


def test_closing_ends_the_stream_and_the_calls_under_way(folder: Path) -> None:
    """S1.22: the plugin is not told; its calls are broken off."""
    closing = "rpc error: code = Canceled desc = grpc: the client connection is closing"

    async def listed(_: tuple[Device, ...]) -> None: ...

    async def story(plugin: Plugin, client: PluginClient) -> None:
        plugin.hangs = True
        watching = asyncio.create_task(client.watch(listed))
        calling = asyncio.create_task(client.call(allocate("a")))
        await until(lambda: len(plugin.calls) == 2)
        await client.close()
        assert await watching == StreamEnd(closing)
        assert await calling == CallFailed(closing)
        assert await client.call(allocate("a")) == CallFailed(closing)
        assert await client.watch(listed) == StreamEnd(closing)
        await until(lambda: plugin.abandoned == 2)

    run(folder, story)


def test_a_canceled_watch_is_canceled(folder: Path) -> None:
    async def listed(_: tuple[Device, ...]) -> None: ...

    async def story(plugin: Plugin, client: PluginClient) -> None:
        watching = asyncio.create_task(client.watch(listed))
        await until(lambda: len(plugin.calls) == 1)
        watching.cancel()
        with pytest.raises(asyncio.CancelledError):
            await watching
        await until(lambda: plugin.abandoned == 1)

    run(folder, story)


def test_a_plugin_that_stops_ends_the_stream_and_fails_calls(folder: Path) -> None:
    """S1.22; upstream-tests.md §8, plugin process stops."""

    async def listed(_: tuple[Device, ...]) -> None: ...

    async def story(plugin: Plugin, client: PluginClient) -> None:
        watching = asyncio.create_task(client.watch(listed))
        await until(lambda: len(plugin.calls) == 1)
        await plugin.server.stop()
        end = await watching
        assert end.cause.startswith("rpc error: code = Unavailable desc = ")
        reply = await client.call(allocate("a"))
        assert isinstance(reply, CallFailed)
        assert reply.message == (
            'rpc error: code = Unavailable desc = connection error: desc = "transport: Error '
            f'while dialing: dial unix {plugin.path}: connect: no such file or directory"'
        )

    run(folder, story)


# Connections


def test_two_connections_to_one_path_are_two(folder: Path) -> None:
    """S1.10, S1.23: a plugin that made its socket anew is another one than before."""

    async def story() -> None:
        async with asyncio.timeout(DEADLINE_S), Plugin(folder / "p.sock") as old:
            first = await PluginClient.dial(old.path, SETTINGS)
            old.path.unlink()
            async with Plugin(old.path) as new:
                second = await PluginClient.dial(new.path, SETTINGS)
                await first.call(PRE_START)
                await second.call(PRE_START)
                assert (len(old.calls), len(new.calls)) == (1, 1)
                await second.close()
            await first.close()

    asyncio.run(story())


def test_paths_with_signs_that_mean_something_to_gRPC_are_only_paths(folder: Path) -> None:
    async def story() -> None:
        async with asyncio.timeout(DEADLINE_S), Plugin(folder / "a%41 ?b#c:é.sock") as plugin:
            client = await PluginClient.dial(plugin.path, SETTINGS)
            assert await client.options() == PluginOptions()
            await client.close()

    asyncio.run(story())


FOREIGN_PLUGIN: Final = """
import asyncio, sys
from pathlib import Path
from tests.wire.plugin import Plugin

async def main():
    async with Plugin(Path(sys.argv[1])) as plugin:
        plugin.hangs = True
        plugin.send("g0")
        await asyncio.Event().wait()

asyncio.run(main())
"""


def in_another_process(
    folder: Path,
    settings: PluginClientSettings,
    blow: signal.Signals,
) -> tuple[StreamEnd, object]:
    """Let a blow fall on a plugin's process during a watch and a call; return how both ended."""
    path = folder / "p.sock"
    with subprocess.Popen(  # noqa: S603 - our own plugin
        [sys.executable, "-c", FOREIGN_PLUGIN, path],
        cwd=Path(__file__).parents[2],
    ) as process:

        async def story() -> tuple[StreamEnd, object]:
            async with asyncio.timeout(DEADLINE_S):
                client = await PluginClient.dial(path, settings)
                listed = asyncio.Event()

                async def took(_: tuple[Device, ...]) -> None:
                    listed.set()

                calling = asyncio.create_task(client.call(allocate("g0")))
                watching = asyncio.create_task(client.watch(took))
                await listed.wait()
                process.send_signal(blow)
                ends = await watching, await calling
                await client.close()
                return ends

        try:
            return asyncio.run(story())
        finally:
            process.kill()


def test_a_killed_plugin_ends_the_stream_and_fails_calls(folder: Path) -> None:
    lost = "rpc error: code = Unavailable desc = error reading from server: EOF"

    end, reply = in_another_process(folder, SETTINGS, signal.SIGKILL)

    assert end == StreamEnd(lost)
    assert reply == CallFailed(lost)


def test_a_plugin_that_gives_no_sign_of_life_is_noticed(folder: Path) -> None:
    """Issue 4 D: the connection of a stopped process is half open."""
    lost = "keepalive ping failed to receive ACK within timeout"
    attentive = ConnectionSettings(
        keepalive_time=Duration(100 * MILLISECOND), keepalive_timeout=Duration(SECOND)
    )

    end, reply = in_another_process(folder, replace(SETTINGS, connection=attentive), signal.SIGSTOP)

    assert end == StreamEnd(f"rpc error: code = Unavailable desc = {lost}")
    assert reply == CallFailed(f"rpc error: code = Unavailable desc = {lost}")


def test_plugins_are_not_asked_for_a_sign_of_life_more_often_than_their_servers_allow() -> None:
    """Servers of grpc-go and of gRPC's C core break off below 5 minutes."""
    assert SETTINGS.connection.keepalive_time > 5 * MINUTE
