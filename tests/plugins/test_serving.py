"""A plugin server beside a kubelet that restarts, hangs up and goes (S1.10, S1.12, S1.17)."""

from __future__ import annotations

import asyncio
import socket
import stat
from collections.abc import Sequence
from pathlib import Path

import grpc
import pytest
from typing_extensions import override

from plugins.conduct import Conduct, Pace, Place
from plugins.model import DevicePlugin
from plugins.serving import PluginServer
from simulator.core.allocate_response import AllocateResponse, encode
from simulator.core.devices import Device, DeviceId, NumaNode
from simulator.core.endpoints import PluginOptions
from simulator.core.instants import MILLISECOND, SECOND, Duration
from simulator.errors import PluginCallError, ServerError
from simulator.protocol import rebind_deviceplugin_pb2 as device_plugin
from simulator.protocol import services
from tests.plugins.kubelet import RegistrationServer, in_loop, kubelet, plugin_directory

QUICK = Pace(
    look=Duration(5 * MILLISECOND),
    first_retry=Duration(10 * MILLISECOND),
    last_retry=Duration(50 * MILLISECOND),
    register=Duration(5 * SECOND),
)


class TwoDevices(DevicePlugin):
    """A plugin of `example.com/gpu` with the devices d0 and d1, on NUMA nodes 0 and none."""

    def __init__(self) -> None:
        super().__init__("example.com/gpu", wants=PluginOptions(True, True))  # noqa: FBT003 - both
        self.listed: tuple[Device, ...] = (
            Device(DeviceId("d0"), topology=(NumaNode(0),)),
            Device(DeviceId("d1")),
            Device(DeviceId("d2"), "Unhealthy", ()),
        )
        self.started: list[tuple[DeviceId, ...]] = []

    @override
    def devices(self) -> Sequence[Device]:
        return self.listed

    @override
    async def allocate(self, devices: tuple[DeviceId, ...]) -> AllocateResponse | None:
        if "d1" in devices:
            reason = "d1 is broken"
            raise PluginCallError(reason)
        return AllocateResponse(envs={"IDS": ",".join(devices), "A": ""}) if devices else None

    @override
    async def prefer(
        self, available: tuple[DeviceId, ...], must_include: tuple[DeviceId, ...], size: int
    ) -> tuple[DeviceId, ...]:
        return (*must_include, *reversed(available))[:size]

    @override
    async def pre_start(self, devices: tuple[DeviceId, ...]) -> None:
        self.started.append(devices)


def serve(
    where: Path, *, model: DevicePlugin | None = None, conduct: Conduct | None = None
) -> PluginServer:
    place = Place(directory=where, socket_name="p.sock")
    return PluginServer(model or TwoDevices(), place, conduct=conduct, pace=QUICK)


@in_loop
async def test_a_plugin_registers_with_what_the_api_asks_for() -> None:
    async with kubelet() as node, serve(node.directory):
        plugin = await node.plugin()

        assert plugin.request.version == "v1beta1"  # S1.5
        assert plugin.request.endpoint == "p.sock"  # S1.12.4
        assert plugin.request.resource_name == "example.com/gpu"
        assert plugin.request.options == plugin.options
        assert plugin.options.pre_start_required
        assert plugin.options.get_preferred_allocation_available


@in_loop
async def test_a_list_tells_no_topology_from_one_without_nodes() -> None:
    async with kubelet() as node, serve(node.directory):
        plugin = await node.plugin()

        assert plugin.devices() == {
            "d0": ("Healthy", (0,)),
            "d1": ("Healthy", None),
            "d2": ("Unhealthy", ()),
        }


@in_loop
async def test_a_list_is_sent_again_when_it_is_reported() -> None:
    model = TwoDevices()
    async with kubelet() as node, serve(node.directory, model=model):
        plugin = await node.plugin()
        model.listed = (Device(DeviceId("d9")),)
        model.report()
        await node.until(lambda: len(plugin.lists) == 2)

        assert plugin.devices() == {"d9": ("Healthy", None)}


