"""A place of its own in a PostgreSQL database, for a measurement.

Everything is kept in a schema that is made for it and dropped afterwards, so a database with other
things in it may be named. The log is the whole server's: a measurement wants a server for itself.
How often it is synced the server tells only seconds later, so that is not counted.

A server cannot be told to sync more slowly; it can be told to wait before it writes and syncs its
log (`commit_delay`, with `commit_siblings` 0 always), which delays a commit just as much.
"""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Iterator, Mapping
from typing import Final

from sqlalchemy import Connection, NullPool, create_engine
from sqlalchemy.engine import make_url

from simulator.core.instants import MICROSECOND, Duration, format_duration
from simulator.errors import ConfigError
from store.databases import translating

PREFIX: Final = "rebind_bench_"
DELAY_MAX: Final = Duration(100_000 * MICROSECOND)
"""What the server takes as a delay at most."""
_RANDOM_BYTES: Final = 4
_OPTIONS: Final = "options"
_WRITTEN: Final = "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint"


class Scratch:
    """A schema, from `scratch`.

    Attributes:
        url: Of the schema, for a store.
    """

    def __init__(self, url: str, connection: Connection) -> None:
        self.url = url
        self._connection = connection

    def written(self) -> int:
        """Return how many bytes of its log the server has written so far, by whomever."""
        return int(self._connection.exec_driver_sql(_WRITTEN).scalar() or 0)


@contextlib.contextmanager
def scratch(url: str, *, added_fsync: Duration = Duration(0)) -> Iterator[Scratch]:
    """Make a schema, and drop it with all that is in it.

    Args:
        url: Of a database in which this user may make schemas.
        added_fsync: How much longer a commit in it takes to be synced.

    Raises:
        ConfigError: It is no PostgreSQL database, or the delay is too long.
        StoreUnavailableError: It cannot be reached, or this user may not do that.
    """
    if added_fsync > DELAY_MAX:
        reason = (
            f"PostgreSQL waits at most {format_duration(DELAY_MAX)} before it syncs its log, and "
            f"{format_duration(added_fsync)} is asked for"
        )
        raise ConfigError(reason)
    with translating(url) as database:
        if not database.url.drivername.startswith("postgresql"):
            reason = f"{database.name} is no PostgreSQL database"
            raise ConfigError(reason)
        engine = create_engine(database.url, poolclass=NullPool, isolation_level="AUTOCOMMIT")
        name = f"{PREFIX}{secrets.token_hex(_RANDOM_BYTES)}"
        with engine.connect() as connection:
            if added_fsync and connection.exec_driver_sql("SHOW fsync").scalar() != "on":
                reason = (
                    f"the server of {database.name} does not sync its log, so nothing can be added "
                    "to it; turn its fsync on"
                )
                raise ConfigError(reason)
            connection.exec_driver_sql(f"CREATE SCHEMA {name}")
            try:
                yield Scratch(_within(url, name, added_fsync), connection)
            finally:
                connection.exec_driver_sql(f"DROP SCHEMA {name} CASCADE")


def _within(url: str, schema: str, added_fsync: Duration) -> str:
    """Return the URL of a schema, with the settings of its sessions."""
    settings: dict[str, object] = {"search_path": schema}
    if added_fsync:
        settings |= {"commit_delay": added_fsync // MICROSECOND, "commit_siblings": 0}
    made = make_url(url)
    given = made.query.get(_OPTIONS, "")
    options = " ".join([*([given] if isinstance(given, str) and given else []), *_said(settings)])
    return made.update_query_dict({_OPTIONS: options}).render_as_string(hide_password=False)


def _said(settings: Mapping[str, object]) -> Iterator[str]:
    return (f"-c{name}={value}" for name, value in settings.items())
