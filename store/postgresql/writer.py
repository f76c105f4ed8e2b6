"""The connection that writes a PostgreSQL database, and what becomes of it when it is lost.

A transaction costs three round trips: BEGIN, all statements of a part in one pipeline, COMMIT.
Rows of an insert that are many go by COPY.

When the connection breaks, what was not committed is undone by the server. Only a commit that was
asked for and not answered is in doubt (W6): it is looked up after reconnecting, once the lock is
regained or known to be another's, since then the old session is gone for certain. The transaction
is committed if the history, or the changes of objects, have exactly its rows: revisions are given
once, and such a row is never changed.
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Sequence
from typing import Final

import psycopg
import sqlalchemy.exc
from psycopg.pq import TransactionStatus
from sqlalchemy import Connection, Engine

from simulator.errors import StoreUnavailableError, WriterLockedError
from store.database import BEGIN_PART, END_PART, UNDO_PART, Row, Statement, Watch
from store.postgresql.lock import AdvisoryLock

ERRORS: Final = (psycopg.Error, sqlalchemy.exc.DBAPIError)
"""What the driver raises, directly or through SQLAlchemy."""

COPIED_MIN: Final = 8
"""From so many rows on an insert goes by COPY.

Measured once, on a shared machine: the import of a checkpoint of 5,000 pods with one device each
took 0.3 s, by pipelined inserts 1.0 s; admissions in batches of 512 took 80 us each against 280.
"""

REGAIN_S: Final = 30.0
"""For how long a lost connection is tried again before those who wait are refused."""

NOTICED_S: Final = 0.5
"""For how long the lock of another writer is tried again: one that was killed on another machine
has it until the server sees that its connection ended."""

_PAUSE_MIN_S: Final = 0.05
_PAUSE_MAX_S: Final = 1.0
_INSERT: Final = "INSERT INTO "
_INSERTS_OF_CHANGES: Final = ("INSERT INTO change ", "INSERT INTO api_change ")
_LOST_STATES: Final = ("08", "57P01", "57P02", "57P03")
"""SQL states of a connection that ends: exceptions of the connection, shutdown, crash, start."""

_IS_COMMITTED: Final = """
    SELECT count(*) FROM change
    WHERE (revision, at, node_id, kind, detail) = (%s, %s, %s, %s, %s)
      AND pod_id IS NOT DISTINCT FROM %s
"""
_IS_OBJECT_COMMITTED: Final = """
    SELECT count(*) FROM api_change
    WHERE (revision, at, collection_id, namespace, name, kind) = (%s, %s, %s, %s, %s, %s)
      AND body IS NOT DISTINCT FROM %s
