"""A long ListAndWatch message: from its arrival to folded in and committed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack
from itertools import count
from typing import Final

from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.figures import FigureTable
from benchmarks.live_nodes import LiveNodes, live_nodes, loop_of_its_own
from benchmarks.timing import Contest, Contestant, hold
from benchmarks.workload import device_of
from plugins.rpc import message_of
from simulator.core.devices import UNHEALTHY, Device
from simulator.core.records import Stamped, StateWritten
from simulator.protocol import rebind_deviceplugin_pb2 as device_plugin
from simulator.protocol import services
from simulator.wire.connections import ConnectionSettings, dial
from simulator.wire.servers import UnixServer

SIZES: Final = (1_000, 10_000, 50_000)
ROUNDS = 5


class ListingPlugin:
    """A plugin that sends lists which were made before, so that their making is not timed."""

    def __init__(self, nodes: LiveNodes, size: int) -> None:
        self.nodes = nodes
        devices = [device_of(number) for number in range(size)]
        self._first = message_of(devices)
        ill = Device(devices[0].id, UNHEALTHY, devices[0].topology)
        self._changed = message_of([ill, *devices[1:]])
        self._size = size
        self._serial = count()
        self._lists: asyncio.Queue[bytes] = asyncio.Queue()
        self._committed = asyncio.Event()
        self._servers: list[UnixServer] = []
        nodes.world.watch_records(self._note)

    def new(self) -> Contestant:
        """Return the first list of a resource: every device is a new row."""
        return Contestant(lambda: self._take(self._first), before=self._register)

    def changed(self) -> Contestant:
        """Return a list in which one device has changed."""

        def prepare() -> None:
            self._register()
            self._take(self._first)

        return Contestant(lambda: self._take(self._changed), before=prepare)

    def close(self) -> None:
        """Stop to serve."""

        async def stopped() -> None:
            await asyncio.gather(*(server.stop() for server in self._servers))

        self.nodes.turn(stopped())

    def _register(self) -> None:
        self.nodes.turn(self._registered(next(self._serial)))

    async def _registered(self, number: int) -> None:
        """Serve and register one more resource."""
        node = self.nodes.names[0]
        name = f"list-{self._size}-{number}"
        self._lists = asyncio.Queue()
        server = UnixServer(self.nodes.folder(node) / f"{name}.sock")
        server.answer(services.GET_DEVICE_PLUGIN_OPTIONS, _options)
        server.stream(services.LIST_AND_WATCH, self._sent(self._lists))
        await server.start()
        self._servers.append(server)
        socket = self.nodes.world.settings.folder(node).registration_socket
        kubelet = await dial(socket, ConnectionSettings())
        request = device_plugin.RegisterRequest(
            version="v1beta1", endpoint=f"{name}.sock", resource_name=f"example.com/{name}"
        )
        await kubelet.call(services.REGISTER, request)
        await kubelet.close()

    def _sent(
        self, lists: asyncio.Queue[bytes]
    ) -> Callable[[device_plugin.Empty], AsyncIterator[bytes]]:
        async def stream(request: device_plugin.Empty) -> AsyncIterator[bytes]:
            del request
            while True:
                yield await lists.get()

        return stream

    def _take(self, content: bytes) -> None:
        async def taken() -> None:
            self._committed.clear()
            self._lists.put_nowait(content)
            await self._committed.wait()

        self.nodes.turn(taken())

    def _note(self, stamped: Stamped) -> None:
        record = stamped.record
        if isinstance(record, StateWritten) and record.cause == "devices":
            self._committed.set()


async def _options(request: device_plugin.Empty) -> device_plugin.DevicePluginOptions:
    del request
    return device_plugin.DevicePluginOptions()


def bench_lists(benchmark: BenchmarkFixture, figures: FigureTable) -> None:
    """Take lists of three sizes, of new devices and with one that has changed, in turns."""
    with ExitStack() as stack:
        loop = stack.enter_context(loop_of_its_own())
        contestants = {}
        for size in SIZES:
            plugin = ListingPlugin(stack.enter_context(live_nodes(loop, nodes=1, devices=0)), size)
            stack.callback(plugin.close)
            contestants[f"list/{size}"] = plugin.new()
            contestants[f"list/{size}/changed"] = plugin.changed()
        contest = Contest(contestants)
        hold(contest, benchmark, rounds=ROUNDS)
    for name in contestants:
        figures.report(name, contest.median_ns(name) / 1e6)
    least, most = SIZES[1], SIZES[-1]
    ratio = contest.ratio(f"list/{most}", f"list/{least}") * least / most
    figures.report("list/linear", ratio, contest.medians(f"list/{most}", f"list/{least}"))
