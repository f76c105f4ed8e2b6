"""The clusters that are measured: nodes with everything around them that a combination asks for.

Each is made afresh in a folder or database of its own, and gone afterwards.
"""

from __future__ import annotations

import contextlib
import gc
import subprocess
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Final

from benchmarks.counted_fsync import CountedFsync
from benchmarks.measuring.api_server import ApiServerProcess, api_server, create_existing
from benchmarks.measuring.carried import Shown, WatchedApi
from benchmarks.measuring.clocks import Driver, RealTime, VirtualTime
from benchmarks.measuring.cluster import cluster, devices_of, existing_pods, plugin_name
from benchmarks.measuring.costs import Instruments
from benchmarks.measuring.following import Follower, Risk
from benchmarks.measuring.instruments import ProcessMeter
from benchmarks.measuring.lives import Lives
from benchmarks.measuring.phases import Target
from benchmarks.measuring.plugins_here import PartsHere, PluginLatencies
from benchmarks.measuring.room import Room
from benchmarks.plugin_process import Order
from benchmarks.profiles import combinations
from benchmarks.profiles.combinations import Combination, Keeper
from benchmarks.profiles.profile import Profile
from benchmarks.results.rows import Store, TimeSource
from benchmarks.sync_counter import Syncs, counted_syncs
from simulator.core.instants import MILLISECOND, MINUTE, SECOND, Duration
from simulator.core.persistence.choosing import STRATEGIES
from simulator.core.pods import PodUid
from simulator.core.resources import ResourceName
from simulator.engine.api import ApiServer
from simulator.engine.node import Node
from simulator.engine.ports import Adapters, ApiTransport
from simulator.engine.spec import PluginSpec
from simulator.engine.streams import RandomStreams
from simulator.engine.timeline import Timeline
from simulator.engine.virtual.simulated_parts import SimulatedParts
from simulator.engine.virtual.simulation import Simulation
from simulator.engine.world import Watching
from simulator.errors import ConfigError, ServerError
from simulator.live.parts import LiveParts
from simulator.live.remote.settings import RemoteSettings
from simulator.live.settings import LiveSettings
from simulator.live.world import LiveWorld
from simulator.ports import Durability
from store.committer import COMMIT_BATCH
from store.memory.store import MemoryStore
from store.retention import CHANGES_MAX
from store.scratch import scratch
from store.sql_store import SqlStore

SHORTEST_GRACE: Final = Duration(MILLISECOND)
"""With a server, containers take so long to end, and their pods' grace period is a second."""
READY_WITHIN: Final = Duration(5 * MINUTE)
"""How long nodes may take to begin, with very many existing pods on a busy machine."""
WATCHING: Final = Watching(invariants=False, records_max=1_000, deleted_pods_max=1_000)


@dataclass(frozen=True, slots=True)
class Request:
    """What is to be made.

    Attributes:
        seed: Of the run.
        folder: Where files are made; None for the usual place of temporary files.
        postgresql: URL of a server's database; None where there is none.
    """

    profile: Profile
    combination: Combination
    seed: int
    folder: Path | None = None
    postgresql: str | None = None


@asynccontextmanager
async def target(request: Request) -> AsyncIterator[Target]:
    """Make a cluster, ready for its load.

    Raises:
        ServerError: Its nodes do not begin.
        StoreError: Its database cannot be opened.
        AttributeError: The SQLite of this Python hides what counting fsyncs needs.
    """
    make = _virtual if request.combination.clock is TimeSource.VIRTUAL else _real
    async with make(request) as made:
        yield made


class _Making:
    """What both kinds of target share."""

    def __init__(self, request: Request, uids: Mapping[str, PodUid] = MappingProxyType({})) -> None:
        self.request = request
        self.spec = cluster(request.profile, request.combination, seed=request.seed, uids=uids)
        self.calls: Counter[str] = Counter()
        self._shown: list[Follower] = []
        plugins = {plugin.name: plugin for plugin in request.profile.plugins}
        latencies = PluginLatencies(plugins, request.seed)
        kinds = {
            plugin_name(plugin, node.name): plugin.name
            for plugin in request.profile.plugins
            for node in self.spec.nodes
        }
        self._latency = lambda spec: latencies.of(kinds[spec.name], spec.name)

    def around(self, inner: Adapters, timeline: Timeline) -> Adapters:
        """Put plugins in this process, and a watched way to the API, around a driver's parts."""
        return PartsHere(
            inner,
            timeline,
            self._latency,
            self.carried,
            is_read=self.request.profile.reads.pod_resources_list > 0,
        )

    def carried(self, inner: ApiTransport) -> ApiTransport:
        """Watch the way to the API server."""
        return WatchedApi(inner, self.calls, self._show)

    def target(self, driver: Driver, risk: Risk, instruments: Instruments) -> Target:
        """Put the load's side together."""
        profile = self.request.profile
        world = driver.world
        in_api = Keeper.API in self.request.combination.keepers
        follower = Follower(driver.now_ns, risk, shown_by_api=in_api)
        self._shown.append(follower)
        chance = RandomStreams(self.request.seed).stream("placement")
        room = Room(
            list(world.nodes), devices_of(profile), lambda node: world.nodes[node].serves, chance
        )
        is_served = in_api and isinstance(driver, RealTime)
        grace_min = SHORTEST_GRACE if is_served else Duration(0)
        lives = Lives(driver, profile, room, follower, grace_min=grace_min)
        world.watch_records(follower.take)
        world.watch_records(lives.take)
        instruments.calls = self.calls
        return Target(driver, lives, follower, instruments)

    def _show(self, shown: Shown) -> None:
        for follower in self._shown:
            follower.shown(shown)


