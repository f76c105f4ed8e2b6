"""Everything that is SQLite's own: connections, durability, transactions, damage and its errors.

Rules measured in advance: WAL with checkpoints by the writer itself (a background checkpointer lets
the WAL grow, so that every sync also commits the file system's journal), `BEGIN IMMEDIATE` so that
a wait for another connection's lock is a wait and not an error (R91), statements on one held
connection.

References between rows are not enforced with every statement, which would look up ten parents for
each admission: the one writer makes all keys itself, and `rebind db check` looks at every one.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from urllib.parse import quote

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.pool import ConnectionPoolEntry, QueuePool, StaticPool

from simulator.errors import StoreError, StoreUnavailableError, WriterLockedError
from simulator.ports import Durability
from store.database import Writer
from store.sqlite.wal import inspect_log
from store.sqlite.writer import ERRORS, SqliteWriter
from store.writer_lock import WriterLock

BUSY_TIMEOUT_MS: Final = 5_000
"""How long a transaction waits for another connection's lock."""

CACHE_KIB: Final = 65_536
WAL_AUTOCHECKPOINT_PAGES: Final = 1_000

_SYNCHRONOUS: Final = {Durability.FULL: "FULL", Durability.NORMAL: "NORMAL", Durability.OFF: "OFF"}

_HINTS: Final = {
    sqlite3.SQLITE_FULL: "the disk is full; free some space and try again",
    sqlite3.SQLITE_READONLY: "the database is read-only; make it and its folder writable",
    sqlite3.SQLITE_IOERR: "the disk reports an error; look at the file system",
    sqlite3.SQLITE_CANTOPEN: "the file cannot be opened; check the path and its permissions, and "
    "that its folder can be written, which reading needs too",
    sqlite3.SQLITE_PERM: "permission denied; check the owner of the file",
    sqlite3.SQLITE_BUSY: "another process is writing; try again when it is done",
    sqlite3.SQLITE_LOCKED: "another process is writing; try again when it is done",
    sqlite3.SQLITE_CORRUPT: "the database is damaged; restore it from a copy",
    sqlite3.SQLITE_NOTADB: "this is not a SQLite database, or its header is damaged; "
    "restore it from a copy or name another file",
}
_HEAD: Final = b"SQLite format 3\x00"
_PRIMARY_CODE: Final = 0xFF


