"""Everything that is SQLite's own: connections, durability, transactions, damage and its errors.

Rules measured in advance: WAL with checkpoints by the writer itself (a background checkpointer lets
the WAL grow, so that every sync also commits the file system's journal), `BEGIN IMMEDIATE` so that
a wait for another connection's lock is a wait and not an error (R91), statements on one held
connection.

References between rows are not enforced with every statement, which would look up ten parents for
each admission: the one writer makes all keys itself, and `rebind db check` looks at every one.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import sqlalchemy.exc
from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.pool import ConnectionPoolEntry, QueuePool, StaticPool

from simulator.errors import ConfigError, StoreError, StoreUnavailableError
from simulator.ports import Durability
from store.wal import inspect_log

BUSY_TIMEOUT_MS: Final = 5_000
"""How long a transaction waits for another connection's lock."""

CACHE_KIB: Final = 65_536
WAL_AUTOCHECKPOINT_PAGES: Final = 1_000

Row = tuple[Any, ...]
ERRORS: Final = (sqlite3.Error, sqlalchemy.exc.DBAPIError)
"""What the driver raises, directly or through SQLAlchemy."""

REFUSED: Final = sqlite3.IntegrityError
"""A constraint of the tables refuses a row."""

_SYNCHRONOUS: Final = {Durability.FULL: "FULL", Durability.NORMAL: "NORMAL", Durability.OFF: "OFF"}

_HINTS: Final = {
    sqlite3.SQLITE_FULL: "the disk is full; free some space and try again",
    sqlite3.SQLITE_READONLY: "the database is read-only; make it and its folder writable",
    sqlite3.SQLITE_IOERR: "the disk reports an error; look at the file system",
    sqlite3.SQLITE_CANTOPEN: "the file cannot be opened; check the path and its permissions",
    sqlite3.SQLITE_PERM: "permission denied; check the owner of the file",
    sqlite3.SQLITE_BUSY: "another process is writing; try again when it is done",
    sqlite3.SQLITE_LOCKED: "another process is writing; try again when it is done",
    sqlite3.SQLITE_CORRUPT: "the database is damaged; restore it from a copy",
    sqlite3.SQLITE_NOTADB: "this is not a SQLite database, or its header is damaged; "
    "restore it from a copy or name another file",
}
_HEAD: Final = b"SQLite format 3\x00"
_PRIMARY_CODE: Final = 0xFF
_DRIVERS: Final = {"sqlite", "sqlite+pysqlite"}


def parse_url(text: str) -> URL:
    """Return the URL of a database that this program can use.

    Raises:
        ConfigError: It is no URL, or of another database.
    """
    example = "write e.g. sqlite:///rebind.db"
    try:
        url = make_url(text)
    except sqlalchemy.exc.ArgumentError as error:
        reason = f"{text!r} is not the URL of a database; {example}"
        raise ConfigError(reason) from error
    if url.drivername not in _DRIVERS or "?" in text or "\0" in text:
        reason = f"{text!r}: databases are kept in SQLite, without parameters; {example}"
        raise ConfigError(reason)
    return url


def is_memory(url: URL) -> bool:
    """Tell whether the database lives in memory only."""
    return url.database in {None, "", ":memory:"}


def file_of(url: URL) -> Path | None:
    """Return the database's file, None for one in memory."""
    return None if is_memory(url) or url.database is None else Path(url.database)


def refuse_unusable_file(url: URL) -> None:
    """Refuse what is no database, before anything is made beside it.

    A file of no bytes is refused too: SQLite would take it for a new database and start empty.

    Raises:
        StoreUnavailableError: There is something else than a database, or nothing readable.
    """
    path = file_of(url)
    if path is None or not path.exists():
        return
    try:
        with path.open("rb") as stream:
            head = stream.read(len(_HEAD))
    except OSError as error:
        reason = f"database {path}: {error.strerror}; name a database with --db"
        raise StoreUnavailableError(reason) from error
    if not head:
        reason = (
            f"database {path}: the file has no bytes, so what it held is gone; "
            "restore it from a copy, or delete it to begin with an empty database"
        )
        raise StoreUnavailableError(reason)
    if head != _HEAD:
        reason = f"database {path}: {_HINTS[sqlite3.SQLITE_NOTADB]}"
        raise StoreUnavailableError(reason)


def refuse_lost_commits(path: Path, *, accept_loss: bool) -> None:
    """Refuse a database whose log lost commits that had been acknowledged; the log stays (R95).

    Raises:
        StoreUnavailableError: Unless the loss is accepted.
    """
    try:
        report = inspect_log(path)
    except OSError as error:
        reason = f"database {path}: its log cannot be read: {error.strerror}"
        raise StoreUnavailableError(reason) from error
    if report.acknowledged_lost and not accept_loss:
        reason = (
            f"database {path}: the log is damaged at frame {report.damaged_frame}; the "
            f"{report.readable} commits before it are whole, at least {report.acknowledged_lost} "
            f"acknowledged ones after it are lost; restore a copy, or go on without them: "
            f"rebind db recover --db sqlite:///{path}"
        )
        raise StoreUnavailableError(reason)


