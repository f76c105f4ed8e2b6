"""Device lists out of their bytes: what a stream repeats is not made again."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.core.devices import Device, DeviceId, NumaNode
from simulator.core.protobuf_wire import write_bytes, write_varint
from simulator.errors import PluginCallError
from simulator.protocol import rebind_deviceplugin_pb2 as device_plugin
from simulator.wire.device_lists import DeviceListReader, OversizeList, measure

_IDS = st.one_of(st.text(max_size=4), st.sampled_from(["x" * 200, "y" * 20_000]))
_DEVICES = st.builds(
    Device,
    _IDS.map(DeviceId),
    st.sampled_from(["Healthy", "Unhealthy", "", "healthy"]),
    st.none() | st.lists(st.integers(-1, 300).map(NumaNode), max_size=3).map(tuple),
)
_UNKNOWN = st.sampled_from([b"", write_bytes(15, b"later"), write_varint(2 << 3) + b"\x01"])


def message(device: Device) -> device_plugin.Device:
    made = device_plugin.Device(ID=device.id, health=device.health)
    if device.topology is not None:
        made.topology.SetInParent()
        made.topology.nodes.extend(device_plugin.NUMANode(ID=node) for node in device.topology)
    return made


def content_of(devices: Sequence[Device]) -> bytes:
    listed = [message(device) for device in devices]
    return device_plugin.ListAndWatchResponse(devices=listed).SerializeToString()


@given(st.lists(st.lists(_DEVICES, max_size=5), max_size=4), _UNKNOWN, _UNKNOWN)
def test_a_stream_s_lists_are_those_that_were_sent(
    lists: list[list[Device]], before: bytes, after: bytes
) -> None:
    """S1.17: in order, with repetitions; fields that nobody knows say nothing."""
    reader = DeviceListReader()

    for devices in lists:
        content = before + content_of(devices) + after

        assert asyncio.run(reader.read(content)) == tuple(devices)


def test_a_device_that_is_as_it_was_is_the_same_object() -> None:
    """Repeated lists of very many devices must not pile up."""
    first, second = Device(DeviceId("a")), Device(DeviceId("b"))
    reader = DeviceListReader()
    one = asyncio.run(reader.read(content_of([first, second])))
    other = asyncio.run(reader.read(content_of([Device(DeviceId("b"), "Unhealthy"), first])))

    assert other == (Device(DeviceId("b"), "Unhealthy"), first)
    assert other[1] is one[0]


def test_a_device_written_in_an_unusual_way_is_read() -> None:
    """Lengths may be written with more bytes than needed, as protobuf reads them."""
    body = message(Device(DeviceId("a"))).SerializeToString()
    odd = b"\x0a" + bytes([0x80 | len(body), 0x80, 0x00]) + body

    assert asyncio.run(DeviceListReader().read(odd)) == (Device(DeviceId("a")),)


@pytest.mark.parametrize("rubbish", [b"\x0a\x05ab", b"\x0a\xff", b"\x0a\xff\xff\x03a", b"\xff"])
def test_bytes_that_are_no_list_are_refused(rubbish: bytes) -> None:
    with pytest.raises(PluginCallError, match="cannot parse"):
        asyncio.run(DeviceListReader().read(rubbish))


def test_a_large_list_of_what_nobody_knows_is_read_at_once_as_empty() -> None:
    """A kubelet reads it so; going through it byte by byte would take seconds."""
    content = write_varint(15 << 3) + b"\x01"

    assert asyncio.run(DeviceListReader().read(content * 200_000)) == ()
    assert asyncio.run(measure(content * 200_000, 20)) == OversizeList(len(content) * 200_000, 20)


def test_a_device_near_more_numa_nodes_than_there_can_be_is_refused() -> None:
    most = Device(DeviceId("a"), topology=tuple(map(NumaNode, range(64))))
    more = Device(DeviceId("b"), topology=tuple(map(NumaNode, range(65))))

    assert asyncio.run(DeviceListReader().read(content_of([most]))) == (most,)
    with pytest.raises(PluginCallError) as failure:
        asyncio.run(DeviceListReader().read(content_of([most, more])))
    assert str(failure.value) == (
        "rpc error: code = ResourceExhausted desc = "
        "the device b names 65 NUMA nodes, at most 64 are taken"
    )


@pytest.mark.parametrize(
    "device", [Device(DeviceId("é" * 32_769)), Device(DeviceId(""), "x" * 32_769)]
)
def test_a_device_with_a_text_of_absurd_length_is_refused(device: Device) -> None:
    with pytest.raises(PluginCallError) as failure:
        asyncio.run(DeviceListReader().read(content_of([device])))
    assert str(failure.value) == (
        "rpc error: code = ResourceExhausted desc = "
        "id or health of a device has 32769 characters, at most 32768 are taken"
    )


def test_of_a_list_that_is_cut_off_nothing_is_counted() -> None:
    content = content_of([Device(DeviceId("a"))])

    assert asyncio.run(measure(content[:-1], 3)) == OversizeList(len(content) - 1, 3)


def test_long_work_leaves_room_for_others() -> None:
    """A list of 5,000 devices is not turned into values at one go."""
    content = content_of([Device(DeviceId(f"gpu-{number}")) for number in range(5_000)])
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async def read() -> int:
        beside = asyncio.create_task(others())
        devices = await DeviceListReader().read(content)
        beside.cancel()
        return len(devices)

    assert asyncio.run(read()) == 5_000
    assert turns >= 5
