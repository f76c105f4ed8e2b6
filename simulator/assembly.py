"""The only composition root: builds adapters and hands them out (details 8)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from simulator.core.transitions import NodeName
from simulator.engine.cluster import Keeping
from simulator.engine.faults import Fault
from simulator.engine.simulation import Simulation
from simulator.engine.spec import SimulationSpec
from simulator.engine.world import Watching
from simulator.ports import Durability, Store
from store import maintenance
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
