"""The only composition root: builds adapters and hands them out (details 8)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import (
    AsyncExitStack,
    ExitStack,
    asynccontextmanager,
    closing,
    contextmanager,
    nullcontext,
)
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from simulator.api.client.endpoint import endpoint_at
from simulator.core.instants import Instant
from simulator.core.transitions import NodeName
from simulator.engine.cluster import Keeping
from simulator.engine.faults import Fault
from simulator.engine.node_phase import keeps_database
from simulator.engine.spec import SimulationSpec
from simulator.engine.virtual.simulation import Simulation
from simulator.engine.world import Watching
from simulator.errors import ServerError
from simulator.live.remote.settings import RemoteSettings
from simulator.live.run import SPEED, LiveRun
from simulator.live.settings import LiveSettings
from simulator.live.taps import NoTap, Tap
from simulator.live.world import LiveWorld
from simulator.ports import Durability, Store, StoreReader
from simulator.protocol.control_services import INFO
from simulator.protocol.rebind_control_pb2 import InfoRequest
from simulator.server.reading import RemoteReader
from simulator.server.serving import Server, Serving, claim_root, seed_of
from simulator.wire.control_client import ControlClient, connected
from simulator.wire.control_socket import is_served
from simulator.wire.sockets import require_room
from simulator.wire.status_pages import parse_http_address
from store import maintenance
from store.committer import COMMIT_BATCH, Committer
from store.memory.store import MemoryStore
from store.sql_store import SqlStore

API_RETENTION: Final = 65_536
"""Changes of each kind that watches of an API server may go back."""


@contextmanager
def simulated(
    spec: SimulationSpec,
    *,
    faults: Sequence[Fault] = (),
    watching: Watching = Watching(),
    keeping: Keeping = Keeping(),
) -> Iterator[Simulation]:
    """Build a simulated cluster; its databases are real ones in SQLite, each in memory.

    What a database costs and what a power cut takes of it comes from the engine's model; SQLite
    itself decides what is stored and who may hold a device.

    Args:
        spec: What it starts from.
        faults: What goes wrong at which effect.
        watching: What is kept beside the records.
        keeping: How state is kept, where that is not simply as the spec says; an ideal store is
            nothing but memory.
    """
    simulation = Simulation(
        spec,
        store_factory=_memory if keeping.ideal else _database_in_memory,
        faults=faults,
        watching=watching,
        keeping=keeping,
    )
    try:
        yield simulation
    finally:
        simulation.close()


@asynccontextmanager
async def live_nodes(
    spec: SimulationSpec,
    settings: LiveSettings,
    taps: Mapping[NodeName, Tap],
    faults: Sequence[Fault] = (),
) -> AsyncIterator[LiveWorld]:
    """Build live nodes to try something on; their database is in their folder, and not synced.

    Args:
        spec: What they start from.
        settings: Where their files are, and how their sockets behave.
        taps: Who listens on a node's wire.
        faults: What goes wrong at which effect.
    """
    store: Store | None = None
    if keeps_database(spec):
        settings.root.mkdir(parents=True, exist_ok=True)
        store = SqlStore(f"sqlite:///{settings.root}/rebind.db", durability=Durability.OFF)
    try:
        world = LiveWorld(spec, settings, store, faults=faults)
        world.parts.taps = lambda node: taps.get(node, NoTap())
        try:
            yield world
        finally:
            await world.close()
    finally:
        if store is not None:
            store.close()


@contextmanager
def played_live(spec: SimulationSpec) -> Iterator[LiveRun]:
    """Build live nodes for one run of a scenario: real sockets, plugins, files and a database.

    All of it is in a folder of its own that is removed at the end.

    Args:
        spec: What it starts from.

    Raises:
        ServerError: The nodes cannot be started.
    """
    with TemporaryDirectory(prefix="rb") as folder, ExitStack() as stack:
        root = Path(folder)
        settings = LiveSettings(root=root, start=Instant(0), speed=SPEED, skips=True)
        for node in spec.nodes:
            require_room(settings.folder(node.name).registration_socket)
        store = None
        if keeps_database(spec):
            url = f"sqlite:///{root / 'rebind.db'}"
            store = stack.enter_context(opened_store(url, durability=spec.durability))
        run = LiveRun(lambda: LiveWorld(spec, settings, store, Watching()))
        stack.callback(run.close)
        yield run


def _memory(node: NodeName) -> Store:
    del node
    return MemoryStore()


def _database_in_memory(node: NodeName) -> Store:
    del node
    return SqlStore("sqlite://", durability=Durability.OFF)


@contextmanager
def opened_store(
    url: str, *, durability: Durability = Durability.FULL, read_only: bool = False
) -> Iterator[Store]:
    """Open the database at `url`, for one writer or to be read, and close it at the end.

    Raises:
        ConfigError: `url` names no database that can be used.
        StoreError: The database cannot be used, is another version's, or has another writer.
    """
    store = SqlStore(url, durability=durability, read_only=read_only)
    try:
        yield store
    finally:
        store.close()


def outlives_its_process(url: str) -> bool:
    """Tell whether what is written to the database at `url` is there afterwards.

    Raises:
        ConfigError: `url` names no database that can be used.
    """
    return not maintenance.is_in_memory(url)


@contextmanager
def store_to_try(url: str) -> Iterator[Store]:
    """Open a copy of the database at `url`, in memory: what is done to it changes nothing.

    Raises:
        ConfigError: `url` names no database that can be used.
        StoreError: The database cannot be read.
    """
    with maintenance.copy_in_memory(url) as store:
        yield store


@contextmanager
def server_at(socket: Path) -> Iterator[ControlClient | None]:
    """Connect to the server on a socket; None when nobody listens there."""
    if not is_served(socket):
        yield None
        return
    with connected(socket) as client:
        yield client


def server_reader(client: ControlClient) -> tuple[StoreReader, str]:
    """Return what a server's store can be asked, and where its answers come from."""
    return RemoteReader(client), client.call(INFO, InfoRequest()).source


