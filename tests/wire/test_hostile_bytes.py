"""Bytes that no plugin should send: an error each, and nothing else (issue 4, acceptance 8).

Long runs in `make soak`.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import grpc
import grpc.aio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.core.calls import AllocateReply, CallFailed
from simulator.core.devices import Device, DeviceId
from simulator.errors import PluginCallError
from simulator.protocol import rebind_deviceplugin_pb2 as device_plugin
from simulator.protocol.services import REGISTER
from simulator.wire.device_lists import DeviceListReader, OversizeList, measure
from simulator.wire.plugin_client import PluginClient, PluginClientSettings
from simulator.wire.registration_server import Registration, RegistrationServer
from tests.wire.plugin import DEADLINE_S, Plugin
from tests.wire.stories import allocate

NOT_READ = "rpc error: code = Internal desc = grpc: failed to unmarshal"
FULL_LIST = device_plugin.ListAndWatchResponse(
    devices=[
        device_plugin.Device(
            ID=f"gpu-{index}",
            health="Healthy",
            topology=device_plugin.TopologyInfo(nodes=[device_plugin.NUMANode(ID=index)]),
        )
        for index in range(4)
    ]
).SerializeToString()
FULL_ANSWER = device_plugin.AllocateResponse(
    container_responses=[
        device_plugin.ContainerAllocateResponse(
            envs={"A": "b"},
            mounts=[device_plugin.Mount(container_path="/a", host_path="/b", read_only=True)],
            devices=[device_plugin.DeviceSpec(container_path="/dev/a", permissions="rw")],
            annotations={"c": "d"},
            cdi_devices=[device_plugin.CDIDevice(name="example.com/gpu=0")],
        )
    ]
).SerializeToString()


def damaged(content: bytes) -> st.SearchStrategy[bytes]:
    """Return bytes that are nearly a message: some replaced, the rest perhaps cut off."""
    places = st.integers(0, len(content) - 1)
    changes = st.dictionaries(places, st.integers(0, 255), max_size=4)

    def apply(change: dict[int, int], stop: int) -> bytes:
        written = bytearray(content)
        for at, value in change.items():
            written[at] = value
        return bytes(written[:stop])

    return st.builds(apply, changes, st.integers(0, len(content)))


def devices_of(content: bytes) -> tuple[Device, ...] | PluginCallError:
    try:
        return asyncio.run(DeviceListReader().read(content))
    except PluginCallError as error:
        return error


def check_list(content: bytes) -> None:
    found = devices_of(content)
    measured = asyncio.run(measure(content, limit=20))

    assert measured.size == len(content)
    assert measured.fitting <= measured.devices
    if isinstance(found, PluginCallError):
        assert str(found).startswith(NOT_READ)
    else:
        assert all(isinstance(device.id, str) for device in found)
        assert measured.devices == len(found)


@given(st.binary(max_size=64) | damaged(FULL_LIST))
def test_a_device_list_is_read_or_refused(content: bytes) -> None:
    check_list(content)


@pytest.mark.soak
@given(st.binary(max_size=300) | damaged(FULL_LIST))
def test_device_lists_are_read_or_refused_for_long(content: bytes) -> None:
    check_list(content)


def test_a_list_of_absurdly_many_devices_is_refused_before_they_are_looked_at() -> None:
    """Issue 4 D: list length is bounded."""
    assert str(devices_of(b"\x0a\x00" * 250_001)) == (
        "rpc error: code = ResourceExhausted desc = "
        "the list has 250001 devices, at most 250000 are taken"
    )
    assert devices_of(b"\x0a\x00" * 3) == (Device(DeviceId(""), ""),) * 3
    assert asyncio.run(measure(b"\x0a\x00" * 50, 20, devices_max=40)) == OversizeList(100, 20)
    assert asyncio.run(measure(b"\x0a\x00" * 50, 20, devices_max=50)) == OversizeList(
        100, 20, devices=50, fitting=10
    )


def tell(folder: Path, contents: list[bytes]) -> None:
    """Send each of these bytes as an answer to Allocate, as a device list and as a Register."""
    lists: list[tuple[Device, ...]] = []

    async def listed(devices: tuple[Device, ...]) -> None:
        lists.append(devices)

    async def accept(_: Registration) -> None: ...

    async def story() -> None:
        server = RegistrationServer(folder, accept).server
        async with asyncio.timeout(DEADLINE_S), server, Plugin(folder / "p.sock") as plugin:
            client = await PluginClient.dial(plugin.path, PluginClientSettings())
            for content in contents:
                plugin.allocated = content
                reply = await client.call(allocate("g0"))
                assert isinstance(reply, AllocateReply | CallFailed)
                assert isinstance(reply, AllocateReply) or reply.message.startswith(NOT_READ)
                plugin.lists.put_nowait(content)
                plugin.lists.put_nowait(None)
                end = await client.watch(listed)
                assert end.cause == "EOF" or end.cause.startswith(NOT_READ)
                plugin.lists = asyncio.Queue()
                assert await status_of(server.path, content) in (None, grpc.StatusCode.INTERNAL)
            await client.close()

    asyncio.run(story())


async def status_of(path: Path, request: bytes) -> grpc.StatusCode | None:
    """Return the status with which a Register of these bytes fails."""
    async with grpc.aio.insecure_channel(f"unix:{path}") as channel:
        call: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(REGISTER.path)
        try:
            await call(request)
        except grpc.aio.AioRpcError as error:
            return error.code()
        return None


CONTENTS = st.lists(
    st.binary(max_size=40) | damaged(FULL_ANSWER) | damaged(FULL_LIST), min_size=40, max_size=40
)


def test_a_plugin_that_sends_rubbish_fails_its_own_calls_and_streams_only(folder: Path) -> None:
    @settings(max_examples=5)
    @given(CONTENTS)
    def check(contents: list[bytes]) -> None:
        tell(folder, contents)

    check()


@pytest.mark.soak
def test_20_000_times_rubbish_do_no_harm(folder: Path) -> None:
    @settings(max_examples=170)
    @given(CONTENTS)
    def check(contents: list[bytes]) -> None:
        tell(folder, contents)

    check()


def test_a_request_that_is_none_is_refused_as_go_refuses_it(folder: Path) -> None:
    async def accept(_: Registration) -> None: ...

    async def story() -> str:
        server = RegistrationServer(folder, accept).server
        async with server, grpc.aio.insecure_channel(f"unix:{server.path}") as channel:
            call: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(
                REGISTER.path
            )
            with pytest.raises(grpc.aio.AioRpcError) as failure:
                await call(b"\x0a\xff")
        return f"{failure.value.code().name}: {failure.value.details()}"

    assert asyncio.run(story()) == (
        "INTERNAL: grpc: error unmarshalling request: proto: cannot parse invalid wire-format data"
    )
