"""Looking at a SQLite database that another process may be writing, without touching anything.

Even a read-only connection makes the log's index file beside a database and may leave it there. So
what is looked at is a copy, elsewhere; and who writes the database is read off the locks that the
system shows, since asking for the lock would keep a writer from starting.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from simulator.errors import StoreUnavailableError
from store.writer_lock import lock_file

_ATTEMPTS: Final = 5
_LOCKS: Final = Path("/proc/locks")
_LOG: Final = "-wal"


@dataclass(frozen=True, slots=True)
class WriterSeen:
    """Who writes a database.

    Attributes:
        holder: The name that the last writer left; empty when there never was one.
        is_writing: Whether it still does; None when the system does not show it.
    """

    holder: str
    is_writing: bool | None


def writer_of(database: Path) -> WriterSeen:
    """Return who writes a database file."""
    path = lock_file(database)
    try:
        holder = path.read_text(encoding="utf-8", errors="replace").strip()
        inode = path.stat().st_ino
    except OSError:
        return WriterSeen("", is_writing=False)
    try:
        locks = _LOCKS.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return WriterSeen(holder, is_writing=None)
    # `1: FLOCK  ADVISORY  WRITE 4711 fe:01:1234567 0 EOF`
    held = {
        parts[5].rpartition(":")[2]
        for line in locks
        if len(parts := line.split()) > 5 and parts[1] == "FLOCK"  # noqa: PLR2004 - columns
    }
    return WriterSeen(holder, is_writing=str(inode) in held)


@contextlib.contextmanager
def untouched_copy(database: Path) -> Iterator[Path]:
    """Yield a copy of a database file and its log, whole as of one instant.

    Raises:
        StoreUnavailableError: It cannot be read, or changed during every attempt.
    """
    with tempfile.TemporaryDirectory(prefix="rebind-") as folder:
        copy = Path(folder) / database.name
        try:
            for _ in range(_ATTEMPTS):
                before = _stamps(database)
                for source, target in zip(_files(database), _files(copy), strict=True):
                    target.unlink(missing_ok=True)
                    if source.exists():
                        shutil.copyfile(source, target)
                if _stamps(database) == before:
                    break
            else:
                reason = f"database {database}: it changes all the time; look again later"
                raise StoreUnavailableError(reason)
        except OSError as error:
            reason = f"database {database}: {error.strerror or error}; name a database with --db"
            raise StoreUnavailableError(reason) from error
        yield copy


def _files(database: Path) -> tuple[Path, Path]:
    return database, database.with_name(database.name + _LOG)


def _stamps(database: Path) -> list[tuple[int, int] | None]:
    stamps: list[tuple[int, int] | None] = []
    for path in _files(database):
        try:
            status = path.stat()
        except FileNotFoundError:
            stamps.append(None)
        else:
            stamps.append((status.st_size, status.st_mtime_ns))
    return stamps
