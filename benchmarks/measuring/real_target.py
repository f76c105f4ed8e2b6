"""A cluster on the real clock: real files, databases, and an API server where one is wanted."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from benchmarks.counted_fsync import CountedFsync
from benchmarks.measuring.api_server import api_server, create_existing
from benchmarks.measuring.clocks import RealTime
from benchmarks.measuring.cluster import existing_pods, node_name
from benchmarks.measuring.costs import Instruments
from benchmarks.measuring.database_place import opened_database, opened_store
from benchmarks.measuring.following import Risk
from benchmarks.measuring.footprints import FootprintMeter, Reading, file_sizes
from benchmarks.measuring.foreign_cluster import foreign_cluster, fresh_namespace
from benchmarks.measuring.instruments import ProcessMeter
from benchmarks.measuring.making import READY_WITHIN, WATCHING, Making, Request, begin
from benchmarks.measuring.phases import Target
from benchmarks.measuring.plugin_processes import begin_with_processes, watched
from benchmarks.measuring.readers import reading
from benchmarks.profiles import combinations
from benchmarks.profiles.combinations import Keeper
from benchmarks.results.rows import Store
from benchmarks.sync_counter import Syncs, counted_syncs
from simulator.api.client.endpoint import ApiEndpoint
from simulator.collecting import seldom_collected
from simulator.config import CHECKPOINT_FILE_NAME
from simulator.core.instants import SECOND, Duration
from simulator.core.persistence.choosing import STRATEGIES
from simulator.core.pods import PodUid
from simulator.engine.ports import Adapters
from simulator.errors import ServerError
from simulator.live.parts import LiveParts
from simulator.live.remote.settings import SIMULATED, RemoteSettings
from simulator.live.settings import LiveSettings
from simulator.live.world import LiveWorld
from simulator.ports import Durability
from store.committer import COMMIT_BATCH
from store.scratch import LogCosts, Scratch
from store.sql_store import SqlStore


@asynccontextmanager
async def real_target(request: Request) -> AsyncIterator[Target]:
    """Make a cluster, ready for its load."""
    combination = request.combination
    if request.cluster is not None:
        request = replace(request, namespace=fresh_namespace())
    async with AsyncExitStack() as stack:
        place = tempfile.TemporaryDirectory(prefix="rb", dir=request.folder)
        folder = Path(stack.enter_context(place))
        files = CountedFsync()
        syncs = _Syncs([files.count])
        database = stack.enter_context(opened_database(request, folder))
        instruments = Instruments(syncs.number, client=ProcessMeter())
        stored: list[Reading] = []
        store = None
        if Keeper.DATABASE in combination.keepers:
            syncs.counts.append(stack.enter_context(_counted()))
            stored.append(database.stored)
            store = opened_store(request, database.url)
            stack.callback(store.close)
        if database.server is not None:
            instruments.log = _log(database.server, None if combination.has_api_server else store)
        commit_batch = combination.commit_batch or COMMIT_BATCH
        settings = LiveSettings(root=folder, commit_batch=commit_batch, sync=files)
        making = Making(request)
        if combination.has_api_server:
            if store is not None:  # One process writes a database.
                (folder / "api").mkdir()
                database = stack.enter_context(opened_database(request, folder / "api"))
            endpoint = await _served(
                request,
                stack,
                folder=folder,
                database=database.url,
                syncs=syncs,
                instruments=instruments,
            )
            stored.append(_unknown if request.cluster is not None else database.stored)
            taints = () if request.cluster is None else (SIMULATED,)
            remote = RemoteSettings(endpoint, at_once=combination.clients, taints=taints)
            settings = replace(settings, api=remote)
            making = Making(request, await _existing(request, endpoint))
        driver = await _begun(making, settings, store, stack)
        if Keeper.FILE in combination.keepers:
            checkpoints = [
                settings.folder(node).device_plugins / CHECKPOINT_FILE_NAME
                for node in driver.world.nodes
            ]
            stored.append(partial(file_sizes, checkpoints))
        footprint = _footprint(instruments, stored)
        stack.callback(footprint.close)
        instruments.footprint = footprint
        await stack.enter_async_context(
            reading(request.profile.reads, driver.world, request.kubeconfig)
        )
        stack.enter_context(seldom_collected())
        syncs.add(combination.added_fsync)
        yield making.target(driver, _risk(request, syncs), instruments)


def _risk(request: Request, syncs: _Syncs) -> Risk:
    """Return what counts bindings at risk; when somebody else's server syncs nobody sees."""
    combination = request.combination
    loses = combination.durability not in {None, Durability.FULL}
    if not loses or Keeper.FILE in combination.keepers:
        return Risk(None)
    is_foreign = request.cluster is not None and Keeper.API in combination.keepers
    if is_foreign or combination.store is Store.POSTGRESQL:
        return Risk(None, is_counted=False)
    return Risk(syncs.number)


