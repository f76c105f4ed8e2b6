"""What a target takes up while it runs: the memory of its processes, and room on disk.

It is read in a thread of its own, so that a disk or a database server that answers late holds
nothing up that is measured.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

Reading: TypeAlias = Callable[[], int | None]
"""Returns a number of bytes; None where it cannot be known."""

_LOG: Final = "-wal"


@dataclass(frozen=True, slots=True)
class Footprint:
    """What is taken up at a moment, in bytes; see `benchmarks.results.slices.Slice`."""

    memory: int | None = None
    server_memory: int | None = None
    stored: int | None = None


class FootprintMeter:
    """Reads it.

    Args:
        memory: Of the process with the nodes.
        server_memory: Of the API server's.
        stored: Of each place where something is kept.
    """

    def __init__(self, memory: Reading, server_memory: Reading, stored: Sequence[Reading]) -> None:
        self._memory = memory
        self._server_memory = server_memory
        self._stored = tuple(stored)
        self._thread = ThreadPoolExecutor(1, "footprint")

    def begin(self) -> Future[Footprint]:
        """Begin to read."""
        return self._thread.submit(self._read)

    def close(self) -> None:
        """End, when what has begun is read."""
        self._thread.shutdown()

    def _read(self) -> Footprint:
        found = [place() for place in self._stored]
        known = [size for size in found if size is not None]
        stored = sum(known) if known and len(known) == len(found) else None
        return Footprint(self._memory(), self._server_memory(), stored)


def file_sizes(paths: Sequence[Path]) -> int:
    """Return the size of files; those that are not there have none."""
    size = 0
    for path in paths:
        with suppress(OSError):
            size += path.stat().st_size
    return size


def database_size(path: Path) -> int:
    """Return the size of a SQLite database with its log."""
    return file_sizes([path, path.with_name(path.name + _LOG)])
