"""ListAndWatch messages as device lists (S1.17), and lists that are too large (S1.21)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from simulator.core.devices import HEALTHY, UNHEALTHY, Device, DeviceId, NumaNode
from simulator.core.protobuf_wire import BYTES, fields, malformed
from simulator.errors import MalformedReplyError
from simulator.protocol import rebind_deviceplugin_pb2 as device_plugin
from simulator.wire.connections import parsed
from simulator.wire.status import long_text_error, numa_error, too_many_error

DEVICES_MAX: Final = 250_000
"""Most devices of one list. Differs: a kubelet takes what its receive limit lets through, which
leaves room for 2 million empty ones; of devices with the shortest ids it is 150,000."""

NUMA_NODES_MAX: Final = 64
"""Most NUMA nodes that a device names. Differs: a kubelet takes any number, and fails when the
topology manager looks at one above 63."""

TEXT_MAX: Final = 32 * 1024
"""Longest id or health of a device, in characters. Differs: a kubelet takes any; each record that
names such a device would keep a copy."""

ODD_BYTES_MAX: Final = 256 * 1024
"""How much of a message is walked through field by field; of what lists usually are, all."""

_DEVICES_FIELD: Final = {1: BYTES}
_DEVICE_TAG: Final = 1 << 3 | BYTES
_HEADER_MAX: Final = 3
_CONTINUED: Final = 0x80
_VARINT_BITS: Final = 7
_AT_A_TIME: Final = 1_000
_COUNTED_AT_A_TIME: Final = 10_000
_USUAL_HEALTH: Final = {HEALTHY: HEALTHY, UNHEALTHY: UNHEALTHY}


@dataclass(frozen=True, slots=True)
class OversizeList:
    """A device list larger than may be received.

    Attributes:
        size: Bytes of the message.
        limit: Bytes that may be received.
        devices: How many devices it lists; 0 when it was too large, or too odd, to be looked at.
        fitting: How many of them, from the first on, would have fitted.
    """

    size: int
    limit: int
    devices: int = 0
    fitting: int = 0


class DeviceListReader:
    """Turns the messages of one ListAndWatch stream into device lists.

    A plugin repeats its whole list when one device changes. A device whose bytes were in the
    message before is the same object again: that costs next to nothing here, and little wherever
    lists are compared or kept.

    Args:
        devices_max: Most devices of a list.
    """

    def __init__(self, devices_max: int = DEVICES_MAX) -> None:
        self._devices_max = devices_max
        self._known: dict[bytes, Device] = {}

    async def read(self, content: bytes) -> tuple[Device, ...]:
        """Return the devices of a message, in its order and with its repetitions.

        Devices are turned into values piece by piece, so that others on the loop get their turn.

        Raises:
            PluginCallError: The bytes are no such message, or list more devices, NUMA nodes or
                characters than are taken.
        """
        listed = parsed(device_plugin.ListAndWatchResponse, content).devices
        if len(listed) > self._devices_max:
            raise too_many_error(len(listed), self._devices_max)
        parts = _parts(content)
        if len(parts) != len(listed):  # Something odd that the runtime reads nevertheless.
            parts = [each.SerializeToString() for each in listed]
        before = self._known
        self._known = known = {}
        devices: list[Device] = []
        made = 0
        for number, part in enumerate(parts):
            device = before.get(part)
            if device is None:
                device = _device(listed[number])
                made += 1
                if made % _AT_A_TIME == 0:
                    await asyncio.sleep(0)
            known[part] = device
            devices.append(device)
        return tuple(devices)


async def measure(content: bytes, limit: int, devices_max: int = DEVICES_MAX) -> OversizeList:
    """Count the devices of a message that is too large, unless there are absurdly many."""
    found = fitting = 0
    try:
        for _, end in _spans(content):
            found += 1
            fitting += end <= limit
            if found > devices_max:
                return OversizeList(len(content), limit)
            if not found % _COUNTED_AT_A_TIME:
                await asyncio.sleep(0)
    except MalformedReplyError:
        return OversizeList(len(content), limit)
    return OversizeList(len(content), limit, found, fitting)


def _parts(content: bytes) -> list[bytes]:
    """Return the bytes of each device."""
    try:
        return [content[start:end] for start, end in _spans(content)]
    except MalformedReplyError:
        return []


def _spans(content: bytes) -> Iterator[tuple[int, int]]:
    """Yield where each device of a message begins and ends.

    Raises:
        MalformedReplyError: The bytes are no message, or a large and odd one.
    """
    at, end = 0, len(content)
    while at + _HEADER_MAX <= end and content[at] == _DEVICE_TAG:
        # What every device of nearly every list is: a length of one byte, or of two.
        start, length = at + 2, content[at + 1]
        if length >= _CONTINUED:
            more = content[start]
            start, length = start + 1, length - _CONTINUED | more << _VARINT_BITS
            if more >= _CONTINUED:
                break
        if start + length > end:
            break
        at = start + length
        yield start, at
    if end - at > ODD_BYTES_MAX:
        malformed("too much of it is nothing that lists usually are")
    for _, start, stop in fields(content, at, end, _DEVICES_FIELD, lenient=True):
        yield start, stop


def _device(listed: device_plugin.Device) -> Device:
    device, health = listed.ID, listed.health
    if max(len(device), len(health)) > TEXT_MAX:
        raise long_text_error(max(len(device), len(health)), TEXT_MAX)
    topology = None
    if listed.HasField("topology"):
        nodes = listed.topology.nodes
        if len(nodes) > NUMA_NODES_MAX:
            raise numa_error(device, len(nodes), NUMA_NODES_MAX)
        topology = tuple([NumaNode(node.ID) for node in nodes])
    return Device(DeviceId(device), _USUAL_HEALTH.get(health, health), topology)
