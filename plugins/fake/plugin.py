"""The fake plugin itself: devices whose health can be changed, and answers after a latency.

Its answers come from `simulator.core.plugin_answers`, as those of the simulated plugin do.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field, replace

from typing_extensions import override

from plugins.fake.preferences import Preference, preferred_devices
from plugins.model import DevicePlugin, Sleep, sleep_really
from simulator.core.allocate_response import AllocateResponse
from simulator.core.devices import HEALTHY, UNHEALTHY, Device, DeviceId
from simulator.core.endpoints import PluginOptions
from simulator.core.instants import Duration
from simulator.core.plugin_answers import AnswerParts, granted
from simulator.core.resources import ResourceName
from simulator.errors import PluginCallError
from simulator.protocol import services


@dataclass(frozen=True, slots=True, kw_only=True)
class Latency:
    """How long each call takes."""

    options: Duration = Duration(0)
    allocate: Duration = Duration(0)
    preferred_allocation: Duration = Duration(0)
    pre_start: Duration = Duration(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Flaps:
    """Devices that fall ill and recover, one at a time; which one, the seed decides.

    Attributes:
        period: From one recovery to the next illness.
        illness: How long a device is ill.
    """

    period: Duration
    illness: Duration
    seed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Troubles:
    """Calls that do not go well.

    Attributes:
        fail_options, fail_list, fail_allocate, fail_preferred, fail_pre_start: Error texts with
            which those calls fail; empty for success.
        empty_allocate: Whether Allocate answers without container responses (S3.13).
        hanging: Names of calls that are never answered, such as `Allocate`.
    """

    fail_options: str = ""
    fail_list: str = ""
    fail_allocate: str = ""
    fail_preferred: str = ""
    fail_pre_start: str = ""
    empty_allocate: bool = False
    hanging: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class FakeSettings:
    """How a fake plugin answers.

    Attributes:
        preferred: Ids that it prefers whatever it is asked; None for what `preference` says.
    """

    parts: AnswerParts = field(default_factory=AnswerParts)
    preference: Preference = Preference.NONE
    preferred: tuple[DeviceId, ...] | None = None
    pre_start_required: bool = False
    latency: Latency = field(default_factory=Latency)
    flaps: Flaps | None = None
    troubles: Troubles = field(default_factory=Troubles)


class FakePlugin(DevicePlugin):
    """Devices that exist only in its list.

    Args:
        resource: The name that is registered.
        devices: The list at first.
    """

    def __init__(
        self,
        resource: str,
        devices: Sequence[Device],
        settings: FakeSettings | None = None,
        *,
        sleep: Sleep = sleep_really,
    ) -> None:
        self._settings = settings or FakeSettings()
        wants_preference = (
            self._settings.preference is not Preference.NONE or self._settings.preferred is not None
        )
        super().__init__(
            resource,
            wants=PluginOptions(self._settings.pre_start_required, wants_preference),
            sleep=sleep,
        )
        self._devices = tuple(devices)
        self._answering = asyncio.Event()
        self._answering.set()

    @override
    def devices(self) -> Sequence[Device]:
        return self._devices

    # What a test, a step or an operator does to it

    def replace_devices(self, devices: Sequence[Device]) -> None:
        """Send another list."""
        self._devices = tuple(devices)
        self.report()

    def set_health(self, device: str, health: str) -> None:
        """Change a device's health and send the list.

        Raises:
            KeyError: There is no such device.
        """
        if device not in {each.id for each in self._devices}:
            raise KeyError(device)
        self.replace_devices(
            [replace(each, health=health) if each.id == device else each for each in self._devices]
        )

    def hang(self) -> None:
        """Answer nothing until `recover`."""
        self._answering.clear()

    def recover(self) -> None:
        """Answer what has come in meanwhile, and everything that comes."""
        self._answering.set()

    @override
    async def run(self) -> None:
        flaps = self._settings.flaps
        if flaps is None:
            return
        chance = random.Random(flaps.seed)  # noqa: S311 - no secret, and the same each time
        while True:
            await self.sleep(flaps.period)
            healthy = sorted(each.id for each in self._devices if each.is_healthy)
            if not healthy:
                continue
            device = chance.choice(healthy)
            self.set_health(device, UNHEALTHY)
            await self.sleep(flaps.illness)
            if device in {each.id for each in self._devices}:
                self.set_health(device, HEALTHY)

    # The calls of a kubelet

    @override
    async def options(self) -> PluginOptions:
        name = services.GET_DEVICE_PLUGIN_OPTIONS.name
        await self._take_time(
            name, self._settings.latency.options, self._settings.troubles.fail_options
        )
        return self.wants

    @override
    async def lists(self) -> AsyncGenerator[Sequence[Device], None]:
        await self._take_time(
            services.LIST_AND_WATCH.name, Duration(0), self._settings.troubles.fail_list
        )
        async for devices in super().lists():
            yield devices

    @override
    async def allocate(self, devices: tuple[DeviceId, ...]) -> AllocateResponse | None:
        troubles = self._settings.troubles
        await self._take_time(
            services.ALLOCATE.name, self._settings.latency.allocate, troubles.fail_allocate
        )
        if troubles.empty_allocate:
            return None
        return granted(ResourceName(self.resource), devices, self._settings.parts)

    @override
    async def prefer(
        self, available: tuple[DeviceId, ...], must_include: tuple[DeviceId, ...], size: int
    ) -> tuple[DeviceId, ...]:
        await self._take_time(
            services.GET_PREFERRED_ALLOCATION.name,
            self._settings.latency.preferred_allocation,
            self._settings.troubles.fail_preferred,
        )
        if self._settings.preferred is not None:
            return self._settings.preferred
        known = {device.id: device for device in self._devices}
        return preferred_devices(self._settings.preference, known, available, must_include, size)

    @override
    async def pre_start(self, devices: tuple[DeviceId, ...]) -> None:
        await self._take_time(
            services.PRE_START_CONTAINER.name,
            self._settings.latency.pre_start,
            self._settings.troubles.fail_pre_start,
        )

    async def _take_time(self, call: str, latency: Duration, failure: str) -> None:
        if latency:
            await self.sleep(latency)
        if call in self._settings.troubles.hanging:
            await asyncio.Event().wait()
        await self._answering.wait()
        if failure:
            raise PluginCallError(failure)