def _log(server: Scratch, store: SqlStore | None) -> Callable[[], LogCosts]:
    """Return what asks for the costs of a server's log; None: another process writes there too."""
    return LogCosts if store is None else partial(server.log_costs, store)


def _footprint(instruments: Instruments, stored: Sequence[Reading]) -> FootprintMeter:
    client, server = instruments.client, instruments.server
    return FootprintMeter(
        _unknown if client is None else client.memory,
        _unknown if server is None else server.memory,
        stored,
    )


def _unknown() -> None:
    """Nobody can read it here."""


@contextmanager
def _counted() -> Iterator[Syncs]:
    """Count the fsyncs of SQLite in this process.

    Raises:
        ServerError: The SQLite of this Python hides what that needs.
    """
    with ExitStack() as stack:
        try:
            count = stack.enter_context(counted_syncs())
        except AttributeError as error:
            reason = f"the SQLite of this Python does not let its fsyncs be counted: {error}"
            raise ServerError(reason) from error
        yield count


async def _begun(
    making: Making, settings: LiveSettings, store: SqlStore | None, stack: AsyncExitStack
) -> RealTime:
    """Make the nodes, and wait until they and their plugins are ready."""
    spec = making.spec
    over_sockets = making.request.combination.target is combinations.Target.PLUGIN_SOCKET
    world = LiveWorld(
        replace(spec, plugins=()) if over_sockets else spec,
        settings,
        store,
        WATCHING,
        around=partial(watched if over_sockets else _here, making),
    )
    stack.push_async_callback(world.close)
    driver = RealTime(world)
    world.begin(warm=True)
    await _follow(world)
    if over_sockets:
        await begin_with_processes(driver, spec.plugins, settings, stack)
    else:
        await begin(driver)
    return driver


async def _follow(world: LiveWorld) -> None:
    """Wait until the nodes know what their API server has for them, if they have one.

    Raises:
        ServerError: They do not in time.
    """
    remote = world.parts.remote
    if remote is not None and not await world.until(lambda: remote.is_following, READY_WITHIN):
        reason = "the nodes of the benchmark cannot follow their API server"
        raise ServerError(reason)


async def _served(  # noqa: PLR0913 - all that a server adds to
    request: Request,
    stack: AsyncExitStack,
    *,
    folder: Path,
    database: str,
    syncs: _Syncs,
    instruments: Instruments,
) -> ApiEndpoint:
    """Return the API server that is measured, and read what can be read of it."""
    combination = request.combination
    if request.cluster is not None:
        names = [node_name(number) for number in range(combination.nodes)]
        await stack.enter_async_context(foreign_cluster(request.cluster, names, request.namespace))
        instruments.fsyncs = lambda: None
        return request.cluster
    server = stack.enter_context(
        api_server(
            folder,
            database,
            durability=combination.durability or Durability.FULL,
            commit_batch=combination.commit_batch or COMMIT_BATCH,
        )
    )
    syncs.counts.append(server.syncs)
    instruments.server = server.meter
    return server.endpoint


async def _existing(request: Request, endpoint: ApiEndpoint) -> Mapping[str, PodUid]:
    """Create the pods that are there at the start, and return their uids by name."""
    kept = STRATEGIES[request.combination.persistence.name]
    pods = list(existing_pods(request.profile, request.combination, request.namespace))
    return await create_existing(endpoint, pods, in_specs=kept.in_specs, in_objects=kept.in_objects)


def _here(making: Making, inner: LiveParts) -> Adapters:
    return making.around(inner, inner.timeline)


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
