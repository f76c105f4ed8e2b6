"""What the store needs of a kind of SQL database: one for SQLite, one for PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Final, Protocol

from sqlalchemy import Connection, Engine
from sqlalchemy.engine import URL

from simulator.errors import StoreError
from simulator.ports import Durability

Row = tuple[Any, ...]
Statement = tuple[str, Iterable[Row]]
"""SQL text, and the rows for which it is executed, once for each; they are gone through once."""

BEGIN_PART: Final = "SAVEPOINT part"
UNDO_PART: Final = "ROLLBACK TO part"
END_PART: Final = "RELEASE part"

Watch = Callable[[str, Sequence[Row] | None], None]


class Writer(Protocol):
    """The one connection that writes a database.

    Attributes:
        errors: What it raises when a statement fails, itself or through SQLAlchemy.
        refused: What it raises of these when a constraint of the tables refuses a row.
        watch: Told every statement and its rows, none for a bare statement; for benchmarks.
    """

    errors: tuple[type[Exception], ...]
    refused: type[Exception]
    watch: Watch | None

    @property
    def connection(self) -> Connection:
        """The same connection, for reading inside a transaction; after `regain` a new one."""
        ...

    def write(self, statements: Sequence[Statement]) -> None:
        """Execute statements in order; when it returns all of them have been executed."""
        ...

    def say(self, sql: str) -> None:
        """Execute a bare statement."""
        ...

    def begin(self) -> None:
        """Begin a transaction."""
        ...

    def begin_part(self) -> None:
        """Begin a part of the transaction, to be undone alone if need be."""
        ...

    def undo_part(self) -> None:
        """Undo what was written since the part began."""
        ...

    def end_part(self) -> None:
        """End the part; it is of the transaction."""
        ...

    def commit(self) -> None:
        """Commit; durable in the connection's durability class when it returns."""
        ...

    def roll_back(self) -> None:
        """Undo the transaction, if there is one; never an error."""
        ...

    @property
    def is_connected(self) -> bool:
        """Whether it can write, as far as is known: it has a connection and the lock."""
        ...

    def is_lost(self, error: Exception) -> bool:
        """Tell whether an error means that the connection is gone, and with it the lock."""
        ...

    def regain(self) -> bool:
        """Connect again and take the lock again.

        Returns:
            Whether the transaction whose commit was asked for and not answered is committed.

        Raises:
            StoreUnavailableError: The database does not come back in time.
            WriterLockedError: Another process writes it now, and that transaction is undone.
        """
        ...


class Database(Protocol):
    """One database of a kind.

    Attributes:
        url: Where it is.
        name: The same for people: without a password.
        errors: What its driver raises, directly or through SQLAlchemy.
        in_memory: Whether all must share the one connection.
    """

    url: URL
    name: str
    errors: tuple[type[Exception], ...]
    in_memory: bool

    def opened(
        self, *, durability: Durability, read_only: bool, accept_loss: bool = False
    ) -> AbstractContextManager[tuple[Engine, Writer]]:
        """Connect: an engine for reading, and the writer, which has the lock unless `read_only`.

        Args:
            durability: What a power cut may take.
            read_only: Refuse every write and every creation.
            accept_loss: Whether to go on after acknowledged commits were lost.

        Raises:
            StoreUnavailableError: The database is missing, damaged, unreadable or unreachable.
            WriterLockedError: Another process writes it.
        """
        ...

    def migrating(self) -> AbstractContextManager[Connection]:
        """Lock and connect for Alembic, with ordinary transactions.

        Raises:
            StoreError: As `opened`.
        """
        ...

    def begin_read(self, connection: Connection) -> None:
        """Begin a transaction in which every statement sees the same instant."""
        ...

    def translated(self, error: Exception) -> StoreError:
        """Say what happened in one line: which database, what is wrong, what to do."""
        ...

    def damage(self, connection: Connection) -> list[str]:
        """Return what is wrong with pages and indexes, empty for a sound database."""
        ...

    def dangling(self, connection: Connection) -> list[str]:
        """Return which rows name rows that do not exist."""
        ...

    def log(self) -> tuple[list[str], str]:
        """Return what is wrong with the write-ahead log, and what was seen of it."""
        ...

    def recover(self) -> int | None:
        """Go on with what a damaged log still holds; return how many commits that are.

        None when the database does that by itself.
        """
        ...

    def settle(self, writer: Writer) -> None:
        """Make a new schema safe."""
        ...

    def tidy(self, writer: Writer) -> None:
        """Give back the space of dropped rows, without keeping others from reading or writing."""
        ...
