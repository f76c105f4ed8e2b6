"""A cluster on the real clock: real files, databases, and an API server where one is wanted."""

from __future__ import annotations

import contextlib
import gc
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from benchmarks.counted_fsync import CountedFsync
from benchmarks.measuring.api_server import ApiServerProcess, api_server, create_existing
from benchmarks.measuring.clocks import RealTime
from benchmarks.measuring.cluster import existing_pods
from benchmarks.measuring.costs import Instruments
from benchmarks.measuring.database_place import opened_database, opened_store
from benchmarks.measuring.following import Risk
from benchmarks.measuring.instruments import ProcessMeter
from benchmarks.measuring.making import READY_WITHIN, WATCHING, Making, Request, begin
from benchmarks.measuring.phases import Target
from benchmarks.measuring.plugin_processes import begin_with_processes, watched
from benchmarks.profiles import combinations
from benchmarks.profiles.combinations import Keeper
from benchmarks.sync_counter import Syncs, counted_syncs
from simulator.core.instants import SECOND, Duration
from simulator.core.persistence.choosing import STRATEGIES
from simulator.core.pods import PodUid
from simulator.engine.ports import Adapters
from simulator.errors import ServerError
from simulator.live.parts import LiveParts
from simulator.live.remote.settings import RemoteSettings
from simulator.live.settings import LiveSettings
from simulator.live.world import LiveWorld
from simulator.ports import Durability
from store.committer import COMMIT_BATCH


@asynccontextmanager
async def real_target(request: Request) -> AsyncIterator[Target]:
    """Make a cluster, ready for its load."""
    combination = request.combination
    async with AsyncExitStack() as stack:
        folder = Path(
            stack.enter_context(tempfile.TemporaryDirectory(prefix="rb", dir=request.folder))
        )
        files = CountedFsync()
        syncs = _Syncs([files.count])
        database = stack.enter_context(opened_database(request, folder))
        store = None
        if Keeper.DATABASE in combination.keepers:
            syncs.counts.append(stack.enter_context(counted_syncs()))
            store = opened_store(request, database.url)
            stack.callback(store.close)
        commit_batch = combination.commit_batch or COMMIT_BATCH
        settings = LiveSettings(root=folder, commit_batch=commit_batch, sync=files)
        instruments = Instruments(syncs.number, client=ProcessMeter(), log=database.written)
        if database.written is not None:
            instruments.fsyncs = lambda: None
        making = Making(request)
        if Keeper.API in combination.keepers:
            server = stack.enter_context(_api_server(request, folder, database.url))
            syncs.counts.append(server.syncs)
            instruments.server = server.meter
            settings = replace(settings, api=RemoteSettings(server.endpoint))
            making = Making(request, await _existing(request, server))
        is_remote = combination.target is combinations.Target.PLUGIN_SOCKET
        specs = making.spec.plugins
        world = LiveWorld(
            replace(making.spec, plugins=()) if is_remote else making.spec,
            settings,
            store,
            WATCHING,
            around=partial(watched, making) if is_remote else partial(_here, making),
        )
        stack.push_async_callback(world.close)
        driver = RealTime(world)
        world.begin(warm=True)
        await _follow(world)
        if is_remote:
            await begin_with_processes(driver, specs, settings, stack)
        else:
            await begin(driver)
        stack.enter_context(_collected())
        syncs.add(combination.added_fsync)
        loses = combination.durability not in {None, Durability.FULL}
        risk = Risk(syncs.number if loses else None)
        yield making.target(driver, risk, instruments)


async def _follow(world: LiveWorld) -> None:
    """Wait until the nodes know what their API server has for them, if they have one.

    Raises:
        ServerError: They do not in time.
    """
    remote = world.parts.remote
    if remote is not None and not await world.until(lambda: remote.is_following, READY_WITHIN):
        reason = "the nodes of the benchmark cannot follow their API server"
        raise ServerError(reason)


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


def _here(making: Making, inner: LiveParts) -> Adapters:
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