async def _begin(driver: Driver) -> None:
    """Wait until the nodes and their plugins are ready.

    Raises:
        ServerError: They are not in time.
    """
    world = driver.world
    nodes, plugins = world.nodes.values(), world.plugins.values()
    if await driver.until(lambda: all(node.settled for node in nodes), READY_WITHIN):
        for plugin in plugins:
            driver.enter(plugin.start)
        if await driver.until(lambda: all(plugin.listed for plugin in plugins), READY_WITHIN):
            return
    reason = f"the {len(nodes)} nodes of the benchmark were not ready in time; try fewer of them"
    raise ServerError(reason)


async def _follow(world: LiveWorld) -> None:
    """Wait until the nodes know what their API server has for them, if they have one.

    Raises:
        ServerError: They do not in time.
    """
    remote = world.parts.remote
    if remote is not None and not await world.until(lambda: remote.is_following, READY_WITHIN):
        reason = "the nodes of the benchmark cannot follow their API server"
        raise ServerError(reason)


# Virtual time


@asynccontextmanager
async def _virtual(request: Request) -> AsyncIterator[Target]:
    """Make a cluster in virtual time, with one database for all nodes that knows only memory."""
    making = _Making(request)
    store = MemoryStore()
    parts: list[SimulatedParts] = []

    def around(inner: SimulatedParts) -> Adapters:
        parts.append(inner)
        return making.around(inner, inner.timeline)

    simulation = Simulation(
        making.spec, store_factory=lambda _: store, watching=WATCHING, around=around
    )
    try:
        driver = VirtualTime(simulation)
        await _begin(driver)
        is_full = request.combination.durability in {None, Durability.FULL}
        risk = Risk(None, is_counted=is_full)
        yield making.target(driver, risk, Instruments(fsyncs=lambda: parts[0].fsyncs))
    finally:
        simulation.close()


# The real clock


@asynccontextmanager
async def _real(request: Request) -> AsyncIterator[Target]:
    combination = request.combination
    async with AsyncExitStack() as stack:
        folder = Path(
            stack.enter_context(tempfile.TemporaryDirectory(prefix="rb", dir=request.folder))
        )
        files = CountedFsync()
        syncs = _Syncs([files.count])
        database = stack.enter_context(_database(request, folder))
        store = None
        if Keeper.DATABASE in combination.keepers:
            syncs.counts.append(stack.enter_context(counted_syncs()))
            store = _opened(request, database.url)
            stack.callback(store.close)
        commit_batch = combination.commit_batch or COMMIT_BATCH
        settings = LiveSettings(root=folder, commit_batch=commit_batch, sync=files)
        instruments = Instruments(syncs.number, client=ProcessMeter(), log=database.written)
        if database.written is not None:
            instruments.fsyncs = lambda: None
        making = _Making(request)
        if Keeper.API in combination.keepers:
            server = stack.enter_context(_api_server(request, folder, database.url))
            syncs.counts.append(server.syncs)
            instruments.server = server.meter
            settings = replace(settings, api=RemoteSettings(server.endpoint))
            making = _Making(request, await _existing(request, server))
        is_remote = combination.target is combinations.Target.PLUGIN_SOCKET
        specs = making.spec.plugins
        world = LiveWorld(
            replace(making.spec, plugins=()) if is_remote else making.spec,
            settings,
            store,
            WATCHING,
            around=partial(_watched, making) if is_remote else partial(_here, making),
        )
        stack.push_async_callback(world.close)
        driver = RealTime(world)
        world.begin(warm=True)
        await _follow(world)
        if is_remote:
            await _begin_remote(driver, specs, settings, stack)
        else:
            await _begin(driver)
        stack.enter_context(_collected())
        syncs.add(combination.added_fsync)
        loses = combination.durability not in {None, Durability.FULL}
        risk = Risk(syncs.number if loses else None)
        yield making.target(driver, risk, instruments)


