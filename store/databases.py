"""Which kind of database a URL names, and the two ways to look into it."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from typing import Final

import sqlalchemy.exc
from sqlalchemy import Connection
from sqlalchemy.engine import make_url

from simulator.errors import ConfigError, StoreUnavailableError
from simulator.ports import Durability
from store.database import Database
from store.sqlite.database import SqliteDatabase

_EXAMPLE: Final = "write e.g. sqlite:///rebind.db or postgresql+psycopg://db.example.com/rebind"
_SQLITE: Final = {"sqlite", "sqlite+pysqlite"}
_POSTGRESQL: Final = {"postgresql", "postgresql+psycopg"}
_PASSWORD: Final = re.compile(r"((?:://|^)[^:/@?]*:(?!//)).*(?=@)|(?<=password=)[^&]*")
"""A password in a URL, whatever characters are in it that a URL should not have."""


def database_at(text: str) -> Database:
    """Return the database that a URL names; nothing is opened yet.

    Raises:
        ConfigError: It is no URL, or of another kind of database.
        StoreUnavailableError: The driver for this kind is not installed.
    """
    shown = _PASSWORD.sub(lambda match: f"{match[1] or ''}***", text)
    try:
        url = make_url(text)
    except (sqlalchemy.exc.ArgumentError, ValueError) as error:
        reason = f"{shown!r} is not the URL of a database; {_EXAMPLE}"
        raise ConfigError(reason) from error
    if "@" in (url.host or ""):
        reason = f"{shown!r}: write an @ in the password as %40, a / as %2F and a : as %3A"
        raise ConfigError(reason)
    if url.drivername in _POSTGRESQL and "\0" not in text:
        try:
            # Only who uses PostgreSQL needs its driver, which is an extra.
            from store.postgresql.database import PostgresDatabase  # noqa: PLC0415
        except ImportError as error:
            reason = f"{shown}: PostgreSQL needs psycopg: pip install 'rebind[postgres]'"
            raise StoreUnavailableError(reason) from error
        return PostgresDatabase(url.set(drivername="postgresql+psycopg"))
    if url.drivername not in _SQLITE:
        reason = f"{shown!r}: databases are kept in SQLite or PostgreSQL; {_EXAMPLE}"
        raise ConfigError(reason)
    if "?" in text or "\0" in text:
        reason = f"{shown!r}: a SQLite database has no parameters; {_EXAMPLE}"
        raise ConfigError(reason)
    return SqliteDatabase(url)


@contextlib.contextmanager
def translating(url: str) -> Iterator[Database]:
    """Yield the database at `url`; its driver's errors leave as errors of the store."""
    database = database_at(url)
    try:
        yield database
    except database.errors as error:
        raise database.translated(error) from error


@contextlib.contextmanager
def reading(url: str) -> Iterator[Connection]:
    """Yield a connection that only reads.

    Raises:
        StoreError: The database is missing, or cannot be used.
    """
    with (
        translating(url) as database,
        database.opened(durability=Durability.FULL, read_only=True) as (_, writer),
    ):
        yield writer.connection
