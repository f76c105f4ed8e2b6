"""Everything that is PostgreSQL's own: connections, durability, its errors and their meaning.

A durability class is a session's `synchronous_commit`: `full` is on, so that a commit waits for the
disk; `normal` is off: a crash of the server or its machine may take the commits of the last
moments, and a session can ask for no less, so `off` is the same. A killed process of ours loses
nothing under any of them.

References between rows are not enforced by the server, as they are not under SQLite: without an
index for each of them, which would cost an admission more than its own rows, dropping old history
would read a whole table for every row. `rebind db check` looks at all of them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Final

import psycopg
from sqlalchemy import Connection, Engine, NullPool, QueuePool, create_engine, event
from sqlalchemy.engine import URL
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.pool import ConnectionPoolEntry

from simulator.errors import StoreError, StoreUnavailableError
from simulator.ports import Durability
from store import tables as t
from store.database import Writer
from store.postgresql import checks as postgresql_checks
from store.postgresql.lock import AdvisoryLock, session_name
from store.postgresql.writer import ERRORS, PostgresWriter

LOCK_TIMEOUT_MS: Final = 5_000
"""How long a statement waits for another session's lock, as under SQLite."""

_CONNECT: Final[Mapping[str, object]] = {
    "client_encoding": "UTF8",
    "connect_timeout": 5,
    # A network that is silently gone must not keep anybody waiting for hours.
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,
}
_SYNCHRONOUS: Final = {Durability.FULL: "on", Durability.NORMAL: "off", Durability.OFF: "off"}
_READER: Final = "rebind reader"
_HIDDEN: Final = "HIDDEN"

_HINTS: Final = {
    "08": "the connection broke; try again",
    "25006": "the database is read-only",
    "28": "access is denied; check user and password, and the server's pg_hba.conf",
    "3D000": "there is no such database; make it with createdb, or name another with --db",
    "3F000": "there is no schema for this user; make one, or name it with "
    "?options=-csearch_path%3DNAME in --db",
    "42501": "this user may not do that; grant it, or name another user in --db",
    "53100": "the disk is full; free some space and try again",
    "53300": "the server has no connection left; try again later",
    "55P03": "another session holds a lock; try again when it is done",
    "57P": "the server is stopping or starting; try again",
    "XX001": "the database is damaged; restore it from a copy",
    "XX002": "the database is damaged; restore it from a copy",
}
# What the client library says of an attempt to connect comes without a state.
_SAID: Final = {
    "does not exist": "3D000",
    "authentication failed": "28",
    "no pg_hba.conf entry": "28",
    "no password supplied": "28",
    "permission denied for database": "42501",
    "too many clients": "53300",
    "remaining connection slots": "53300",
    "starting up": "57P",
    "shutting down": "57P",
}
_NOT_THERE: Final = "no server answers there; start it, or name another with --db"
_SHOWN: Final = ("server_version", "fsync", "full_page_writes")