def _api_server(
    request: Request, folder: Path, database: str
) -> contextlib.AbstractContextManager[ApiServerProcess]:
    combination = request.combination
    return api_server(
        folder,
        database,
        durability=combination.durability or Durability.FULL,
        commit_batch=combination.commit_batch or COMMIT_BATCH,
    )


async def _existing(request: Request, server: ApiServerProcess) -> Mapping[str, PodUid]:
    """Create the pods that are there at the start, and return their uids by name."""
    kept = STRATEGIES[request.combination.persistence.name]
    pods = list(existing_pods(request.profile, request.combination))
    return await create_existing(
        server.endpoint, pods, in_specs=kept.in_specs, in_objects=kept.in_objects
    )


def _here(making: _Making, inner: LiveParts) -> Adapters:
    return making.around(inner, inner.timeline)


@contextmanager
def _collected() -> Iterator[None]:
    """Keep what the nodes are made of out of Python's garbage collections.

    Each would stop everything while it looks at all of it, up to 100 ms for 200 nodes.
    """
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


class _Syncs:
    """Every fsync of this process that keeps bindings: of files, and of SQLite."""

    def __init__(self, counts: list[Syncs]) -> None:
        self.counts = counts

    def number(self) -> int:
        """Return how many there were so far."""
        return sum(count.syncs for count in self.counts)

    def add(self, span: Duration) -> None:
        """Let each take longer from now on."""
        for count in self.counts:
            count.added_seconds = span / SECOND


@dataclass(frozen=True, slots=True)
class _Database:
    """Where a database is, and how much of its server's log was written; None without a server."""

    url: str
    written: Callable[[], int] | None = None


@contextmanager
def _database(request: Request, folder: Path) -> Iterator[_Database]:
    """Make room for the database of a combination, be it the nodes' own or the API server's.

    Raises:
        ConfigError: There is no server, or it cannot be as slow as is asked for.
    """
    combination = request.combination
    if combination.store is not Store.POSTGRESQL:
        yield _Database(f"sqlite:///{folder / 'rebind.db'}")
        return
    if request.postgresql is None:
        reason = "there is no PostgreSQL database to measure on; name one with --db-url"
        raise ConfigError(reason)
    with scratch(request.postgresql, added_fsync=combination.added_fsync) as made:
        yield _Database(made.url, made.written)


def _opened(request: Request, url: str) -> SqlStore:
    """Open the database of a combination."""
    combination, retention = request.combination, request.profile.retention
    return SqlStore(
        url,
        durability=combination.durability or Durability.FULL,
        history_max=CHANGES_MAX if retention is None else retention,
    )


# Plugins in processes of their own


class _WatchedParts:
    """A live driver's own parts, with a watched way to the API (`Adapters`)."""

    def __init__(self, making: _Making, inner: LiveParts) -> None:
        self._making = making
        self._inner = inner
        self.storage = inner.storage
        self.sockets = inner.sockets
        self.plugin = inner.plugin

    def transport(self, api: ApiServer) -> ApiTransport:
        """Return how kubelets reach the API server, watched."""
        return self._making.carried(self._inner.transport(api))


def _watched(making: _Making, inner: LiveParts) -> Adapters:
    return _WatchedParts(making, inner)


@contextmanager
def _process(order: Order) -> Iterator[None]:
    """Run a process with the plugins of all nodes for one resource."""
    with subprocess.Popen(order.command()) as process:  # noqa: S603 - our own module
        try:
            yield
        finally:
            process.kill()


async def _begin_remote(
    driver: Driver, specs: Sequence[PluginSpec], settings: LiveSettings, stack: AsyncExitStack
) -> None:
    """Wait until the nodes are ready, and their plugins, which are processes, have registered.

    Raises:
        ServerError: They are not in time.
    """
    await _begin(driver)
    by_resource: dict[ResourceName, list[PluginSpec]] = {}
    for spec in specs:
        by_resource.setdefault(spec.resource, []).append(spec)
    for resource, alike in by_resource.items():
        folders = tuple(str(settings.folder(each.node).device_plugins) for each in alike)
        latency = alike[0].latency.allocate
        order = Order(folders, resource, len(alike[0].devices), allocate_s=latency / SECOND)
        stack.enter_context(_process(order))
    nodes = driver.world.nodes

    def are_listed() -> bool:
        return all(_allocatable(nodes[spec.node], spec.resource) for spec in specs)

    if not await driver.until(are_listed, READY_WITHIN):
        reason = f"the plugins of {len(nodes)} nodes have not registered in time"
        raise ServerError(reason)


def _allocatable(node: Node, resource: ResourceName) -> int:
    kubelet = node.kubelet
    return 0 if kubelet is None else kubelet.manager.capacity().allocatable.get(resource, 0)
