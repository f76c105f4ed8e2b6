"""One write of an object at a time: the next one begins when the commit of the former is known.

So what is read before a write is what the write replaces, and the place of an object that is about
to be made is taken from the first moment on, although nobody sees the object before its commit.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable

from simulator.object_ports import ObjectKey


class Turns:
    """Whose turn it is to write which object."""

    def __init__(self) -> None:
        self._taken: dict[ObjectKey, deque[asyncio.Future[None]] | None] = {}

    def is_taken(self, key: ObjectKey) -> bool:
        """Tell whether a write of the object is on its way."""
        return key in self._taken

    def take_now(self, key: ObjectKey) -> bool:
        """Take the turn if nobody has it; tell whether that worked."""
        if key in self._taken:
            return False
        self._taken[key] = None
        return True

    async def take(self, key: ObjectKey) -> None:
        """Wait for the turn and take it; whoever came first has it first."""
        if self.take_now(key):
            return
        waiting = self._taken[key]
        if waiting is None:
            waiting = self._taken[key] = deque()
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.give(key)
            raise

    def give(self, key: ObjectKey) -> None:
        """Give the turn to the next who waits, if anybody does."""
        waiting = self._taken[key]
        while waiting:
            turn = waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        del self._taken[key]

    def taken(self) -> Iterable[ObjectKey]:
        """Return all objects that are being written."""
        return self._taken.keys()
