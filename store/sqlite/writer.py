"""The connection that writes a SQLite database."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import chain, islice
from typing import Final

import sqlalchemy.exc
from sqlalchemy import Engine

from store.database import BEGIN_PART, END_PART, UNDO_PART, Row, Statement, Watch

ERRORS: Final = (sqlite3.Error, sqlalchemy.exc.DBAPIError)
"""What the driver raises, directly or through SQLAlchemy."""
_AT_ONCE: Final = (32, 8)
"""So many rows of an insert are one statement, the rest is executed row by row.

The driver lets go of the interpreter for each statement and then waits until it has it again, up to
5 ms when another thread is busy, such as the loop of an API server. Measured: an admission in
batches of 512 takes 10.0 us in place of 11.9, the two rows of an object alone 1.9 in place of 2.75,
a create by one of 64 clients, stored unseen, 58 in place of 63.
"""
_INSERT: Final = re.compile(r"(INSERT INTO [^?]+ VALUES )(\([?, ]+\))")


@lru_cache
def _of_many(sql: str, count: int) -> str | None:
    """Return an insert of so many rows in place of one; None for what is no such insert."""
    found = _INSERT.fullmatch(sql)
    return None if found is None else found[1] + ", ".join([found[2]] * count)


class SqliteWriter:
    """The one connection that writes.

    Its statements go straight to the driver's cursor: through SQLAlchemy each of the nine
    statements of a single commit would cost as much again as it does.
    """

    def __init__(self, engine: Engine) -> None:
        """Connect."""
        self.errors: tuple[type[Exception], ...] = ERRORS
        self.refused: type[Exception] = sqlite3.IntegrityError
        self.connection = engine.connect()
        raw = self.connection.connection.driver_connection
        if not isinstance(raw, sqlite3.Connection):
            message = f"not a SQLite connection: {raw!r}"
            raise TypeError(message)
        self._raw = raw
        self._cursor = raw.cursor()
        self.watch: Watch | None = None

    def write(self, statements: Sequence[Statement]) -> None:
        """Execute statements in order, each once for each of its rows."""
        for sql, rows in statements:
            if self.watch is None:
                self._execute(sql, rows)
            else:
                kept = list(rows)
                self.watch(sql, kept)
                self._execute(sql, kept)

    def _execute(self, sql: str, rows: Iterable[Row]) -> None:
        left = iter(rows)
        while some := tuple(islice(left, _AT_ONCE[0])):
            done = 0
            for count in _AT_ONCE:
                while len(some) - done >= count and (many := _of_many(sql, count)) is not None:
                    self._cursor.execute(many, [*chain.from_iterable(some[done : done + count])])
                    done += count
            if done < len(some):
                self._cursor.executemany(sql, some[done:])

    def say(self, sql: str) -> None:
        """Execute a bare statement."""
        if self.watch is not None:
            self.watch(sql, None)
        self._cursor.execute(sql)

    def begin(self) -> None:
        """Begin a transaction that holds the write lock from its first statement on (R91)."""
        self.say("BEGIN IMMEDIATE")

    def begin_part(self) -> None:
        """Begin a part of the transaction, to be undone alone if need be."""
        self.say(BEGIN_PART)

    def undo_part(self) -> None:
        """Undo what was written since the part began."""
        self.say(UNDO_PART)

    def end_part(self) -> None:
        """End the part; it is of the transaction."""
        self.say(END_PART)

    def commit(self) -> None:
        """Commit; durable in the connection's durability class when it returns."""
        self.say("COMMIT")

    def roll_back(self) -> None:
        """Undo the transaction, if there is one that SQLite has not undone itself."""
        if self._raw.in_transaction:
            self._raw.rollback()

    @property
    def is_connected(self) -> bool:
        """A file is always there: what fails, fails."""
        return True

    def is_lost(self, error: Exception) -> bool:
        """Tell that it is not."""
        del error
        return False

    def regain(self) -> bool:
        """Do nothing: there is nothing to regain."""
        return False

    def copy_into(self, other: SqliteWriter) -> None:
        """Make another database the same as this one."""
        self._raw.backup(other._raw)

    def move_log_into_file(self) -> None:
        """Move what the write-ahead log holds into the database file; never on the write path."""
        self.say("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        """Let go of the connection."""
        self._cursor.close()
        self.connection.close()
