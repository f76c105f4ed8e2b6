"""Time that passes by itself: the engine's timeline on the clock of an asyncio loop.

The clock can run faster than the real one, and can be put forward: whoever tests a plugin does not
want to wait out a grace period of 5 minutes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from typing_extensions import override

from simulator.core.instants import SECOND, Duration, Instant, after
from simulator.engine.timeline import Priority, Timeline

EVENTS_AT_ONCE: Final = 256
"""After so many events the loop gets a turn, so that a storm on one node leaves sockets served."""


class LiveTimeline(Timeline):
    """A timeline on which due events happen by themselves.

    Within one event time stands still; between events `now` is the clock's.

    Args:
        loop: Whose clock it follows, and in whose thread events happen.
        start: The present instant.
        speed: How much of its time passes in one real second.
        settled: Called after every event.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        *,
        start: Instant,
        speed: float = 1.0,
        settled: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__()
        self.settled = settled
        self._loop = loop
        self._speed = speed
        self._origin = Instant(start)
        self._began = loop.time()
        self._now = start
        self._is_acting = False
        self._wake: asyncio.TimerHandle | None = None
        self._wake_at: Instant | None = None
        self._closed = False

    @override
    def now(self) -> Instant:
        """Return the present instant."""
        if not self._is_acting:
            self._now = max(self._now, self._clock())
        return self._now

    @override
    def call_at(
        self, at: Instant, action: Callable[[], None], priority: Priority = Priority.MACHINE
    ) -> None:
        """Do `action` at `at`, or soon when `at` has passed."""
        self.now()
        super().call_at(at, action, priority)
        self._arm()

    @override
    def call_after(
        self, span: Duration, action: Callable[[], None], priority: Priority = Priority.MACHINE
    ) -> None:
        """Do `action` when `span` has passed."""
        self.call_at(after(self.now(), span), action, priority)

    def enter(self, action: Callable[[], None]) -> None:
        """Let something from outside happen now, after what is due already."""
        self.now()
        super().call_at(self._now, action)
        self._pump()

    def put_forward(self, span: Duration) -> None:
        """Let `span` pass at once; what was due in it happens in order, each at its own time."""
        self._origin = after(self._origin, span)
        self._arm()

    async def sleep(self, span: Duration) -> None:
        """Wait until `span` of this time has passed."""
        passed = self._loop.create_future()

        def end() -> None:
            if not passed.done():
                passed.set_result(None)

        self.call_after(span, end)
        await passed

    def close(self) -> None:
        """Let nothing happen any more."""
        self._closed = True
        self._disarm()

    def _clock(self) -> Instant:
        passed = (self._loop.time() - self._began) * self._speed
        return Instant(self._origin + int(passed * SECOND))

    def _pump(self) -> None:
        """Let everything happen that is due."""
        if self._is_acting or self._closed:
            return
        clock = self._clock()
        self._is_acting = True
        try:
            for _ in range(EVENTS_AT_ONCE):
                due = self.next_at()
                if due is None or due > clock:
                    break
                self.step()
                self.settled()
        finally:
            self._is_acting = False
            self._arm()

    def _arm(self) -> None:
        """Wake up when the next event is due."""
        if self._is_acting or self._closed:
            return
        due = self.next_at()
        if due is not None and due == self._wake_at and due > self._clock():
            return
        self._disarm()
        if due is not None:
            rest = max(0, due - self._clock()) / SECOND / self._speed
            self._wake_at = due
            self._wake = self._loop.call_later(rest, self._woken)

    def _woken(self) -> None:
        self._wake = self._wake_at = None
        self._pump()

    def _disarm(self) -> None:
        if self._wake is not None:
            self._wake.cancel()
        self._wake = self._wake_at = None
