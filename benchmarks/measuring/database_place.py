"""Where the database of a combination is: a file of its own, or a schema of its own on a server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks.measuring.footprints import Reading, database_size
from benchmarks.measuring.making import Request
from benchmarks.results.rows import Store
from simulator.errors import ConfigError
from simulator.ports import Durability
from store.retention import CHANGES_MAX
from store.scratch import Scratch, scratch
from store.sql_store import SqlStore


@dataclass(frozen=True, slots=True)
class DatabasePlace:
    """Where a database is.

    Attributes:
        stored: Returns how many bytes it takes up on disk.
        server: Its place on a server; None where it is a file.
    """

    url: str
    stored: Reading
    server: Scratch | None = None


@contextmanager
def opened_database(request: Request, folder: Path) -> Iterator[DatabasePlace]:
    """Make room for the database of a combination, be it the nodes' own or the API server's.

    Raises:
        ConfigError: There is no server, or it cannot be as slow as is asked for.
    """
    combination = request.combination
    if combination.store is not Store.POSTGRESQL:
        file = folder / "rebind.db"
        yield DatabasePlace(f"sqlite:///{file}", partial(database_size, file))
        return
    if request.postgresql is None:
        reason = "there is no PostgreSQL database to measure on; name one with --db-url"
        raise ConfigError(reason)
    with scratch(request.postgresql, added_fsync=combination.added_fsync) as made:
        yield DatabasePlace(made.url, made.stored, made)


def check_server(url: str) -> None:
    """See that a server can be measured, before anything else is.

    Raises:
        ConfigError, StoreError: It cannot be reached, or is no PostgreSQL server.
    """
    with scratch(url):
        pass


def opened_store(request: Request, url: str) -> SqlStore:
    """Open the database of a combination."""
    combination, retention = request.combination, request.profile.retention
    return SqlStore(
        url,
        durability=combination.durability or Durability.FULL,
        history_max=CHANGES_MAX if retention is None else retention,
    )
