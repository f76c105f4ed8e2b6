"""Waits until something is true of a plugin, its calls or its folder."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from simulator.core.instants import SECOND, Duration
from simulator.inotify import DirectoryChanges, Watch

_LOOKS_WHEN_TOLD: int = 20
"""How much less often it looks where the folder tells of its changes; for a change it missed."""


class Lookout:
    """Looks again at every event, whenever the folder changes, and now and then.

    Args:
        directory: The folder.
        look: Between two looks, where nothing tells of changes.
        changes: Tells of changes in folders; None for one of its own.
    """

    def __init__(
        self, directory: Path, *, look: Duration, changes: DirectoryChanges | None
    ) -> None:
        self._directory = directory
        self._look = look
        self._given = changes
        self._changes: DirectoryChanges | None = None
        self._watch: Watch | None = None
        self._stirred = asyncio.Event()

    def open(self) -> None:
        """Begin to watch the folder; `close` ends that, and then it may begin again."""
        self._changes = self._given or DirectoryChanges()
        self._watch = self._changes.watch(self._directory, self.stir)

    def close(self) -> None:
        """End the watch; a second time does nothing."""
        changes, self._changes = self._changes, None
        if changes is not None and self._watch is not None:
            changes.unwatch(self._watch)
        if changes is not None and self._given is None:
            changes.close()
        self.stir()

    def stir(self) -> None:
        """Let everybody look again."""
        self._stirred.set()
        self._stirred = asyncio.Event()

    async def until(self, condition: Callable[[], bool], within: Duration | None = None) -> bool:
        """Wait until something is true; False when it is not so in time."""
        loop = asyncio.get_running_loop()
        end = None if within is None else loop.time() + within / SECOND
        while not condition():
            is_told = self._changes is not None and self._changes.is_native
            pause = self._look * (_LOOKS_WHEN_TOLD if is_told else 1) / SECOND
            if end is not None:
                pause = min(pause, end - loop.time())
                if pause <= 0:
                    return False
            with suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._stirred.wait()
        return True