"""
_COLUMNS_OF_CHANGE: Final = 6

# What goes wrong with a connection is raised; nobody needs a second line about it on stderr.
for _library in ("psycopg", "sqlalchemy.pool"):
    logging.getLogger(_library).addHandler(logging.NullHandler())


class PostgresWriter:
    """A `store.database.Writer` of one PostgreSQL database."""

    def __init__(self, engine: Engine, lock: AdvisoryLock | None, name: str) -> None:
        """Connect, and take the lock if there is one.

        Raises:
            WriterLockedError: Another writer has it.
        """
        self.errors: tuple[type[Exception], ...] = ERRORS
        self.refused: type[Exception] = psycopg.IntegrityError
        self.watch: Watch | None = None
        self._engine = engine
        self._lock = lock
        self._name = name
        self._changes: list[Row] = []
        self._changes_before = 0
        self._committing = False
        self._is_patient = True
        self._locked = False
        self._connect()
        self._until_locked(REGAIN_S)

    @property
    def connection(self) -> Connection:
        """The same connection, for reading inside a transaction."""
        return self._connection

    def write(self, statements: Sequence[Statement]) -> None:
        """Execute statements in order, each once for each of its rows."""
        waiting: list[Statement] = []
        for sql, rows in ((sql, list(rows)) for sql, rows in statements):
            if self.watch is not None:
                self.watch(sql, rows)
            if sql.startswith(_INSERTS_OF_CHANGES):
                self._changes += rows
            if len(rows) >= COPIED_MIN and sql.startswith(_INSERT):
                self._pipe(waiting)
                waiting = []
                self._copy(sql, rows)
            else:
                waiting.append((sql, rows))
        self._pipe(waiting)

    def say(self, sql: str) -> None:
        """Execute a bare statement."""
        if self.watch is not None:
            self.watch(sql, None)
        self._cursor.execute(sql)

    def begin(self) -> None:
        """Begin a transaction."""
        self._changes = []
        self._committing = False
        self._raw.prepare_threshold = self._prepared_after
        self.say("BEGIN")

    def begin_part(self) -> None:
        """Begin a part of the transaction, to be undone alone if need be.

        Nothing is prepared in it: the driver would take a statement for prepared that came after an
        error in a pipeline, where the server does nothing any more.
        """
        self._changes_before = len(self._changes)
        self._raw.prepare_threshold = None
        self.say(BEGIN_PART)

    def undo_part(self) -> None:
        """Undo what was written since the part began."""
        del self._changes[self._changes_before :]
        self.say(UNDO_PART)

    def end_part(self) -> None:
        """End the part; it is of the transaction."""
        self.say(END_PART)

    def commit(self) -> None:
        """Commit; durable in the connection's durability class when it returns."""
        self._committing = True
        self.say("COMMIT")
        self._committing = False
        if self._cursor.statusmessage != "COMMIT":
            message = "the transaction had failed before its commit"
            raise psycopg.InternalError(message)

    def roll_back(self) -> None:
        """Undo the transaction, if there is one; of a lost connection the server does it."""
        with contextlib.suppress(psycopg.Error):
            if self._raw.info.transaction_status != TransactionStatus.IDLE:
                self._raw.rollback()

    @property
    def is_connected(self) -> bool:
        """Whether it can write, as far as is known: it has a connection and the lock."""
        return self._locked and not self._raw.closed

    def is_lost(self, error: Exception) -> bool:
        """Tell whether an error means that the connection is gone, and with it the lock."""
        cause = getattr(error, "orig", None) or error
        state = getattr(cause, "sqlstate", None) or ""
        if state.startswith(_LOST_STATES):
            self._raw.close()
        return self._raw.closed

    def regain(self) -> bool:
        """Connect again, again and again for a while, and take the lock.

        Whoever waited once in vain is refused at once from then on, until it is back.
        """
        doubtful = self._changes if self._committing else []
        patience_s = REGAIN_S if self._is_patient else 0.0
        self._is_patient = False
        self._raw.close()
        try:
            self._until_locked(patience_s)
            self._is_patient = True
            return self._has(doubtful)
        except WriterLockedError:
            self._is_patient = True
            if self._has(doubtful):
                return True
            raise
        except ERRORS as error:
            unknown = "; whether its last changes were committed is not known" if doubtful else ""
            said = " ".join(str(error).split())
            reason = f"database {self._name}: the connection is lost{unknown} ({said})"
            raise StoreUnavailableError(reason) from error

    def close(self) -> None:
        """Let go of the lock and the connection; the next writer need not wait for the server."""
        with contextlib.suppress(*ERRORS):
            if not self._raw.closed and self._locked and self._lock is not None:
                self._raw.execute("SELECT pg_advisory_unlock_all()")
        if not self._connection.closed:
            self._connection.invalidate()
            self._connection.close()

    def _connect(self) -> None:
        self._locked = False
        self._connection = self._engine.connect()
        raw = self._connection.connection.driver_connection
        if not isinstance(raw, psycopg.Connection):
            message = f"not a connection of psycopg: {raw!r}"
            raise TypeError(message)
        self._raw: psycopg.Connection = raw
        self._prepared_after = raw.prepare_threshold
        self._cursor = raw.cursor()

    def _until_locked(self, patience_s: float) -> None:
        """Connect and take the lock, again and again until that is done or time is up."""
        began = time.monotonic()
        until = began + patience_s
        pause_s = _PAUSE_MIN_S
        while True:
            last = time.monotonic() + pause_s > until
            try:
                if self._raw.closed:
                    self.close()
                    self._connect()
                self._locked = self._lock is None or self._lock.take(self._raw, patient=not last)
                if self._locked:
                    return
            except WriterLockedError:
                if time.monotonic() > min(until, began + NOTICED_S):
                    raise
            except ERRORS:
                if last:
                    raise
            if last:
                message = "the lock of its writer cannot be taken"
                raise psycopg.OperationalError(message)
            time.sleep(pause_s)
            pause_s = min(2 * pause_s, _PAUSE_MAX_S)

    def _has(self, changes: Sequence[Row]) -> bool:
        """Tell whether the database has these rows; none of them or all, as a commit is whole."""
        if not changes:
            return False
        last = changes[-1]
        if len(last) == _COLUMNS_OF_CHANGE:
            revision, at, node_id, kind, pod_id, detail = last
            values: Row = (revision, at, node_id, kind, detail, pod_id)
            found = self._raw.execute(_IS_COMMITTED, values).fetchone()
        else:
            values = (*last[:_COLUMNS_OF_CHANGE], last[-1])
            found = self._raw.execute(_IS_OBJECT_COMMITTED, values).fetchone()
        return bool(found and found[0])

    def _pipe(self, statements: Sequence[Statement]) -> None:
        """Execute statements in one round trip."""
        execute = self._cursor.execute
        if not statements:
            return
        with self._raw.pipeline():
            for sql, rows in statements:
                for row in rows:
                    execute(sql, row)

    def _copy(self, sql: str, rows: Sequence[Row]) -> None:
        into = sql.removeprefix(_INSERT).partition(" VALUES ")[0]
        with self._cursor.copy(f"COPY {into} FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)
