"""The kubelet's registration server over a real socket."""

from __future__ import annotations

import asyncio
import ctypes
import os
import struct
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

import grpc
import pytest

from simulator.core.endpoints import PluginOptions
from simulator.core.registration import accept_registration
from simulator.core.switches import behavior_for
from simulator.errors import PluginCallError
from simulator.protocol import rebind_deviceplugin_pb2 as device_plugin
from simulator.protocol.services import REGISTER
from simulator.wire.connections import Connection, ConnectionSettings, dial
from simulator.wire.registration_server import Registration, RegistrationServer
from simulator.wire.servers import ServerLimits

DEADLINE_S: Final = 60.0
IN_CREATE: Final = 0x100
REQUEST: Final = device_plugin.RegisterRequest(
    version="v1beta1",
    endpoint="gpu.sock",
    resource_name="example.com/gpu",
    options=device_plugin.DevicePluginOptions(pre_start_required=True),
)

Register = Callable[[Registration], Awaitable[None]]


async def accept(_: Registration) -> None:
    """Take every plugin."""


def run(
    folder: Path,
    register: Register,
    story: Callable[[RegistrationServer, Connection], Awaitable[None]],
    *,
    registrations_max: int = 8,
    limits: ServerLimits | None = None,
) -> None:
    """Let a story happen between a server and a connected plugin."""

    async def tell() -> None:
        async with asyncio.timeout(DEADLINE_S):
            registration = RegistrationServer(
                folder, register, limits=limits, registrations_max=registrations_max
            )
            await registration.server.start()
            plugin = await dial(registration.server.path, ConnectionSettings())
            await story(registration, plugin)
            await plugin.close()
            await registration.server.stop()

    asyncio.run(tell())


def test_a_registration_is_handed_over_as_it_was_sent(folder: Path) -> None:
    """S1.2, S1.4."""
    taken: list[Registration] = []

    async def register(registration: Registration) -> None:
        taken.append(registration)

    async def story(_: RegistrationServer, plugin: Connection) -> None:
        assert await plugin.call(REGISTER, REQUEST) == device_plugin.Empty()
        await plugin.call(REGISTER, device_plugin.RegisterRequest())

    run(folder, register, story)

    assert taken == [
        Registration(
            "v1beta1", "gpu.sock", "example.com/gpu", PluginOptions(pre_start_required=True)
        ),
        Registration("", "", "", PluginOptions()),
    ]


@pytest.mark.parametrize(
    ("version", "resource", "text"),
    [
        (
            "v1alpha",
            "example.com/gpu",
            (
                'requested API version "v1alpha" is not supported by kubelet. '
                'Supported version is ["v1beta1"]'
            ),
        ),
        ("", "gpu", 'requested API version "" is not supported by kubelet. '),
        *(
            ("v1beta1", name, f'the ResourceName "{name}" is invalid')
            for name in (
                "gpu",
                "kubernetes.io/gpu",
                "x.kubernetes.io/gpu",
                "requests.foo/x",
                "A.com/gpu",
                "a.com/b/c",
                "é.com/ü",
            )
        ),
    ],
)
def test_a_refusal_reaches_the_plugin_as_status_unknown_with_its_text(
    folder: Path, version: str, resource: str, text: str
) -> None:
    """S1.12.2, S1.12.3, S1.15."""

    async def register(registration: Registration) -> None:
        accept_registration(version=registration.version, resource_name=registration.resource_name)

    async def story(registration: RegistrationServer, _: Connection) -> None:
        async with grpc.aio.insecure_channel(f"unix:{registration.server.path}") as channel:
            call: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(
                "/v1beta1.Registration/Register"
            )
            request = device_plugin.RegisterRequest(version=version, resource_name=resource)
            with pytest.raises(grpc.aio.AioRpcError) as failure:
                await call(request.SerializeToString())
        assert failure.value.code() is grpc.StatusCode.UNKNOWN
        assert (failure.value.details() or "").startswith(text)

    run(folder, register, story)


def test_a_plugin_that_no_longer_waits_cancels_its_registration(folder: Path) -> None:
    """S1.13: the handler's context is the caller's."""
    begun, canceled = asyncio.Event(), asyncio.Event()

    async def register(_: Registration) -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            canceled.set()

    async def story(_: RegistrationServer, plugin: Connection) -> None:
        asked = asyncio.create_task(plugin.call(REGISTER, REQUEST))
        await begun.wait()
        asked.cancel()
        await canceled.wait()

    run(folder, register, story)


