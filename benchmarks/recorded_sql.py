"""The SQL that the store runs, recorded and run again by bare `sqlite3`.

What the store costs above SQLite itself shows only beside the same statements with the same rows on
a database in the same state.

The store's writer makes one statement of many rows of an insert; here they are executed one by one,
by `executemany`, as a program without it would. So a ratio is of both: what planning costs, and
what the writer saves.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from simulator.core.transitions import Transition
from store.database import Row
from store.sql_store import SqlStore
from store.sqlite.database import BUSY_TIMEOUT_MS, CACHE_KIB, WAL_AUTOCHECKPOINT_PAGES

Statement = tuple[str, Sequence[Row] | None]
"""SQL text, and the rows for which it is executed; None for a bare statement."""

PRAGMAS: Final = (
    "journal_mode = WAL",
    "synchronous = FULL",
    f"busy_timeout = {BUSY_TIMEOUT_MS}",
    f"cache_size = -{CACHE_KIB}",
    f"wal_autocheckpoint = {WAL_AUTOCHECKPOINT_PAGES}",
)


def record(store: SqlStore, batch: Sequence[Transition]) -> list[Statement]:
    """Apply a batch and return what the store ran for it."""
    statements: list[Statement] = []
    store.writer.watch = lambda sql, rows: statements.append((sql, rows))
    store.apply(batch)
    store.writer.watch = None
    return statements


def copy_database(source: Path, target: Path) -> Path:
    """Copy a database that nobody has open."""
    shutil.copy(source, target)
    return target


class BareDatabase:
    """A connection of the standard library's driver, set up as the store sets up its own."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None)
        self._cursor = self._connection.cursor()
        for pragma in PRAGMAS:
            self._cursor.execute(f"PRAGMA {pragma}")

    def run(self, statements: Sequence[Statement]) -> None:
        """Run recorded statements, those with rows by `executemany`."""
        for sql, rows in statements:
            if rows is None:
                self._cursor.execute(sql)
            else:
                self._cursor.executemany(sql, rows)

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()
