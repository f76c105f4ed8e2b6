"""NVIDIA GPUs as device plugins: one for each resource that a machine's GPUs make.

The GPUs are read once, when the plugins are made. A machine whose GPUs or MIG devices have changed
since then is read by starting the plugin anew, as with NVIDIA's (R70, R74).
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from typing_extensions import override

from plugins.model import DevicePlugin
from plugins.nvml.answers import AnswerOptions, Answers
from plugins.nvml.events import Watch
from plugins.nvml.gpus import Inventory
from plugins.nvml.health import APPLICATION_XIDS, HealthLedger, XidEvent
from plugins.nvml.library import opened
from plugins.nvml.preference import Preference
from plugins.nvml.reading import read_inventory
from plugins.nvml.resources import Naming, Offer, offers_of
from simulator.core.allocate_response import AllocateResponse
from simulator.core.devices import Device, DeviceId
from simulator.core.endpoints import PluginOptions
from simulator.errors import HardwareError

_LOG: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class NvmlOptions:
    """What a user can choose.

    Attributes:
        ignored_xids: XIDs that leave a device healthy.
        watches_health: Whether XID events and lost GPUs are watched at all.
        prefers: Whether the kubelet is to ask which devices go well together (S1.25).
        host_root: Where the host's /dev, /proc and /sys are seen.
    """

    naming: Naming = field(default_factory=Naming)
    answers: AnswerOptions = field(default_factory=AnswerOptions)
    ignored_xids: tuple[int, ...] = tuple(APPLICATION_XIDS)
    watches_health: bool = True
    prefers: bool = True
    host_root: Path = Path("/")


@contextmanager
def nvml_plugins(options: NvmlOptions) -> Iterator[tuple[NvmlPlugin, ...]]:
    """Open NVML for a block, and make a plugin for each resource of this machine, sorted by name.

    The plugins are to be stopped before the block ends.

    Raises:
        HardwareError: No library, no driver, or nothing to offer.
        ConfigError: The options do not fit each other or this machine.
    """
    with opened():
        inventory = read_inventory(options.host_root)
        offers = offers_of(inventory, options.naming)
        if not offers:
            raise HardwareError(_nothing(inventory, options.naming))
        yield tuple(NvmlPlugin(offer, inventory, options) for offer in offers)


class NvmlPlugin(DevicePlugin):
    """One resource made of GPUs or MIG devices.

    Args:
        offer: The resource and its devices.
        inventory: The machine that they are of; NVML stays open while the plugin runs.
    """

    def __init__(self, offer: Offer, inventory: Inventory, options: NvmlOptions) -> None:
        super().__init__(
            offer.resource,
            wants=PluginOptions(preferred_allocation=options.prefers),
        )
        self._offer = offer
        self._gpus = tuple({unit.gpu.index: unit.gpu for unit in offer.units}.values())
        self._answers = Answers(offer.resource, offer.units, inventory, options.answers)
        self._preference = Preference(offer.units, inventory)
        self._watches_health = options.watches_health
        self._health = HealthLedger(
            ignored_xids=frozenset(options.ignored_xids),
            lost={gpu.uuid for gpu in inventory.gpus if gpu.is_lost},
        )

    @override
    def devices(self) -> Sequence[Device]:
        """Return the devices with their health as it is now."""
        return self._health.devices(self._offer.units)

    @override
    async def allocate(self, devices: tuple[DeviceId, ...]) -> AllocateResponse:
        """Return what a container gets with `devices`."""
        return self._answers.allocate(devices)

    @override
    async def prefer(
        self, available: tuple[DeviceId, ...], must_include: tuple[DeviceId, ...], size: int
    ) -> tuple[DeviceId, ...]:
        """Return the devices that go well together."""
        return self._preference.choose(available, must_include, size)

    @override
    async def run(self) -> None:
        """Watch the health of the devices; NVML waits in a thread of its own."""
        if not self._watches_health:
            return
        loop = asyncio.get_running_loop()

        def told(note: Callable[[], None]) -> None:
            loop.call_soon_threadsafe(note)

        watch = Watch(
            self._gpus,
            on_event=lambda event: told(lambda: self._note(event)),
            on_lost=lambda lost: told(lambda: self._note_lost(lost)),
        )
        stop = threading.Event()
        # Of its own: the threads that all share are few, and this one is not given back.
        with ThreadPoolExecutor(max_workers=1, thread_name_prefix="nvml") as threads:
            watching = loop.run_in_executor(threads, watch.run, stop)
            try:
                await asyncio.shield(watching)
            finally:
                stop.set()
                # NVML must not be closed while it waits.
                await watching

    def _note(self, event: XidEvent) -> None:
        struck = self._health.note(event, self._offer.units)
        _LOG.warning(
            "XID %s: %s",
            event.xid,
            ", ".join(struck) or "nothing changes",
            extra={"resourceName": self.resource, "gpu": event.gpu},
        )
        if struck:
            self.report()

    def _note_lost(self, lost: frozenset[str]) -> None:
        if self._health.note_lost(lost):
            _LOG.warning(
                "lost GPUs: %s",
                ", ".join(sorted(lost)) or "none any more",
                extra={"resourceName": self.resource},
            )
            self.report()


def _nothing(inventory: Inventory, naming: Naming) -> str:
    if not inventory.gpus:
        count = len(inventory.unnamed)
        lost = f", of them {count} so lost that it has no name for them" if count else ""
        return (
            f"asked NVML for this machine's GPUs: it found {count}{lost}; there is nothing to offer"
        )
    return (
        f"all {len(inventory.gpus)} GPUs are in MIG mode and none has a MIG device, so MIG "
        f"strategy `{naming.mig_strategy.value}` offers nothing; create MIG devices, or use `none`"
    )
