"""Time that passes by itself: the engine's timeline on the clock of an asyncio loop.

The clock can run faster than the real one, and can be put forward: whoever tests a plugin does not
want to wait out a grace period of 5 minutes. A scenario that is played on it leaves out the time in
which nothing real happens (`reach`).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Final

from typing_extensions import override

from simulator.core.instants import MILLISECOND, SECOND, Duration, Instant, after
from simulator.engine.timeline import Priority, Timeline

TURN_S: Final = 0.01
"""After so many real seconds the loop gets a turn, so that a storm on one node leaves sockets
served. Within one event nothing else happens, however long it takes."""
LOOK: Final = Duration(4 * MILLISECOND)
"""Real time between two looks whether something real is under way."""
QUIET_LOOKS: Final = 6
"""After so many looks at which nothing was, nothing is. Looks are counted and not time: where the
machine is busy with others, the loop and what it waits for are late together."""
EXPECTING_LOOKS_MAX: Final = 1_000
"""How often something that is expected is looked for, before it is taken not to come."""


class LiveTimeline(Timeline):
    """A timeline on which due events happen by themselves.

    Within one event time stands still; between events `now` is the clock's.

    Args:
        loop: Whose clock it follows, and in whose thread events happen.
        start: The present instant.
        speed: How much of its time passes in one real second.
        skips: Whether time stands still while nothing real is under way, and passes at once when
            somebody waits for it (`reach`).
        settled: Called after every event.

    Attributes:
        settled: As given.
        expects: Tells whether something is bound to come from outside, such as an answer.
        failed: Told of an error of an event. What else is due happens nevertheless, and whoever
            let something happen meanwhile does not hear of it.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        *,
        start: Instant,
        speed: float = 1.0,
        skips: bool = False,
        settled: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__()
        self.settled = settled
        self.expects: Callable[[], bool] = lambda: False
        self.failed: Callable[[Exception], None] = self._report
        self._skips = skips
        self._is_quiet = False
        self._quiet_looks = self._expecting_looks = 0
        self._held = 0
        self._next_look: asyncio.TimerHandle | None = None
        self._reached = start
        self._loop = loop
        self._speed = speed
        self._origin = Instant(start)
        self._began = loop.time()
        self._now = start
        self._is_acting = False
        self._wake: asyncio.TimerHandle | None = None
        self._wake_at: Instant | None = None
        self._closed = False
        self._sleepers: dict[asyncio.Event, None] = {}
        self.stir()

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
        self.stir()
        self.now()
        super().call_at(self._now, action)
        self._pump()

    def put_forward(self, span: Duration) -> None:
        """Let `span` pass at once; what was due in it happens in order, each at its own time."""
        self._origin = after(self._origin, span)
        self._reached = max(self._reached, self._clock())
        self._disarm()  # What is due next is due earlier than the timer knows.
        self._arm()

    async def sleep(self, span: Duration) -> None:
        """Wait until `span` of this time has passed, or time has ended."""
        if span <= 0 or self._closed:
            return
        passed = asyncio.Event()
        self._sleepers[passed] = None

        def end() -> None:
            self.stir()
            passed.set()

        self.call_after(span, end)
        try:
            await passed.wait()
        finally:
            self._sleepers.pop(passed, None)

    @asynccontextmanager
    async def limit(self, span: Duration) -> AsyncIterator[None]:
        """Break what is done inside off when `span` of this time has passed.

        Raises:
            TimeoutError: That was so.
        """
        is_over = False
        async with asyncio.timeout(None) as limit:

            def expire() -> None:
                if not is_over:
                    self.stir()
                    limit.reschedule(self._loop.time())

            self.call_after(span, expire)
            try:
                yield
            finally:
                is_over = True

    async def reach(self, at: Instant) -> None:
        """Wait until it is `at` and all that is due by then has happened.

        Where time is skipped, it does not get beyond `at` before the next call unless something
        real takes it there.
        """
        reached = asyncio.Event()
        self.call_at(at, reached.set, Priority.OBSERVE)
        self._reached = max(self._reached, at, self._now)
        self._arm()
        await reached.wait()

    @property
    def is_quiet(self) -> bool:
        """Whether time is skipped, and nothing real is under way: what comes next is planned."""
        return self._is_quiet

    def stir(self) -> None:
        """Take note that something real is under way: what comes of it takes its real time."""
        if not self._skips or self._closed:
            return
        self._quiet_looks = self._expecting_looks = 0
        if self._is_quiet:
            self._is_quiet = False
            self._began = self._loop.time()
            self._arm()
        if self._next_look is None:
            self._next_look = self._loop.call_later(LOOK / SECOND, self._look)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Take note that something real is under way, as long as this lasts."""
        self._held += 1
        self.stir()
        try:
            yield
        finally:
            self._held -= 1
            self.stir()

    def close(self) -> None:
        """Let nothing happen any more; whoever sleeps is woken."""
        self._closed = True
        for passed in self._sleepers:
            passed.set()
        self._disarm()
        if self._next_look is not None:
            self._next_look.cancel()
        self._next_look = None

    def _look(self) -> None:
        """See whether it has been quiet for long enough to leave time out."""
        self._next_look = None
        is_busy = self._held > 0
        if not is_busy and self._expecting_looks < EXPECTING_LOOKS_MAX and self.expects():
            self._expecting_looks += 1
            is_busy = True
        self._quiet_looks = 0 if is_busy else self._quiet_looks + 1
        if self._quiet_looks < QUIET_LOOKS:
            self._next_look = self._loop.call_later(LOOK / SECOND, self._look)
        else:
            self._origin = self._clock()
            self._is_quiet = True
            self._arm()

    def _clock(self) -> Instant:
        if self._is_quiet:
            return self._origin
        passed = (self._loop.time() - self._began) * self._speed
        return Instant(self._origin + int(passed * SECOND))

    def _pump(self) -> None:
        """Let everything happen that is due."""
        if self._is_acting or self._closed:
            return
        clock = self._clock()
        self._is_acting = True
        try:
            end = self._loop.time() + TURN_S
            while self._loop.time() < end:
                due = self.next_at()
                if due is not None and self._may_skip_to(due):
                    clock = self._origin = max(clock, due)
                if due is None or due > clock:
                    break
                self._happen()
        finally:
            self._is_acting = False
            self._arm()

    def _happen(self) -> None:
        """Let the next event happen; an error in it is nobody else's."""
        try:
            self.step()
            self.settled()
        except Exception as error:  # noqa: BLE001 - else whoever turns up next would end of it
            self.failed(error)

    def _report(self, error: Exception) -> None:
        self._loop.call_exception_handler({"message": "an event failed", "exception": error})

    def _arm(self) -> None:
        """Wake up when the next event is due."""
        if self._is_acting or self._closed:
            return
        due = self.next_at()
        if due is None:
            self._disarm()
            return
        if due == self._wake_at and due > self._clock() and not self._is_quiet:
            return
        self._disarm()
        if self._may_skip_to(due):
            self._wake_in(0, due)
        elif not self._is_quiet:
            self._wake_in(max(0, due - self._clock()) / SECOND / self._speed, due)

    def _wake_in(self, seconds: float, at: Instant) -> None:
        self._wake_at = at
        self._wake = self._loop.call_later(seconds, self._woken)

    def _may_skip_to(self, due: Instant) -> bool:
        return self._is_quiet and due <= self._reached

    def _woken(self) -> None:
        self._wake = self._wake_at = None
        self._pump()

    def _disarm(self) -> None:
        if self._wake is not None:
            self._wake.cancel()
        self._wake = self._wake_at = None
