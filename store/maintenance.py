"""Looking after a database: its soundness, its history, and trying something on a copy of it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass

from simulator.errors import StoreUnavailableError
from store import schema
from store.copying import copy_database
from store.databases import database_at, reading, translating
from store.object_decisions import REVISIONS_MAX
from store.object_retention import ObjectRetention
from store.sql_store import SqlStore
from store.sqlite.database import SqliteDatabase
from store.tables import SCHEMA_REVISION


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


def revision_of(url: str) -> str | None:
    """Return a database's schema revision, None when it has no table.

    Raises:
        StoreError: It is missing, cannot be read, or is another program's.
    """
    with reading(url) as connection:
        return schema.revision_of(connection)


def examine(url: str) -> list[Finding]:
    """Look whether a database is sound.

    Raises:
        StoreError: It is missing or cannot even be opened.
    """
    database = database_at(url)
    with reading(url) as connection:
        revision = schema.revision_of(connection)
        if revision == SCHEMA_REVISION:
            problems = tuple(f"{part} is missing" for part in schema.missing_parts(connection))
        else:
            problems = (_other_revision(revision),)
        found = [Finding("schema", problems, f"revision {revision}, newest {SCHEMA_REVISION}")]
        damage = tuple(database.damage(connection))
        found.append(Finding("integrity", damage, "pages and indexes"))
        dangling = tuple(database.dangling(connection))
        found.append(Finding("references", dangling, "rows name rows that exist"))
    if not database.in_memory:
        wrong, seen = database.log()
        found.append(Finding("log", tuple(wrong), seen))
    return found


def _other_revision(revision: str | None) -> str:
    if revision is not None and revision > SCHEMA_REVISION:
        return f"revision {revision}, newer than this program's {SCHEMA_REVISION}"
    return f"revision {revision or 'none'}, this program needs {SCHEMA_REVISION}"


def recover(url: str) -> int | None:
    """Go on with what a damaged log still holds; return how many commits that are.

    None where the database does that by itself.

    Raises:
        StoreError: The database itself cannot be used.
    """
    revision_of(url)  # Refuses a database that is not there.
    with translating(url) as database:
        return database.recover()


def compact(url: str, *, keep: int) -> int:
    """Drop what is beyond the newest `keep` changes; return how many changes were dropped.

    Of objects, no more than what a writer keeps is kept.

    Raises:
        StoreError: The database cannot be used, or did not let all of it be dropped.
    """
    with contextlib.closing(SqlStore(url, history_max=keep)) as store:
        objects = ObjectRetention(store.writer, revisions_max=min(keep, REVISIONS_MAX))
        efforts = (store.retention.run(), objects.run())
        dropped = sum(effort.changes for effort in efforts)
        if any(effort.failures for effort in efforts):
            reason = (
                f"database {store.database.name}: dropped {dropped} changes, "
                "then a step failed; try again when nobody else uses it"
            )
            raise StoreUnavailableError(reason)
        with translating(url):
            store.database.tidy(store.writer)
        return dropped


def shown_name(url: str) -> str:
    """Return the name of the database at `url` for people: without a password.

    Raises:
        ConfigError: `url` names no database that can be used.
    """
    return database_at(url).name


def is_in_memory(url: str) -> bool:
    """Tell whether a database lives in the memory of whoever opens it.

    Raises:
        ConfigError: It is no URL of a database.
    """
    database = database_at(url)
    return isinstance(database, SqliteDatabase) and database.file is None


@contextlib.contextmanager
def copy_in_memory(url: str) -> Iterator[SqlStore]:
    """Yield a copy of a database, to try something on; without tables, or a file, it is empty.

    What only the history has is not copied.

    Raises:
        StoreError: The database cannot be read.
    """
    database = database_at(url)
    with contextlib.closing(SqlStore("sqlite://")) as copy:
        is_there = not isinstance(database, SqliteDatabase) or (
            database.file is not None and database.file.exists()
        )
        if is_there and revision_of(url) is not None:
            with contextlib.closing(SqlStore(url, read_only=True)) as store:
                copy_database(store, copy)
        yield copy
