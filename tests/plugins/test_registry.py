"""A plugin that a kubelet finds in `plugins_registry` (S1.29 to S1.37)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc

from plugins.conduct import Pace, Place
from plugins.fake.inventory import DeviceLayout
from plugins.fake.plugin import FakePlugin
from plugins.serving import PluginServer
from simulator.core.instants import MILLISECOND, Duration
from simulator.protocol import rebind_deviceplugin_pb2 as device_plugin
from simulator.protocol import rebind_pluginregistration_pb2 as plugin_registration
from simulator.protocol import services
from simulator.wire.sockets import identity_of
from tests.plugins.kubelet import LIMIT, in_loop, plugin_directory

GPU = "example.com/gpu"
QUICK = Pace(look=Duration(5 * MILLISECOND), first_retry=Duration(10 * MILLISECOND))


@asynccontextmanager
async def found(directory: Path) -> AsyncIterator[PluginServer]:
    place = Place(directory=directory, socket_name="p.sock", found_by_kubelet=True)
    model = FakePlugin(GPU, DeviceLayout(count=1).devices(GPU))
    async with PluginServer(model, place, pace=QUICK) as server:
        yield server


@asynccontextmanager
async def dialed(directory: Path) -> AsyncIterator[grpc.aio.Channel]:
    options = [("grpc.use_local_subchannel_pool", 1)]
    async with grpc.aio.insecure_channel(f"unix:{directory}/p.sock", options) as channel:
        yield channel


async def ask(channel: grpc.aio.Channel, method: services.Method[Any, Any], request: object) -> Any:  # noqa: ANN401 - any message
    call: grpc.aio.UnaryUnaryMultiCallable[Any, Any] = channel.unary_unary(
        method.path,
        request_serializer=method.request.SerializeToString,
        response_deserializer=method.response.FromString,
    )
    return await call(request, timeout=LIMIT)


@in_loop
async def test_a_plugin_introduces_itself_and_serves_both_services_on_one_socket() -> None:
    with plugin_directory() as directory:
        async with found(directory) as server, dialed(directory) as channel:
            request = plugin_registration.InfoRequest()
            info = await ask(channel, services.GET_INFO, request)
            status = plugin_registration.RegistrationStatus(plugin_registered=True)
            await ask(channel, services.NOTIFY_REGISTRATION_STATUS, status)
            options = await ask(channel, services.GET_DEVICE_PLUGIN_OPTIONS, device_plugin.Empty())

            assert (info.type, info.name) == ("DevicePlugin", GPU)  # S1.30, S1.33
            assert info.endpoint == ""
            assert list(info.supported_versions) == ["v1beta1"]
            assert options == device_plugin.DevicePluginOptions()
            assert server.registrations == 1


@in_loop
async def test_why_a_kubelet_refuses_a_plugin_is_known() -> None:
    with plugin_directory() as directory:
        async with found(directory) as server, dialed(directory) as channel:
            text = "RegisterPlugin error -- no handler registered for plugin type: x"
            for error, known in ((text, text), ("", "refused without a reason")):
                status = plugin_registration.RegistrationStatus(error=error)
                await ask(channel, services.NOTIFY_REGISTRATION_STATUS, status)

                assert server.refusal == known
            assert server.registrations == 0


@in_loop
async def test_a_removed_socket_appears_again() -> None:
    with plugin_directory() as directory:
        async with found(directory) as server:
            before = identity_of(directory / "p.sock")
            (directory / "p.sock").unlink()
            await server.until(lambda _: identity_of(directory / "p.sock") not in (None, before))
            async with dialed(directory) as channel:
                await ask(channel, services.GET_INFO, plugin_registration.InfoRequest())


@in_loop
async def test_a_kubelet_that_hangs_up_finds_a_new_socket() -> None:
    """S1.31: only a new socket is a new plugin to it."""
    with plugin_directory() as directory:
        async with found(directory) as server:
            before = identity_of(directory / "p.sock")
            async with dialed(directory) as channel:
                lists: grpc.aio.UnaryStreamCall[Any, Any] = channel.unary_stream(
                    services.LIST_AND_WATCH.path,
                    request_serializer=device_plugin.Empty.SerializeToString,
                )(device_plugin.Empty())
                await server.until(lambda it: it.streams == 1)
                lists.cancel()
            await server.until(lambda _: identity_of(directory / "p.sock") not in (None, before))
        await asyncio.sleep(0)


@in_loop
async def test_the_folder_may_come_later() -> None:
    with plugin_directory() as directory:
        place = Place(
            directory=directory / "plugins_registry", socket_name="p.sock", found_by_kubelet=True
        )
        model = FakePlugin(GPU, ())
        server = PluginServer(model, place, pace=QUICK)
        (directory / "plugins_registry").mkdir()
        async with server:
            (directory / "plugins_registry" / "p.sock").unlink()
            (directory / "plugins_registry").rmdir()
            await server.until(lambda it: it.refusal != "")
            (directory / "plugins_registry").mkdir()
            await server.until(lambda it: it.place.socket.exists())

            assert "no socket can be made at" in server.refusal
