"""Databases to work on, to look at, and to try something on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from simulator.ports import Durability, Store
from store import maintenance
from store.sql_store import SqlStore


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