class SqliteDatabase:
    """A `store.database.Database` in a file, or in memory."""

    def __init__(self, url: URL) -> None:
        self.url = url
        self.name = str(url)
        self.errors: tuple[type[Exception], ...] = ERRORS
        self.file = None if url.database in {None, "", ":memory:"} else Path(str(url.database))
        self.in_memory = self.file is None

    @contextlib.contextmanager
    def opened(
        self, *, durability: Durability, read_only: bool, accept_loss: bool = False
    ) -> Iterator[tuple[Engine, SqliteWriter]]:
        """Lock the file, unless it is to be read only, and connect."""
        with contextlib.ExitStack() as undo:
            if self.file is not None:
                _refuse_unusable(self.file, read_only=read_only)
                if not read_only:
                    is_new = not self.file.exists()
                    undo.enter_context(WriterLock(self.file))
                    if is_new:
                        undo.callback(_remove_if_nothing_was_written, self.file)
                    _refuse_lost_commits(self.file, accept_loss=accept_loss)
            engine = self._engine(durability, read_only=read_only)
            undo.callback(engine.dispose)
            writer = SqliteWriter(engine)
            undo.callback(writer.close)
            yield engine, writer

    @contextlib.contextmanager
    def migrating(self) -> Iterator[Connection]:
        """Lock the file and connect; each transaction takes the write lock at once."""
        if self.file is None:
            reason = "a database in memory has no schema to look after; name one with --db"
            raise StoreUnavailableError(reason)
        _refuse_unusable(self.file, read_only=False)
        with WriterLock(self.file):
            engine = self._engine(Durability.FULL, read_only=False)
            event.listen(engine, "begin", lambda one: one.exec_driver_sql("BEGIN IMMEDIATE"))
            try:
                with engine.connect() as connection:
                    yield connection
            finally:
                engine.dispose()

    def begin_read(self, connection: Connection) -> None:
        """Begin a transaction in which every statement sees the same instant."""
        connection.exec_driver_sql("BEGIN DEFERRED")

    def translated(self, error: Exception) -> StoreError:
        """Say what happened in one line: which database, what is wrong, what to do."""
        cause = getattr(error, "orig", None) or error
        name = self.url.database or ":memory:"
        code = getattr(cause, "sqlite_errorcode", None)
        hint = _HINTS.get(code & _PRIMARY_CODE) if isinstance(code, int) else None
        said = " ".join(str(cause).split())
        return StoreUnavailableError(
            f"database {name}: {hint} ({said})" if hint else f"{name}: {said}"
        )

    def damage(self, connection: Connection) -> list[str]:
        """Return what SQLite's integrity check finds wrong, empty for a sound database."""
        rows = connection.exec_driver_sql("PRAGMA integrity_check(20)").scalars().all()
        return [str(row) for row in rows if row != "ok"]

    def dangling(self, connection: Connection) -> list[str]:
        """Return which rows name rows that do not exist."""
        rows = connection.exec_driver_sql("PRAGMA foreign_key_check").all()[:20]
        return [f"row {row[1]} of {row[0]} names a missing {row[2]}" for row in rows]

    def log(self) -> tuple[list[str], str]:
        """Return what is wrong with the write-ahead log, and what was seen of it."""
        if self.file is None:
            return [], "none"
        try:
            with WriterLock(self.file):
                report = inspect_log(self.file)
        except WriterLockedError as error:
            return [], f"not looked at: {error}"
        note = f"{report.readable} commits wait in it"
        if not report.damaged_frame:
            return [], note
        broken = f"frame {report.damaged_frame} is damaged"
        if report.acknowledged_lost:
            lost = f"at least {report.acknowledged_lost} acknowledged commits are lost"
            return [f"{broken}, {lost}"], note
        return [], f"{note}; {broken}: the commit under way at a power cut"

    def recover(self) -> int:
        """Go on with what a damaged log still holds; return how many commits that are."""
        readable = 0 if self.file is None else inspect_log(self.file).readable
        with self.opened(durability=Durability.FULL, read_only=False, accept_loss=True) as (
            _,
            writer,
        ):
            writer.move_log_into_file()
        return readable

    def settle(self, writer: Writer) -> None:
        """Move a new schema out of the log, so that a lost log never makes it look empty."""
        if isinstance(writer, SqliteWriter):
            writer.move_log_into_file()

    def tidy(self, writer: Writer) -> None:
        """Do nothing: the space of dropped rows is used again, and the file does not shrink."""

    def _engine(self, durability: Durability, *, read_only: bool) -> Engine:
        """Return an engine with this program's settings and no implicit transactions."""
        target = self.url
        if self.file is None:
            engine = create_engine(
                target, poolclass=StaticPool, connect_args={"check_same_thread": False}
            )
        else:
            if read_only:
                uri = {"mode": "ro", "uri": "true"}
                target = target.set(database=f"file:{quote(str(self.file))}", query=uri)
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


def _remove_if_nothing_was_written(path: Path) -> None:
    """Remove a new file that stayed without bytes, as on a full disk: the next try would refuse it.

    Its name is there as soon as it is opened; what was in a file that lost its bytes is not asked.
    """
    with contextlib.suppress(OSError):
        if path.stat().st_size == 0:
            path.unlink()


def _refuse_unusable(path: Path, *, read_only: bool) -> None:
    """Refuse what is no database, before anything is made beside it.

    A file of no bytes is refused too: SQLite would take it for a new database and start empty.

    Raises:
        StoreUnavailableError: There is something else than a database, nothing readable, or
            nothing to be read.
    """
    if not path.exists():
        if read_only:
            reason = (
                f"database {path} does not exist; start `rebind serve`, import a checkpoint, or "
                "name another with --db"
            )
            raise StoreUnavailableError(reason)
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


def _refuse_lost_commits(path: Path, *, accept_loss: bool) -> None:
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
