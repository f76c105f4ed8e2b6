"""An fsync for files that is counted as SQLite's are."""

from __future__ import annotations

import os
import time
from threading import Lock

from benchmarks.sync_counter import SyncCount


class CountedFsync:
    """An fsync that counts, and can take longer.

    Attributes:
        count: As for SQLite's own fsyncs.
    """

    def __init__(self) -> None:
        self.count = SyncCount()
        self._lock = Lock()

    def __call__(self, descriptor: int) -> None:
        """Sync a file."""
        with self._lock:
            self.count.syncs += 1
        if self.count.added_seconds:
            time.sleep(self.count.added_seconds)
        os.fsync(descriptor)