@in_loop
async def test_calls_reach_the_model_and_its_bytes_go_out_as_they_are() -> None:
    model = TwoDevices()
    async with kubelet() as node, serve(node.directory, model=model) as server:
        plugin = await node.plugin()
        answer = await plugin.allocate_bytes("d0", "d2")
        inner = encode(AllocateResponse(envs={"A": "", "IDS": "d0,d2"}))
        preferred = await plugin.prefer(["d0", "d1", "d2"], 2, ("d1",))
        request = device_plugin.PreStartContainerRequest(devices_ids=["d0"])
        await plugin.call(services.PRE_START_CONTAINER, request)

        assert answer == bytes((0x0A, len(inner))) + inner
        assert preferred == ["d1", "d2"]
        assert model.started == [("d0",)]
        assert server.calls["Allocate"] == server.calls["PreStartContainer"] == 1


@in_loop
async def test_a_refusal_reaches_the_kubelet_with_its_text() -> None:
    async with kubelet() as node, serve(node.directory):
        plugin = await node.plugin()
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await plugin.allocate_bytes("d1")

        assert refused.value.code() is grpc.StatusCode.UNKNOWN
        assert refused.value.details() == "d1 is broken"
        assert await plugin.allocate_bytes() == b""  # No container responses (S3.13).


@in_loop
async def test_the_socket_is_private_and_gone_after_the_end() -> None:
    async with kubelet() as node:
        async with serve(node.directory):
            plugin = await node.plugin()
            mode = stat.S_IMODE((node.directory / "p.sock").stat().st_mode)
            names = sorted(path.name for path in node.directory.iterdir())
        await node.until(lambda: plugin.ended)

        assert mode == 0o600
        assert names == ["kubelet.sock", "p.sock"]
        assert [path.name for path in node.directory.iterdir()] == ["kubelet.sock"]


@in_loop
async def test_a_plugin_waits_for_a_kubelet_that_is_not_there_yet() -> None:
    with plugin_directory() as directory:
        node = RegistrationServer(directory)
        async with serve(directory) as server:
            assert (directory / "p.sock").is_socket()
            await node.start()
            await node.plugin()
            await server.until(lambda it: it.registrations == 1)
        await node.stop()


@in_loop
async def test_three_kubelet_restarts_are_survived_with_a_new_socket_each() -> None:
    async with kubelet() as node, serve(node.directory) as server:
        await node.plugin()
        for number in (1, 2, 3):
            await node.restart()
            plugin = await node.plugin(number)

            assert set(plugin.devices()) == {"d0", "d1", "d2"}
            assert await plugin.allocate_bytes("d0")
        await server.until(lambda it: it.registrations == 4)


@in_loop
async def test_a_removed_socket_is_made_anew_although_the_kubelet_stays() -> None:
    async with kubelet() as node, serve(node.directory):
        await node.plugin()
        (node.directory / "p.sock").unlink()
        plugin = await node.plugin(1)

        assert await plugin.allocate_bytes("d0")


@in_loop
async def test_a_plugin_comes_back_in_its_own_time_also_when_its_stream_ended_before() -> None:
    spans: list[Duration] = []

    async def sleep(span: Duration) -> None:
        spans.append(span)

    model = TwoDevices()
    model.sleep = sleep
    conduct = Conduct(returns_after=SECOND)
    async with kubelet() as node, serve(node.directory, model=model, conduct=conduct) as server:
        await node.hang_up(await node.plugin())
        await node.plugin(1)
        after_the_stream = list(spans)
        await node.stop()
        await server.until(lambda it: it.refusal != "" or it.streams == 0)
        await node.start()
        await node.plugin(2)

        assert SECOND not in after_the_stream
        assert SECOND in spans


@in_loop
async def test_a_plugin_registers_again_when_the_kubelet_ends_its_stream() -> None:
    """R17, R18: the kubelet never dials again by itself."""
    async with kubelet() as node, serve(node.directory):
        await node.hang_up(await node.plugin())
        plugin = await node.plugin(1)

        assert set(plugin.devices()) == {"d0", "d1", "d2"}


@in_loop
async def test_a_plugin_may_be_told_not_to_mind_the_end_of_its_stream() -> None:
    conduct = Conduct(minds_stream_end=False)
    async with kubelet() as node, serve(node.directory, conduct=conduct) as server:
        await node.hang_up(await node.plugin())
        await server.until(lambda it: it.streams == 0)
        await node.restart()
        await node.plugin(1)
        await server.until(lambda it: it.registrations == 2)

        assert len(node.requests) == 2


