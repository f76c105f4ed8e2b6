"""Plugins in a process of their own, as real ones are: `python -m benchmarks.plugin_process`.

One plugin for each node under a root folder. It answers Allocate at once, or as late as it is told;
if it is told so, it reports its devices anew in a fixed rhythm, with the time of the report as a
device's id.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from typing_extensions import override

from benchmarks import workload
from benchmarks.ending import end_with_parent
from plugins.conduct import Place
from plugins.model import DevicePlugin
from plugins.serving import PluginServer
from simulator.core.allocate_response import AllocateResponse, decode
from simulator.core.devices import Device, DeviceId

SENT_AT: Final = "sent-at-"
"""How the id of the device begins that says when a list was sent (`time.monotonic_ns`)."""


@dataclass(frozen=True, slots=True)
class Order:
    """What the process is to serve.

    Attributes:
        folders: The plugin directories, one for each node.
        resource: What is registered at each.
        devices: How many there are.
        period_s: The time between two reports; 0 for one report only.
        allocate_s: How long Allocate takes.
    """

    folders: tuple[str, ...]
    resource: str
    devices: int
    period_s: float = 0.0
    allocate_s: float = 0.0

    def command(self) -> list[str]:
        """Return the command line of the process."""
        return [sys.executable, "-m", "benchmarks.plugin_process", json.dumps(asdict(self))]


class MeasuredPlugin(DevicePlugin):
    """Devices of the workload."""

    def __init__(self, order: Order) -> None:
        super().__init__(order.resource)
        self._period_s = order.period_s
        self._allocate_s = order.allocate_s
        self._devices = [workload.device_of(number) for number in range(order.devices)]

    @override
    def devices(self) -> Sequence[Device]:
        """Return the list, and when it is sent if that is of interest."""
        if not self._period_s:
            return self._devices
        return [*self._devices, Device(DeviceId(f"{SENT_AT}{time.monotonic_ns()}"))]

    @override
    async def allocate(self, devices: tuple[DeviceId, ...]) -> AllocateResponse:
        """Answer as the workload's plugin does."""
        if self._allocate_s:
            await asyncio.sleep(self._allocate_s)
        return decode(workload.allocate_response(devices))

    @override
    async def run(self) -> None:
        """Report in the rhythm."""
        while self._period_s:
            await asyncio.sleep(self._period_s)
            self.report()


async def serve(order: Order) -> None:
    """Serve until the process is ended."""
    model = MeasuredPlugin(order)
    name = f"{order.resource.rpartition('/')[2]}.sock"
    for folder in order.folders:
        place = Place(directory=Path(folder), socket_name=name)
        await PluginServer(model if not order.period_s else MeasuredPlugin(order), place).start()
    await asyncio.Event().wait()


if __name__ == "__main__":
    end_with_parent()
    fields = json.loads(sys.argv[1])
    asyncio.run(serve(Order(**{**fields, "folders": tuple(fields["folders"])})))
