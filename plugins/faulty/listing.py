"""Modes whose fault is in the lists of devices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from plugins.fake.plugin import Troubles
from plugins.faulty.mode import Around, Devices, Mode, one_instance, stays_away
from plugins.faulty.plugins import FloodingPlugin, SilentPlugin
from simulator.core.devices import UNHEALTHY, Device, DeviceId, NumaNode


def _twice(around: Around) -> Sequence[Device]:
    first = around.devices[0]
    return (*around.devices, replace(first, health=UNHEALTHY))


def _renamed(id_: str) -> Devices:
    return lambda around: (replace(around.devices[0], id=DeviceId(id_)), *around.devices[1:])


def _all_with_health(health: str) -> Devices:
    return lambda around: [replace(device, health=health) for device in around.devices]


def _too_many(around: Around) -> Sequence[Device]:
    """Return 60,000 devices of 78 bytes in a list, more than 4 MiB (S1.21, R62)."""
    del around
    return [
        Device(DeviceId(f"device-{number:054d}"), topology=(NumaNode(0),))
        for number in range(60_000)
    ]


LISTING: Final = (
    Mode(
        name="silent",
        does="registers and never sends a list",
        sources=("S1.17", "S2.12"),
        fails=("first-list",),
        make=one_instance(SilentPlugin),
    ),
    Mode(
        name="list-fails",
        does="fails ListAndWatch at once",
        sources=("R18", "S2.6"),
        fails=("first-list",),
        make=one_instance(troubles=Troubles(fail_list="no driver"), conduct=stays_away),
    ),
    Mode(
        name="empty-list",
        does="sends an empty list and nothing more",
        sources=("R28", "S1.20"),
        fails=("devices-listed",),
        make=one_instance(devices=lambda _: ()),
    ),
    Mode(
        name="never-healthy",
        does="lists devices that are never healthy",
        sources=("R24", "S1.18"),
        fails=("devices-listed",),
        make=one_instance(devices=_all_with_health(UNHEALTHY)),
    ),
    Mode(
        name="oversize-list",
        does="sends a list of more than 4 MiB",
        sources=("R62", "S1.21"),
        fails=("list-size",),
        make=one_instance(devices=_too_many),
    ),
    Mode(
        name="duplicate-ids",
        does="names one device twice, with different health",
        sources=("S1.18",),
        fails=("ids-unique",),
        make=one_instance(devices=_twice),
    ),
    Mode(
        name="empty-id",
        does="names one device with an empty text",
        sources=("S1.5",),
        fails=("ids-valid",),
        make=one_instance(devices=_renamed("")),
    ),
    Mode(
        name="long-id",
        does="names one device with 64 characters",
        sources=("S1.5",),
        fails=("ids-valid",),
        make=one_instance(devices=_renamed("x" * 64)),
    ),
    Mode(
        name="odd-health",
        does="says `healthy` of its devices",
        sources=("S1.5",),
        fails=("devices-listed", "health-words"),
        make=one_instance(devices=_all_with_health("healthy")),
    ),
    Mode(
        name="flooding",
        does="sends its list without a pause",
        sources=("S1.19",),
        fails=(),
        make=one_instance(FloodingPlugin),
    ),
)
"""The rows of the table."""