def test_a_stopped_server_breaks_registrations_off(folder: Path) -> None:
    begun = asyncio.Event()

    async def register(_: Registration) -> None:
        begun.set()
        await asyncio.Event().wait()

    async def story(registration: RegistrationServer, plugin: Connection) -> None:
        asked = asyncio.create_task(plugin.call(REGISTER, REQUEST))
        await begun.wait()
        await registration.server.stop()
        with pytest.raises(PluginCallError, match="code = Unavailable"):
            await asked

    run(folder, register, story)


def test_more_registrations_at_a_time_than_may_be_are_refused(folder: Path) -> None:
    """Issue 4 D: everything is bounded."""
    under_way = 0
    both, go_on = asyncio.Event(), asyncio.Event()

    async def register(_: Registration) -> None:
        nonlocal under_way
        under_way += 1
        if under_way == 2:
            both.set()
        await go_on.wait()

    async def story(_: RegistrationServer, plugin: Connection) -> None:
        waiting = [asyncio.create_task(plugin.call(REGISTER, REQUEST)) for _ in range(2)]
        await both.wait()
        with pytest.raises(PluginCallError) as failure:
            await plugin.call(REGISTER, REQUEST)
        assert str(failure.value) == (
            "rpc error: code = ResourceExhausted desc = 2 registrations are under way, as many as "
            "this kubelet takes at a time; try again later"
        )
        go_on.set()
        await asyncio.gather(*waiting)
        await plugin.call(REGISTER, REQUEST)

    run(folder, register, story, registrations_max=2)


def test_a_request_larger_than_may_be_received_is_refused(folder: Path) -> None:
    async def story(_: RegistrationServer, plugin: Connection) -> None:
        request = device_plugin.RegisterRequest(resource_name="x" * 2_000)
        with pytest.raises(PluginCallError, match="code = ResourceExhausted"):
            await plugin.call(REGISTER, request)
        await plugin.call(REGISTER, REQUEST)

    run(folder, accept, story, limits=ServerLimits(receive_bytes_max=1_000))


def test_an_error_of_another_kind_fails_one_registration_only(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def register(registration: Registration) -> None:
        if not registration.endpoint:
            raise ZeroDivisionError

    async def story(_: RegistrationServer, plugin: Connection) -> None:
        with pytest.raises(PluginCallError, match="code = Unknown"):
            await plugin.call(REGISTER, device_plugin.RegisterRequest())
        await plugin.call(REGISTER, REQUEST)

    run(folder, register, story)

    assert "ZeroDivisionError" in caplog.text


def test_the_health_check_fails_only_when_the_server_has_ended_by_itself(folder: Path) -> None:
    """S1.11; 1.32.10 list for servers that have not started."""
    failed = (
        "device registration error: device plugin registration gRPC server failed and "
        "no device plugins can register"
    )

    async def story() -> None:
        registration = RegistrationServer(folder, accept)
        assert registration.health(behavior_for("1.36.2")) == ""
        assert registration.health(behavior_for("1.32.10")) == failed
        await registration.server.start()
        assert registration.health(behavior_for("1.32.10")) == ""
        await registration.server.grpc_server.stop(None)
        await asyncio.sleep(0)
        assert registration.health(behavior_for("1.36.2")) == failed
        await registration.server.stop()

    asyncio.run(story())


def created_names(descriptor: int) -> list[str]:
    """Return the names in an inotify descriptor's events."""
    data, names, at = os.read(descriptor, 65_536), [], 0
    while at < len(data):
        length = struct.unpack_from("iIII", data, at)[3]
        names.append(data[at + 16 : at + 16 + length].rstrip(b"\0").decode())
        at += 16 + length
    return names


def test_each_start_is_a_creation_for_those_who_watch_and_takes_connections_at_once(
    folder: Path,
) -> None:
    """S1.10; conventions.md §4: a plugin registers 4 ms after it has seen `kubelet.sock`."""
    libc = ctypes.CDLL(None, use_errno=True)
    descriptor = libc.inotify_init1(os.O_NONBLOCK)
    libc.inotify_add_watch(descriptor, os.fsencode(folder), IN_CREATE)

    async def story(registration: RegistrationServer, plugin: Connection) -> None:
        del registration
        await plugin.call(REGISTER, REQUEST)

    try:
        for _ in range(2):
            run(folder, accept, story)
            assert "kubelet.sock" in created_names(descriptor)
    finally:
        os.close(descriptor)