@asynccontextmanager
async def served(  # noqa: PLR0913 - what is served, and where
    run: SimulationSpec,
    settings: LiveSettings,
    *,
    db: str,
    http: str | None = None,
    record: Path | None = None,
    api_http: str | None = None,
) -> AsyncIterator[Server]:
    """Run a server: its nodes, their sockets, and its control interface.

    Args:
        run: The choices of all nodes.
        settings: Where their files are, and how their sockets behave.
        db: The database, if the persistence keeps its state there.
        http: Where `/metrics` and `/healthz` are; None for nowhere.
        record: The file of the recording, if there is to be one.
        api_http: Where an API server in this process listens, whose clients the nodes are; it has
            its objects in the database. None for no such server.

    Raises:
        RebindError: It cannot be started.
        OSError: As above.
    """
    address = None if http is None else parse_http_address(http)
    async with AsyncExitStack() as stack:
        stack.callback(claim_root(run, settings).give_up)
        run = replace(run, seed=seed_of(settings.root, run.seed))
        serving = Serving(run=run, settings=settings, http=address, record=record)
        if keeps_database(run) or api_http is not None:
            store = stack.enter_context(opened_store(db, durability=run.durability))
            serving = replace(serving, store=store, db=db)
            if keeps_database(run) and outlives_its_process(db):
                serving = replace(serving, reader=partial(opened_store, db, read_only=True))
            if api_http is not None:
                serving = await _with_api(serving, store, api_http, stack)
        server = Server(serving)
        with extra_api() if serving.settings.api is not None else nullcontext():
            await server.start()
        try:
            yield server
        finally:
            await server.stop()


async def _with_api(serving: Serving, store: Store, http: str, stack: AsyncExitStack) -> Serving:
    """Run an API server over the database of the nodes, by the same committer (details 9)."""
    with extra_api():
        # As in `api_loop`.
        from simulator.api.serving import setup as api  # noqa: PLC0415
    setup = api.set_up(http, None, retention=API_RETENTION)
    settings = serving.settings
    committer = stack.enter_context(closing(_committer(store, settings.commit_batch)))
    url = await stack.enter_async_context(api.running(setup, store.objects, committer, None))
    remote = RemoteSettings(endpoint_at(url), schedules=True)
    return replace(serving, settings=replace(settings, api=remote), committer=committer)


@dataclass(frozen=True, slots=True)
class ApiServing:
    """How an API server is to be.

    Attributes:
        http: `ADDRESS:PORT` where it listens; port 0 is a free one.
        db: The database.
        token_file: Who has which token; None for loopback, where everybody may do everything.
        retention: Changes of each kind that watches may go back.
        unique_devices: Whether no two pods of a node may be bound to one device.
    """

    http: str
    db: str
    durability: Durability = Durability.FULL
    commit_batch: int = COMMIT_BATCH
    token_file: Path | None = None
    retention: int = API_RETENTION
    unique_devices: bool = False

    @property
    def shown_db(self) -> str:
        """The database for people: without a password."""
        return maintenance.shown_name(self.db)


def api_loop() -> Callable[[], asyncio.AbstractEventLoop]:
    """Return what makes the loop on which an API server is fastest.

    Raises:
        ServerError: The extra `api` is not installed.
    """
    with extra_api():
        # Only who serves an API needs what the extra installs.
        from simulator.api.serving import setup as api  # noqa: PLC0415
    return api.new_loop


@asynccontextmanager
async def served_api(serving: ApiServing, *, kubeconfig: Path | None = None) -> AsyncIterator[str]:
    """Run an API server on this loop, over a database that nobody else writes.

    Args:
        serving: How it is to be.
        kubeconfig: Where a kubeconfig for its clients is written, if anywhere.

    Returns:
        Its URL.

    Raises:
        RebindError: It cannot be started.
        OSError: As above.
    """
    with extra_api():
        # As in `api_loop`.
        from simulator.api.serving import setup as api  # noqa: PLC0415
    setup = api.set_up(
        serving.http,
        serving.token_file,
        retention=serving.retention,
        unique_devices=serving.unique_devices,
    )
    with (
        opened_store(serving.db, durability=serving.durability) as store,
        closing(_committer(store, serving.commit_batch)) as committer,
    ):
        async with api.running(setup, store.objects, committer, kubeconfig) as url:
            yield url


def _committer(store: Store, commit_batch: int) -> Committer:
    """Return a committer that gives its answers on this loop.

    There is one wake-up of the loop for all whose writes were committed together.
    """
    loop = asyncio.get_running_loop()
    return Committer(
        store,
        commit_batch=commit_batch,
        deliver=lambda answers: _deliver_to(loop, answers),
    )


def _deliver_to(loop: asyncio.AbstractEventLoop, answers: Sequence[Callable[[], None]]) -> None:
    loop.call_soon_threadsafe(_give_all, answers)


def _give_all(answers: Sequence[Callable[[], None]]) -> None:
    for answer in answers:
        answer()


@contextmanager
def extra_api() -> Iterator[None]:
    """Say what is missing if what is imported here is not installed.

    Raises:
        ServerError: The extra `api` is not installed.
    """
    try:
        yield
    except ImportError as error:
        reason = (
            f"the API server needs {error.name}, which is not installed: pip install 'rebind[api]'"
        )
        raise ServerError(reason) from error
