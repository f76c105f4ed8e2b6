"""Looking after a database: its schema, its soundness, and trying something on a copy of it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, event

from simulator.errors import StoreUnavailableError, WriterLockedError
from simulator.ports import Durability
from store import migrating, schema, sqlite
from store.sql_store import SqlStore
from store.tables import SCHEMA_REVISION
from store.wal import inspect_log
from store.writer_lock import WriterLock


@dataclass(frozen=True, slots=True)
class Finding:
    """What one examination of a database showed.

    Attributes:
        subject: `schema`, `integrity`, `references` or `log`.
        problems: Empty when it is sound.
        note: What was seen, for people.
    """

    subject: str
    problems: tuple[str, ...]
    note: str = ""


def upgrade(url: str, revision: str = "head") -> str:
    """Bring a database up to a schema revision, making it if need be; return its revision.

    Raises:
        StoreError: It cannot be used, another process writes it, or there is no such revision.
    """
    with _migrated(url) as connection:
        migrating.upgrade(connection, revision)
    return revision_of(url) or ""


def downgrade(url: str, revision: str) -> str:
    """Bring a database down to a schema revision; return its revision, empty for none.

    Raises:
        StoreError: As `upgrade`.
    """
    with _reading(url) as connection:
        schema.revision_of(connection)
    with _migrated(url) as connection:
        migrating.downgrade(connection, revision)
    with _reading(url) as connection:
        return migrating.revision_of(connection) or ""


def revision_of(url: str) -> str | None:
    """Return a database's schema revision, None when it has no table.

    Raises:
        StoreError: It is missing, cannot be read, or is another program's.
    """
    with _reading(url) as connection:
        return schema.revision_of(connection)


def examine(url: str) -> list[Finding]:
    """Look whether a database is sound.

    Raises:
        StoreError: It is missing or cannot even be opened.
    """
    with _reading(url) as connection:
        revision = schema.revision_of(connection)
        if revision == SCHEMA_REVISION:
            problems = tuple(f"{part} is missing" for part in schema.missing_parts(connection))
        else:
            problems = (f"revision {revision or 'none'}",)
        found = [Finding("schema", problems, f"revision {revision}, newest {SCHEMA_REVISION}")]
        damage = tuple(sqlite.damage(connection))
        found.append(Finding("integrity", damage, "pages and indexes"))
        dangling = tuple(
            f"row {row[1]} of {row[0]} names a missing {row[2]}"
            for row in connection.exec_driver_sql("PRAGMA foreign_key_check").all()[:20]
        )
        found.append(Finding("references", dangling, "rows name rows that exist"))
    path = sqlite.file_of(sqlite.parse_url(url))
    if path is not None:
        found.append(_log_finding(path))
    return found


def recover(url: str) -> int:
    """Go on with what a damaged log still holds; return how many commits that are.

    Raises:
        StoreError: The database itself cannot be used.
    """
    path = sqlite.file_of(sqlite.parse_url(url))
    revision_of(url)  # Refuses a database that is not there.
    readable = 0 if path is None else inspect_log(path).readable
    with contextlib.closing(SqlStore(url, accept_loss=True)) as store:
        store.writer.move_log_into_file()
    return readable


def compact(url: str, *, keep: int) -> int:
    """Drop history beyond the newest `keep` changes; return how many changes were dropped.

    Raises:
        StoreError: The database cannot be used, or did not let all of it be dropped.
    """
    with contextlib.closing(SqlStore(url, history_max=keep)) as store:
        effort = store.retention.run()
        if effort.failures:
            reason = (
                f"database {url}: dropped {effort.changes} changes, then a step failed; "
                "try again when nobody else uses it"
            )
            raise StoreUnavailableError(reason)
        return effort.changes


@contextlib.contextmanager
def copy_in_memory(url: str) -> Iterator[SqlStore]:
    """Yield a copy of a database, to try something on; a missing database is an empty one.

    Raises:
        StoreError: The database cannot be read.
    """
    path = sqlite.file_of(sqlite.parse_url(url))
    with contextlib.closing(SqlStore("sqlite://")) as copy:
        if path is not None and path.exists():
            with contextlib.closing(SqlStore(url, read_only=True)) as store:
                store.writer.copy_into(copy.writer)
        yield copy


@contextlib.contextmanager
def _reading(url: str) -> Iterator[Connection]:
    parsed = sqlite.parse_url(url)
    sqlite.refuse_unusable_file(parsed)
    engine = sqlite.connect(parsed, durability=Durability.FULL, read_only=True)
    try:
        with contextlib.closing(engine.connect()) as connection:
            yield connection
    except sqlite.ERRORS as error:
        raise sqlite.translated(error, parsed) from error
    finally:
        engine.dispose()


@contextlib.contextmanager
def _migrated(url: str) -> Iterator[Connection]:
    """Yield a connection for Alembic: each revision is one transaction with its own record."""
    parsed = sqlite.parse_url(url)
    path = sqlite.file_of(parsed)
    if path is None:
        reason = "a database in memory has no schema to look after; name one with --db"
        raise StoreUnavailableError(reason)
    sqlite.refuse_unusable_file(parsed)
    with WriterLock(path):
        engine = sqlite.connect(parsed, durability=Durability.FULL, read_only=False)
        event.listen(engine, "begin", lambda one: one.exec_driver_sql("BEGIN IMMEDIATE"))
        try:
            with engine.connect() as connection:
                schema.revision_of(connection)  # Another program's database is left alone.
                connection.commit()
                yield connection
                connection.commit()
        except sqlite.ERRORS as error:
            raise sqlite.translated(error, parsed) from error
        finally:
            engine.dispose()


def _log_finding(path: Path) -> Finding:
    try:
        with WriterLock(path):
            report = inspect_log(path)
    except WriterLockedError as error:
        return Finding("log", (), f"not looked at: {error}")
    note = f"{report.readable} commits wait in it"
    if not report.damaged_frame:
        return Finding("log", (), note)
    broken = f"frame {report.damaged_frame} is damaged"
    if report.acknowledged_lost:
        lost = f"{broken}, at least {report.acknowledged_lost} acknowledged commits are lost"
        return Finding("log", (lost,), note)
    return Finding("log", (), f"{note}; {broken}: the commit under way at a power cut")
