"""What callers wait for: looked at when something has happened, once for all of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


class Awaited:
    """Conditions that somebody waits for, on one loop."""

    def __init__(self) -> None:
        self._waiting: list[tuple[Callable[[], bool], asyncio.Future[None]]] = []
        self._look_is_planned = False

    async def until(self, is_so: Callable[[], bool]) -> None:
        """Wait until something is so; what happens is told by `look_soon`."""
        if not is_so():
            waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            entry = (is_so, waiting)
            self._waiting.append(entry)
            try:
                await waiting
            finally:
                self._waiting.remove(entry)

    def look_soon(self) -> None:
        """Something has happened: see what has become so, once for all of a turn of the loop."""
        if self._waiting and not self._look_is_planned:
            self._look_is_planned = True
            asyncio.get_running_loop().call_soon(self._look)

    def _look(self) -> None:
        self._look_is_planned = False
        for is_so, waiting in self._waiting:
            if not waiting.done() and is_so():
                waiting.set_result(None)
