"""Modes whose fault is in the answers to calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from plugins.fake.plugin import FakeSettings, Latency, Troubles
from plugins.fake.preferences import Preference
from plugins.faulty.mode import Around, Instance, Mode, hanging, one_instance
from plugins.faulty.plugins import (
    HUGE_ANSWER,
    MALFORMED_ANSWER,
    UNUSABLE_ANSWER,
    DyingPlugin,
    FewPlugin,
    HugePreferencePlugin,
    LostDevicePlugin,
    OddAnswerPlugin,
    OncePlugin,
    VanishingPlugin,
)
from simulator.core.devices import DeviceId
from simulator.protocol import services

_PREFERS: Final = FakeSettings(preference=Preference.FIRST)
_PRE_STARTS: Final = FakeSettings(pre_start_required=True)


def _slow(around: Around) -> Sequence[Instance]:
    settings = FakeSettings(latency=Latency(allocate=around.after))
    return one_instance(settings=settings)(around)


ANSWERING: Final = (
    Mode(
        name="hanging-allocate",
        does="never answers Allocate",
        sources=("R82", "S1.24", "S1.28"),
        fails=("allocate-one",),
        make=one_instance(troubles=hanging(services.ALLOCATE.name)),
    ),
    Mode(
        name="slow-allocate",
        does="answers Allocate after --after",
        sources=("R82", "S1.28"),
        fails=("allocate-one",),
        make=_slow,
    ),
    Mode(
        name="failing-allocate",
        does="answers Allocate with an error",
        sources=("S3.12",),
        fails=("allocate-one",),
        make=one_instance(troubles=Troubles(fail_allocate="out of memory")),
    ),
    Mode(
        name="empty-allocate",
        does="answers Allocate without container responses",
        sources=("S3.13",),
        fails=("allocate-one",),
        make=one_instance(troubles=Troubles(empty_allocate=True)),
    ),
    Mode(
        name="malformed-allocate",
        does="answers Allocate with bytes that cannot be decoded",
        sources=("S1.4",),
        fails=("allocate-one",),
        make=one_instance(OddAnswerPlugin, answer=MALFORMED_ANSWER),
    ),
    Mode(
        name="oversize-allocate",
        does="answers Allocate with more than 4 MiB",
        sources=("R67", "S1.21"),
        fails=("allocate-one",),
        make=one_instance(OddAnswerPlugin, answer=HUGE_ANSWER),
    ),
    Mode(
        name="unusable-allocate",
        does="answers Allocate with what no container starts with",
        sources=("S1.4",),
        fails=("response-usable",),
        make=one_instance(OddAnswerPlugin, answer=UNUSABLE_ANSWER),
    ),
    Mode(
        name="dies-in-allocate",
        does="dies when it is asked to allocate, and leaves its socket behind",
        sources=("R26", "S3.12"),
        fails=("stream-kept", "allocate-one"),
        make=one_instance(DyingPlugin),
    ),
    Mode(
        name="vanishing-device",
        does="drops a device from its list while it allocates it",
        sources=("S3.14",),
        fails=("allocate-one",),
        make=one_instance(VanishingPlugin),
    ),
    Mode(
        name="lost-device",
        does="fails to allocate one of the devices that it calls healthy",
        sources=("R84",),
        fails=("allocate-all",),
        make=one_instance(LostDevicePlugin),
    ),
    Mode(
        name="allocate-once",
        does="allocates no device for a second time",
        sources=("R41", "R116", "S3.17"),
        fails=("allocate-again",),
        make=one_instance(OncePlugin),
    ),
    Mode(
        name="hanging-preferred",
        does="never answers GetPreferredAllocation",
        sources=("R82", "S1.25", "S1.28"),
        fails=("preferred-allocation",),
        make=one_instance(
            settings=_PREFERS, troubles=hanging(services.GET_PREFERRED_ALLOCATION.name)
        ),
    ),
    Mode(
        name="failing-preferred",
        does="answers GetPreferredAllocation with an error",
        sources=("R84", "S3.18"),
        fails=("preferred-allocation",),
        make=one_instance(settings=_PREFERS, troubles=Troubles(fail_preferred="no link")),
    ),
    Mode(
        name="stray-preferred",
        does="prefers devices that were not offered",
        sources=("R85", "S3.18"),
        fails=("preferred-allocation",),
        make=one_instance(
            settings=replace(_PREFERS, preferred=(DeviceId("stray-0"), DeviceId("stray-1")))
        ),
    ),
    Mode(
        name="few-preferred",
        does="prefers one device less than asked for",
        sources=("R85", "S3.18"),
        fails=("preferred-allocation",),
        make=one_instance(FewPlugin, settings=_PREFERS),
    ),
    Mode(
        name="oversize-preferred",
        does="answers GetPreferredAllocation with more than 4 MiB",
        sources=("R64",),
        fails=("preferred-allocation",),
        make=one_instance(HugePreferencePlugin, settings=_PREFERS),
    ),
    Mode(
        name="hanging-pre-start",
        does="never answers PreStartContainer",
        sources=("S1.26",),
        fails=("pre-start",),
        make=one_instance(
            settings=_PRE_STARTS, troubles=hanging(services.PRE_START_CONTAINER.name)
        ),
    ),
    Mode(
        name="failing-pre-start",
        does="answers PreStartContainer with an error",
        sources=("R124", "S3.22"),
        fails=("pre-start",),
        make=one_instance(settings=_PRE_STARTS, troubles=Troubles(fail_pre_start="busy")),
    ),
)
"""The rows of the table."""
