"""The faults that are in lists and answers: fake plugins, each wrong in one way."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from typing import Final

from typing_extensions import override

from plugins.fake.plugin import FakePlugin
from simulator.core.allocate_response import AllocateResponse, DeviceSpec, Mount
from simulator.core.devices import UNHEALTHY, Device, DeviceId
from simulator.core.instants import MILLISECOND, Duration
from simulator.errors import PluginCallError

MESSAGE_MAX: Final = 4 * 1024 * 1024
"""Bytes of the largest message that a kubelet takes (S1.21)."""
_SHORTLY: Final = Duration(100 * MILLISECOND)


class SilentPlugin(FakePlugin):
    """Takes the call ListAndWatch and never sends a list."""

    @override
    async def lists(self) -> AsyncGenerator[Sequence[Device], None]:
        await asyncio.Event().wait()
        yield ()


class EndingPlugin(FakePlugin):
    """Sends one list and ends the stream."""

    @override
    async def lists(self) -> AsyncGenerator[Sequence[Device], None]:
        yield self.devices()
        await self.sleep(_SHORTLY)


class FloodingPlugin(FakePlugin):
    """Sends its list without a pause, with one device healthy in every other one."""

    @override
    async def lists(self) -> AsyncGenerator[Sequence[Device], None]:
        healthy = self.devices()
        ill = (Device(healthy[0].id, UNHEALTHY), *healthy[1:]) if healthy else ()
        while True:
            yield healthy
            yield ill
            await asyncio.sleep(0)


class DyingPlugin(FakePlugin):
    """Dies when it is asked to allocate."""

    @override
    async def allocate(self, devices: tuple[DeviceId, ...]) -> AllocateResponse | None:
        self.gone.set()
        await asyncio.Event().wait()
        return None


class VanishingPlugin(FakePlugin):
    """Drops the devices from its list while it is asked to allocate them (S3.14)."""

    @override
    async def allocate(self, devices: tuple[DeviceId, ...]) -> AllocateResponse | None:
        self.replace_devices([device for device in self.devices() if device.id not in devices])
        await self.sleep(_SHORTLY)
        return await super().allocate(devices)


class OncePlugin(FakePlugin):
    """Answers Allocate once for each device, as if somebody told it that a device is free again."""

    @override
    async def allocate(self, devices: tuple[DeviceId, ...]) -> AllocateResponse | None:
        self._given = getattr(self, "_given", frozenset[DeviceId]())
        again = sorted(self._given.intersection(devices))
        if again:
            reason = f"{again[0]} is in use"
            raise PluginCallError(reason)
        self._given |= set(devices)
        return await super().allocate(devices)


class LostDevicePlugin(FakePlugin):
    """Fails for the last device of its list, which it goes on calling healthy (R84)."""

    @override
    async def allocate(self, devices: tuple[DeviceId, ...]) -> AllocateResponse | None:
        lost = self.devices()[-1].id
        if lost in devices:
            reason = f"{lost} is lost"
            raise PluginCallError(reason)
        return await super().allocate(devices)


class FewPlugin(FakePlugin):
    """Prefers one device less than it is asked for (R85)."""

    @override
    async def prefer(
        self, available: tuple[DeviceId, ...], must_include: tuple[DeviceId, ...], size: int
    ) -> tuple[DeviceId, ...]:
        return (await super().prefer(available, must_include, size))[:-1]


class HugePreferencePlugin(FakePlugin):
    """Answers GetPreferredAllocation with more than a message can hold (R64)."""

    @override
    async def prefer(
        self, available: tuple[DeviceId, ...], must_include: tuple[DeviceId, ...], size: int
    ) -> tuple[DeviceId, ...]:
        return tuple(available) * (MESSAGE_MAX // max(len("".join(available)), 1) + 1)


class OddAnswerPlugin(FakePlugin):
    """Answers Allocate with something else than devices.

    Attributes:
        answer: What it answers with.
    """

    answer = AllocateResponse()

    @override
    async def allocate(self, devices: tuple[DeviceId, ...]) -> AllocateResponse | None:
        return self.answer


UNUSABLE_ANSWER: Final = AllocateResponse(
    envs={"A=B": "1"},
    mounts=(Mount("data", "../data"),),
    devices=(DeviceSpec("dev/odd", "", "x"),),
)
"""An answer with which no container starts."""

MALFORMED_ANSWER: Final = AllocateResponse(unknown=b"\x0a\x7f")
"""An answer that cannot be decoded: an entry of envs that is longer than the message."""

HUGE_ANSWER: Final = AllocateResponse(envs={"HUGE": "x" * MESSAGE_MAX})
"""An answer that is larger than a message may be (R67)."""
