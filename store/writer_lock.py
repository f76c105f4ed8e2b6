"""One process writes a database (details 9); a second one is refused with the first one's name.

The name stands in the table `writer_lock`. Whether its owner still lives is told, for SQLite, by a
lock on a file beside the database, which the operating system lets go of when a process ends,
however it ends: after a crash nobody has to clear anything. PostgreSQL has its own
(`store.postgresql.lock`).
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
from pathlib import Path
from typing import Final, Self

from sqlalchemy import delete, insert, select

from simulator.errors import StoreUnavailableError, WriterLockedError
from store import tables as t
from store.database import Writer

_SUFFIX: Final = "-writer"


def own_name() -> str:
    """Return by what name a refused second writer hears of this process."""
    return f"pid {os.getpid()} on {socket.gethostname()}"


def sign(writer: Writer) -> None:
    """Put this process's name into the database."""
    connection = writer.connection
    if connection.scalar(select(t.writer_lock.c.holder)) == own_name():
        return
    writer.begin()
    connection.execute(delete(t.writer_lock))
    connection.execute(insert(t.writer_lock).values(id=1, holder=own_name()))
    writer.commit()


def lock_file(database: Path) -> Path:
    """Return the file beside a database whose lock its writer holds."""
    return database.with_name(database.name + _SUFFIX)


class WriterLock:
    """The lock of one database file, held from construction to the end of its block."""

    def __init__(self, database: Path) -> None:
        """Take the lock.

        Raises:
            WriterLockedError: Another process, or another store of this one, holds it.
            StoreUnavailableError: The lock file cannot be made.
        """
        path = lock_file(database)
        try:
            self._file = path.open("a+", encoding="utf-8")
        except OSError as error:
            reason = f"database {database}: cannot make {path.name}: {error.strerror}"
            raise StoreUnavailableError(reason) from error
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self._file.seek(0)
            holder = self._file.read().strip() or "another process"
            self._file.close()
            reason = f"database {database} is being written by {holder}; stop it and try again"
            raise WriterLockedError(reason) from error
        try:
            self._file.truncate(0)
            self._file.write(own_name())
            self._file.flush()
        except OSError as error:
            with contextlib.suppress(OSError):
                self._file.close()
            reason = f"database {database}: cannot write {path.name}: {error.strerror}"
            raise StoreUnavailableError(reason) from error

    def __enter__(self) -> Self:
        """Return the lock, which is held already."""
        return self

    def __exit__(self, *_: object) -> None:
        """Let another process write."""
        self._file.close()