class PostgresDatabase:
    """A `store.database.Database` in a schema of a PostgreSQL database."""

    def __init__(self, url: URL) -> None:
        hidden = url.update_query_dict({key: _HIDDEN for key in url.query if "password" in key})
        self.url = url
        self.name = hidden.render_as_string(hide_password=True).replace(_HIDDEN, "***")
        self.errors: tuple[type[Exception], ...] = ERRORS
        self.in_memory = False

    @contextlib.contextmanager
    def opened(
        self, *, durability: Durability, read_only: bool, accept_loss: bool = False
    ) -> Iterator[tuple[Engine, PostgresWriter]]:
        """Connect, and take the lock unless the database is to be read only."""
        del accept_loss  # The server never starts with less than it acknowledged.
        session = session_name()
        with contextlib.ExitStack() as undo:
            readers = self._engine(_READER, read_only=True)
            undo.callback(readers.dispose)
            if read_only:
                engine, lock = readers, None
            else:
                engine = self._engine(session, durability=durability)
                undo.callback(engine.dispose)
                lock = AdvisoryLock(self.name, session)
            writer = PostgresWriter(engine, lock, self.name)
            undo.callback(writer.close)
            yield readers, writer

    @contextlib.contextmanager
    def migrating(self) -> Iterator[Connection]:
        """Take the lock with one connection, and give out another one for Alembic."""
        with self.opened(durability=Durability.FULL, read_only=False):
            engine = self._engine(_READER, autocommit=False)
            try:
                with engine.connect() as connection:
                    yield connection
            finally:
                engine.dispose()

    def begin_read(self, connection: Connection) -> None:
        """Begin a transaction in which every statement sees the same instant."""
        connection.exec_driver_sql("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")

    def translated(self, error: Exception) -> StoreError:
        """Say what happened in one line: which database, what is wrong, what to do."""
        cause = getattr(error, "orig", None) or error
        said = " ".join(str(cause).split())
        if isinstance(cause, psycopg.DataError):
            return StoreError(f"a value cannot be stored: {said}")
        state = getattr(cause, "sqlstate", None)
        if state is None:
            state = next((code for text, code in _SAID.items() if text in said), "")
        hint = next((text for code, text in _HINTS.items() if state.startswith(code)), None)
        if hint is None and not state and isinstance(cause, psycopg.OperationalError):
            hint = _NOT_THERE
        return StoreUnavailableError(
            f"database {self.name}: {hint} ({said})" if hint else f"database {self.name}: {said}"
        )

    def damage(self, connection: Connection) -> list[str]:
        """Return what is wrong with tables and indexes, empty for a sound database."""
        return postgresql_checks.damage(connection)

    def dangling(self, connection: Connection) -> list[str]:
        """Return which rows name rows that do not exist."""
        return postgresql_checks.dangling(connection)

    def log(self) -> tuple[list[str], str]:
        """Return what the server says of itself: it looks after its log alone."""
        with (
            self.opened(durability=Durability.FULL, read_only=True) as (engine, _),
            engine.connect() as connection,
        ):
            seen = [
                f"{name} {connection.exec_driver_sql(f'SHOW {name}').scalar()}" for name in _SHOWN
            ]
        return [], f"the server replays it; {', '.join(seen)}"

    def recover(self) -> None:
        """Do nothing: the server replays its log when it starts."""

    def settle(self, writer: Writer) -> None:
        """Do nothing: what is committed is safe."""

    def tidy(self, writer: Writer) -> None:
        """Let the server use the space of dropped rows again, beside whoever reads and writes.

        Plain VACUUM waits for nobody's transaction and keeps nobody from writing; a table that it
        cannot lock now is left for the next time.
        """
        for table in t.metadata.sorted_tables:
            writer.say(f"VACUUM (ANALYZE, SKIP_LOCKED) {table.name}")

    def _engine(
        self,
        session: str,
        *,
        durability: Durability = Durability.FULL,
        read_only: bool = False,
        autocommit: bool = True,
    ) -> Engine:
        """Return an engine with this program's settings; transactions are begun by statements."""
        given = {key: value for key, value in _CONNECT.items() if key not in self.url.query}
        engine = create_engine(
            self.url,
            connect_args={**given, "application_name": session},
            **({"isolation_level": "AUTOCOMMIT"} if autocommit else {}),
            **(
                {"poolclass": QueuePool, "pool_size": 2, "pool_pre_ping": True}
                if read_only
                else {"poolclass": NullPool}
            ),
        )
        settings = (
            f"SET lock_timeout = {LOCK_TIMEOUT_MS}; "
            f"SET synchronous_commit = {_SYNCHRONOUS[durability]}; "
            f"SET default_transaction_read_only = {'on' if read_only else 'off'}"
        )

        @event.listens_for(engine, "connect")
        def prepare(connection: DBAPIConnection, _entry: ConnectionPoolEntry) -> None:
            if not isinstance(connection, psycopg.Connection):
                message = f"not a connection of psycopg: {connection!r}"
                raise TypeError(message)
            encoding = connection.info.parameter_status("server_encoding")
            if encoding != "UTF8":
                reason = (
                    f"database {self.name} has the encoding {encoding}; make one with "
                    "createdb --encoding=UTF8 --template=template0"
                )
                raise StoreUnavailableError(reason)
            connection.execute(settings)
            if not connection.autocommit:
                connection.commit()

        return engine
