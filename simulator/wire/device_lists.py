"""ListAndWatch messages as device lists (S1.17), and lists that are too large (S1.21)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from simulator.core.devices import HEALTHY, UNHEALTHY, Device, DeviceId, NumaNode
from simulator.core.protobuf_wire import BYTES, fields
from simulator.errors import MalformedReplyError
from simulator.protocol import rebind_deviceplugin_pb2 as device_plugin
from simulator.wire.connections import parsed
from simulator.wire.status import too_many_error

DEVICES_MAX: Final = 250_000
"""Most devices of one list. Differs: a kubelet takes what its receive limit lets through, which
leaves room for 2 million empty ones; of devices with the shortest ids it is 150,000."""

_DEVICES_FIELD: Final = {1: BYTES}
_AT_A_TIME: Final = 2_000
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


async def read_devices(content: bytes, devices_max: int = DEVICES_MAX) -> tuple[Device, ...]:
    """Return the devices of a ListAndWatch message, in its order and with its repetitions.

    A long list is turned into values piece by piece, so that others on the loop get their turn.

    Raises:
        PluginCallError: The bytes are no such message, or list more devices than are taken.
    """
    listed = parsed(device_plugin.ListAndWatchResponse, content).devices
    if len(listed) > devices_max:
        raise too_many_error(len(listed), devices_max)
    devices: list[Device] = []
    for start in range(0, len(listed), _AT_A_TIME):
        if start:
            await asyncio.sleep(0)
        devices.extend(_devices(listed[start : start + _AT_A_TIME]))
    return tuple(devices)


async def measure(content: bytes, limit: int, devices_max: int = DEVICES_MAX) -> OversizeList:
    """Count the devices of a message that is too large, unless there are absurdly many."""
    found = fitting = 0
    try:
        for _, _, end in fields(content, 0, len(content), _DEVICES_FIELD, lenient=True):
            found += 1
            fitting += end <= limit
            if found > devices_max:
                return OversizeList(len(content), limit)
            if not found % _COUNTED_AT_A_TIME:
                await asyncio.sleep(0)
    except MalformedReplyError:
        return OversizeList(len(content), limit)
    return OversizeList(len(content), limit, found, fitting)


def _devices(listed: Sequence[device_plugin.Device]) -> list[Device]:
    devices: list[Device] = []
    for each in listed:
        health = each.health
        topology = None
        if each.HasField("topology"):
            topology = tuple([NumaNode(node.ID) for node in each.topology.nodes])
        devices.append(Device(DeviceId(each.ID), _USUAL_HEALTH.get(health, health), topology))
    return devices
