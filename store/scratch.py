"""A place of its own in a PostgreSQL database, for a measurement.

Everything is kept in a schema that is made for it and dropped afterwards, so a database with other
things in it may be named. The log is the whole server's: a measurement wants a server for itself.

How often the server has synced its log and how much it has written to it, each of its sessions
tells only once a second, or later when it is idle. From version 15 on a session can be asked to
tell at once, so that of the store is asked; of a store in another process nothing is known.

A server cannot be told to sync more slowly; it can be told to wait before it writes and syncs its
log (`commit_delay`, with `commit_siblings` 0 always), which delays a commit just as much.
"""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, NullPool, create_engine
from sqlalchemy.engine import make_url

from simulator.core.instants import MICROSECOND, Duration, format_duration
from simulator.errors import ConfigError
from store.databases import translating
from store.sql_store import SqlStore

PREFIX: Final = "rebind_bench_"
DELAY_MAX: Final = Duration(100_000 * MICROSECOND)
"""What the server takes as a delay at most."""
_RANDOM_BYTES: Final = 4
_OPTIONS: Final = "options"
_STORED: Final = (
    "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class c "
    "JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = %s AND c.relkind = 'r'"
)
_TELL: Final = "SELECT pg_stat_force_next_flush()"
_NEW_STATISTICS: Final = 18
_OLD_STATISTICS: Final = 15
_BY_KIND_OF_FILE: Final = (
    "SELECT sum(fsyncs), sum(write_bytes) FROM pg_stat_io WHERE object = 'wal'"
)
_OF_THE_LOG: Final = "SELECT wal_sync, wal_bytes FROM pg_stat_wal"
_SYNCED_BY_WRITING: Final = "open_"
"""How the ways to sync the log begin that need no fsync."""


@dataclass(frozen=True, slots=True)
class LogCosts:
    """What a server has done for its log so far, for whomever.

    Attributes:
        syncs: How often it was synced, 0 on a server that syncs nothing; None where that is not
            known, or each write waits for the disk by itself.
        written: Bytes that were given to the operating system, in whole pages; before version 18
            those that were put into the log, which are fewer. None where that is not known.
    """

    syncs: int | None = None
    written: int | None = None


class Scratch:
    """A schema, from `scratch`.

    Attributes:
        url: Of the schema, for a store.
    """

    def __init__(self, url: str, name: str, connection: Connection, looking: Connection) -> None:
        self.url = url
        self._name = name
        self._connection = connection
        self._looking = looking
        version = int(self._say("SHOW server_version_num")) // 10_000
        self._statistics = statistics_of(version)
        self._are_syncs_told = not self._say("SHOW wal_sync_method").startswith(_SYNCED_BY_WRITING)

    def stored(self) -> int:
        """Return how many bytes its tables take up, with their indexes; any thread may ask."""
        return int(self._looking.exec_driver_sql(_STORED, (self._name,)).scalar() or 0)

    def log_costs(self, store: SqlStore) -> LogCosts:
        """Return what the server has done for its log so far, for whomever.

        Args:
            store: The one that writes there; a batch that it writes is waited for.
        """
        if self._statistics is None:
            return LogCosts()
        with store.between_batches() as writer:
            writer.say(_TELL)
        syncs, written = self._connection.exec_driver_sql(self._statistics).one()
        return LogCosts(int(syncs) if self._are_syncs_told else None, int(written))

    def _say(self, sql: str) -> str:
        return str(self._connection.exec_driver_sql(sql).scalar())


def statistics_of(version: int) -> str | None:
    """Return the query for a server's fsyncs of its log and the bytes of it, by major version.

    None where sessions cannot be asked to tell at once.
    """
    if version >= _NEW_STATISTICS:
        return _BY_KIND_OF_FILE
    return _OF_THE_LOG if version >= _OLD_STATISTICS else None


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
        with engine.connect() as connection, engine.connect() as looking:
            if added_fsync and connection.exec_driver_sql("SHOW fsync").scalar() != "on":
                reason = (
                    f"the server of {database.name} does not sync its log, so nothing can be added "
                    "to it; turn its fsync on"
                )
                raise ConfigError(reason)
            connection.exec_driver_sql(f"CREATE SCHEMA {name}")
            try:
                yield Scratch(_within(url, name, added_fsync), name, connection, looking)
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
