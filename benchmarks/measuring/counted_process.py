"""Runs Rebind with its fsyncs counted: `python -m benchmarks.measuring.counted_process FILE ARGS…`.

The program is the product's own, in a process of its own; only SQLite's way to its files is
watched. The counts stand in FILE, which whoever has started the process maps into memory too: so
they can be read while it runs, and each fsync can be made slower from a moment on.
"""

from __future__ import annotations

import mmap
import os
import runpy
import struct
import sys
from pathlib import Path
from typing import Final

from benchmarks.ending import end_with_parent
from benchmarks.sync_counter import counted_syncs

_SYNCS: Final = struct.Struct("=q")
_ADDED: Final = struct.Struct("=d")
_SIZE: Final = _SYNCS.size + _ADDED.size


class SharedSyncCount:
    """A count of fsyncs that two processes share (`benchmarks.sync_counter.Syncs`).

    Args:
        path: The file; it is made when it is not there.
    """

    def __init__(self, path: Path) -> None:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            os.ftruncate(descriptor, _SIZE)
            self._memory = mmap.mmap(descriptor, _SIZE)
        finally:
            os.close(descriptor)

    @property
    def syncs(self) -> int:
        """How many there were so far."""
        return int(_SYNCS.unpack_from(self._memory)[0])

    @syncs.setter
    def syncs(self, count: int) -> None:
        _SYNCS.pack_into(self._memory, 0, count)

    @property
    def added_seconds(self) -> float:
        """How much longer each is made."""
        return float(_ADDED.unpack_from(self._memory, _SYNCS.size)[0])

    @added_seconds.setter
    def added_seconds(self, seconds: float) -> None:
        _ADDED.pack_into(self._memory, _SYNCS.size, seconds)


def command(counts: Path, *arguments: str) -> list[str]:
    """Return the command line of a counted process."""
    return [sys.executable, "-m", "benchmarks.measuring.counted_process", str(counts), *arguments]


def main(path: str, arguments: list[str]) -> None:
    """Run the program."""
    end_with_parent()
    with counted_syncs(SharedSyncCount(Path(path))):
        sys.argv = ["rebind", *arguments]
        runpy.run_module("simulator.cli", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