def connect(url: URL, *, durability: Durability, read_only: bool) -> Engine:
    """Return an engine whose connections have this program's settings and no implicit transactions.

    Args:
        url: A `sqlite` URL.
        durability: What a power cut may take.
        read_only: Refuse every write and every creation of a file.
    """
    target = url
    path = file_of(url)
    if read_only and path is not None and not path.exists():
        reason = f"database {path} does not exist; import a checkpoint, or name another with --db"
        raise StoreUnavailableError(reason)
    if read_only and not is_memory(url):
        target = url.set(
            database=f"file:{quote(str(path))}", query={**url.query, "mode": "ro", "uri": "true"}
        )
    if is_memory(url):
        engine = create_engine(
            target, poolclass=StaticPool, connect_args={"check_same_thread": False}
        )
    else:
        engine = create_engine(target, poolclass=QueuePool, pool_size=2)

    @event.listens_for(engine, "connect")
    def settings(connection: DBAPIConnection, _entry: ConnectionPoolEntry) -> None:
        connection.isolation_level = None
        cursor = connection.cursor()
        cursor.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
        cursor.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
        if not read_only:
            cursor.execute("PRAGMA journal_mode = WAL")
            cursor.execute(f"PRAGMA synchronous = {_SYNCHRONOUS[durability]}")
            cursor.execute(f"PRAGMA wal_autocheckpoint = {WAL_AUTOCHECKPOINT_PAGES}")
        cursor.close()

    return engine


def begin_read(connection: Connection) -> None:
    """Begin a transaction in which every statement sees the same instant."""
    connection.exec_driver_sql("BEGIN DEFERRED")


class Writer:
    """The one connection that writes.

    Its statements go straight to the driver's cursor: through SQLAlchemy each of the nine
    statements of a single commit would cost as much again as it does.
    """

    def __init__(self, engine: Engine) -> None:
        """Connect.

        Attributes:
            connection: The same connection, for reading inside a transaction.
            watch: Told every statement and its rows, none for a bare statement; for benchmarks.
        """
        self.connection = engine.connect()
        raw = self.connection.connection.driver_connection
        if not isinstance(raw, sqlite3.Connection):
            message = f"not a SQLite connection: {raw!r}"
            raise TypeError(message)
        self._raw = raw
        self._cursor = raw.cursor()
        self.watch: Callable[[str, Sequence[Row] | None], None] | None = None

    def run(self, sql: str, rows: Sequence[Row]) -> None:
        """Execute a statement once for each row."""
        if self.watch is not None:
            self.watch(sql, rows)
        self._cursor.executemany(sql, rows)

    def say(self, sql: str) -> None:
        """Execute a bare statement."""
        if self.watch is not None:
            self.watch(sql, None)
        self._cursor.execute(sql)

    def begin(self) -> None:
        """Begin a transaction that holds the write lock from its first statement on (R91)."""
        self.say("BEGIN IMMEDIATE")

    def commit(self) -> None:
        """Commit; durable in the connection's durability class when it returns."""
        self.say("COMMIT")

    def roll_back(self) -> None:
        """Undo the transaction, if there is one that SQLite has not undone itself."""
        if self._raw.in_transaction:
            self._raw.rollback()

    def copy_into(self, other: Writer) -> None:
        """Make another database the same as this one."""
        self._raw.backup(other._raw)

    def move_log_into_file(self) -> None:
        """Move what the write-ahead log holds into the database file; never on the write path."""
        self.say("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        """Let go of the connection."""
        self._cursor.close()
        self.connection.close()


def translated(error: Exception, url: URL) -> StoreError:
    """Say what happened in one line: which database, what is wrong, what to do."""
    cause = getattr(error, "orig", None) or error
    name = url.database or ":memory:"
    code = getattr(cause, "sqlite_errorcode", None)
    hint = _HINTS.get(code & _PRIMARY_CODE) if isinstance(code, int) else None
    said = " ".join(str(cause).split())
    return StoreUnavailableError(f"database {name}: {hint} ({said})" if hint else f"{name}: {said}")


def damage(connection: Connection) -> list[str]:
    """Return what SQLite's integrity check finds wrong, empty for a sound database."""
    rows = connection.exec_driver_sql("PRAGMA integrity_check(20)").scalars().all()
    return [str(row) for row in rows if row != "ok"]
