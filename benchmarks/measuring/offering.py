"""Offers the load of one phase: each pod at the instant that the schedule says, whatever is behind.

An open loop does not ask whether the last pod was served. Every pod is planned for its instant on
the world's time; when events are behind, it comes late and is counted as late, and its latency
counts from the instant at which it should have come.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from benchmarks.measuring.clocks import Driver
from benchmarks.measuring.lives import Lives
from benchmarks.measuring.windows import Window
from benchmarks.profiles.loads import ClosedLoop
from benchmarks.profiles.profile import LatencyStart, Phase
from benchmarks.profiles.schedule import Arrival
from simulator.core.instants import Instant, after
from simulator.engine.timeline import Priority

_AT_ONCE_MAX: Final = 256
"""Of pods that are due at once, so many come in one event; then others get their turn."""


class Offering:
    """The load of a phase, from `begin` until it is over.

    Args:
        driver: Lets the world's time pass.
        lives: Where the pods go.
        phase: Its load.
        arrivals: What comes.
        windows: Stretches that are measured, in order.
        start: Where latencies begin.

    Attributes:
        is_over: Whether everything has come that was to come.
        begun_ns: When it began, on the driver's clock.
        ended_ns: When it was over.
        has_run_out: Whether all came that the phase has, before its time was over.
        offered: Pods so far.
    """

    def __init__(  # noqa: PLR0913 - one object for one phase, by keyword
        self,
        *,
        driver: Driver,
        lives: Lives,
        phase: Phase,
        arrivals: Iterator[Arrival],
        windows: Sequence[Window],
        start: LatencyStart,
    ) -> None:
        self.is_over = self.has_run_out = False
        self.begun_ns = self.ended_ns = 0
        self.offered = 0
        self._driver = driver
        self._timeline = driver.world.timeline
        self._lives = lives
        self._phase = phase
        self._arrivals = arrivals
        self._windows = list(windows)
        self._from_sent = start is LatencyStart.SENT
        self._next: Arrival | None = None
        self._begun = Instant(0)

    def begin(self) -> None:
        """Begin now, in an event."""
        self._begun = self._timeline.now()
        self.begun_ns = self._driver.now_ns()
        for window in self._windows:
            window.begun_ns = self.begun_ns + window.start
        load = self._phase.load
        if load is None:
            self.end()
            return
        if self._phase.duration:
            end = after(self._begun, self._phase.duration)
            self._timeline.call_at(end, self.end, Priority.OBSERVE)
        if isinstance(load, ClosedLoop):
            for _ in range(load.concurrency):
                self.offer_next()
        else:
            self._plan()

    def end(self) -> None:
        """Let nothing come any more."""
        if not self.is_over:
            self.is_over = True
            self.ended_ns = self._driver.now_ns()

    def offer_next(self) -> None:
        """Let the next pod of a closed loop come: one was served, or a client begins."""
        arrival = next(self._arrivals, None)
        if arrival is None:
            self.end()
        elif not self._ends_here():
            now_ns = self._driver.now_ns()
            self._offer(arrival, now_ns)

    @property
    def is_closed_loop(self) -> bool:
        """Whether the next pod comes when one was served."""
        return isinstance(self._phase.load, ClosedLoop)

    def _plan(self) -> None:
        """Plan the next pod."""
        self._next = next(self._arrivals, None)
        if self._next is None:
            self._run_out()
        else:
            due = after(self._begun, self._next.at)
            self._timeline.call_at(due, self._come, Priority.STEP)

    def _run_out(self) -> None:
        self.has_run_out = True
        self.end()

    def _come(self) -> None:
        """Let the pod come that is due, and those of the same instant."""
        for _ in range(_AT_ONCE_MAX):
            arrival = self._next
            if arrival is None or self._ends_here():
                return
            self._offer(arrival, self.begun_ns + arrival.at)
            self._next = next(self._arrivals, None)
            if self._next is None or self._next.at > arrival.at:
                break
        if self._next is None:
            self._run_out()
        else:
            due = after(self._begun, self._next.at)
            self._timeline.call_at(due, self._come, Priority.STEP)

    def _offer(self, arrival: Arrival, due_ns: int) -> None:
        self.offered += 1
        now_ns = self._driver.now_ns()
        window = self._window(due_ns - self.begun_ns)
        if window is not None:
            window.offer(due_ns, now_ns)
        self._lives.offer(arrival, now_ns if self._from_sent else due_ns, window)

    def _window(self, at: int) -> Window | None:
        for window in self._windows:
            if window.start <= at and (window.end is None or at < window.end):
                return window
        return None

    def _ends_here(self) -> bool:
        """Tell whether the load is over, and see whether it is now."""
        until = self._phase.until
        enough = None if until is None else until.utilization
        if enough is not None and self._lives.utilization >= enough:
            self.end()
        return self.is_over