@in_loop
async def test_a_refused_plugin_tries_again_and_says_why() -> None:
    async with kubelet() as node:
        node.refuses = 'the ResourceName "gpu" is invalid'
        async with serve(node.directory) as server:
            await node.until(lambda: len(node.requests) == 3)

            text = 'the ResourceName "gpu" is invalid'
            assert server.refusal == f"rpc error: code = Unknown desc = {text}"
            assert not server.is_registered
            node.refuses = ""
            await node.plugin()
            await server.until(lambda it: it.is_registered)

            assert server.refusal == ""


@in_loop
async def test_a_dead_kubelets_socket_does_not_stop_a_plugin() -> None:
    with plugin_directory() as directory:
        with socket.socket(socket.AF_UNIX) as dead:
            dead.bind(str(directory / "kubelet.sock"))
        node = RegistrationServer(directory)
        async with serve(directory) as server:
            await server.until(lambda it: it.refusal != "")
            await node.start()
            await node.plugin()
        await node.stop()


@in_loop
async def test_a_late_plugin_has_no_socket_before_its_time() -> None:
    released = asyncio.Event()
    spans: list[Duration] = []

    async def sleep(span: Duration) -> None:
        spans.append(span)
        await released.wait()

    model = TwoDevices()
    model.sleep = sleep
    conduct = Conduct(starts_after=Duration(90 * SECOND))
    async with kubelet() as node, serve(node.directory, model=model, conduct=conduct):
        await asyncio.sleep(0)
        before = sorted(path.name for path in node.directory.iterdir())
        released.set()
        await node.plugin()

        assert before == ["kubelet.sock"]
        assert spans == [90 * SECOND]


@in_loop
async def test_the_socket_of_a_living_plugin_is_not_taken() -> None:
    async with kubelet() as node, serve(node.directory):
        with pytest.raises(ServerError, match=r"p\.sock is served by another plugin"):
            await serve(node.directory).start()
        await node.plugin()


@in_loop
async def test_a_dead_plugins_socket_is_replaced() -> None:
    async with kubelet() as node:
        with socket.socket(socket.AF_UNIX) as dead:
            dead.bind(str(node.directory / "p.sock"))
        async with serve(node.directory):
            await node.plugin()


@in_loop
async def test_paths_too_long_for_a_socket_are_refused_with_their_length() -> None:
    with plugin_directory() as directory:
        place = Place(directory=directory, socket_name="p" * 108)
        with pytest.raises(ServerError, match=r"bytes; at most 107 are possible"):
            await PluginServer(TwoDevices(), place).start()


@in_loop
async def test_odd_characters_in_the_path_are_no_hindrance() -> None:
    with plugin_directory() as directory:
        odd = directory / "a%41 ?#"
        odd.mkdir()
        async with serve(odd):
            assert (odd / "p.sock").is_socket()


@in_loop
async def test_a_stopped_server_can_be_started_again() -> None:
    spans: list[Duration] = []

    async def sleep(span: Duration) -> None:
        spans.append(span)

    model = TwoDevices()
    model.sleep = sleep
    async with kubelet() as node:
        server = serve(node.directory, model=model, conduct=Conduct(returns_after=SECOND))
        for number in (0, 1):
            await server.start()
            await node.plugin(number)
            await server.stop()

        assert SECOND not in spans
        assert [path.name for path in node.directory.iterdir()] == ["kubelet.sock"]


@in_loop
async def test_a_model_that_fails_is_told_of_and_served_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Failing(TwoDevices):
        @override
        async def run(self) -> None:
            raise ValueError("no such register")  # noqa: EM101, TRY003 - the model's, not ours

    async with kubelet() as node, serve(node.directory, model=Failing()):
        await node.plugin()

    assert "the devices of example.com/gpu has ended" in caplog.text
    assert "no such register" in caplog.text


@in_loop
async def test_stopping_twice_is_stopping_once() -> None:
    async with kubelet() as node:
        server = serve(node.directory)
        await server.start()
        await server.stop()
        await server.stop()

        assert not (node.directory / "p.sock").exists()
