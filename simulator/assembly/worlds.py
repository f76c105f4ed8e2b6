"""Nodes for a run: simulated, or live ones that are there for it alone."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from simulator.assembly.stores import opened_store
from simulator.core.instants import Instant
from simulator.core.transitions import NodeName
from simulator.engine.cluster import Keeping
from simulator.engine.faults import Fault
from simulator.engine.node_phase import keeps_database
from simulator.engine.spec import SimulationSpec
from simulator.engine.virtual.simulation import Simulation
from simulator.engine.world import Watching
from simulator.live.run import SPEED, LiveRun
from simulator.live.settings import LiveSettings
from simulator.live.taps import NoTap, Tap
from simulator.live.world import LiveWorld
from simulator.ports import Durability, Store
from simulator.wire.sockets import require_room
from store.memory.store import MemoryStore
from store.sql_store import SqlStore


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
