"""Virtual time: a clock that stands still between events, and the events that move it.

Everything that happens in a simulated cluster is a callback on this line. Nothing waits; a process
that dies takes what it had planned with it (`Process`).
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum

from simulator.core.instants import Duration, Instant, after
from simulator.engine.event_queue import EventQueue


class Priority(IntEnum):
    """Order of events within one instant."""

    MACHINE = 0
    """What the simulated machines do."""
    COMMIT = 10
    """Store calls that are due at this instant are gathered before they are handed over."""
    STEP = 20
    """Steps that a user planned for this instant."""
    OBSERVE = 30
    """Looking at the outcome of the instant."""


class Timeline:
    """The clock and the pending events (`simulator.ports.Clock`)."""

    def __init__(self) -> None:
        self._now = Instant(0)
        self._queue: EventQueue[Callable[[], None]] = EventQueue()

    def now(self) -> Instant:
        """Return the present instant."""
        return self._now

    def call_at(
        self, at: Instant, action: Callable[[], None], priority: Priority = Priority.MACHINE
    ) -> None:
        """Do `action` at `at`, or now when `at` has passed."""
        self._queue.push(max(at, self._now), action, priority)

    def call_after(
        self, span: Duration, action: Callable[[], None], priority: Priority = Priority.MACHINE
    ) -> None:
        """Do `action` when `span` has passed."""
        self._queue.push(after(self._now, span), action, priority)

    @property
    def pending(self) -> int:
        """How many events are planned."""
        return len(self._queue)

    def next_at(self) -> Instant | None:
        """Return when the next event is due; None when nothing is planned."""
        return self._queue.next_at()

    def step(self) -> None:
        """Let the next event happen.

        Raises:
            IndexError: Nothing is planned.
        """
        self._now, action = self._queue.pop()
        action()

    def advance_to(self, at: Instant) -> None:
        """Let time pass up to `at`, when nothing is planned before it."""
        self._now = max(self._now, at)


class Process:
    """Something that can be killed: what it planned does not happen afterwards."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self._alive = True

    def is_alive(self) -> bool:
        """Tell whether the process still runs."""
        return self._alive

    def kill(self) -> None:
        """End the process at once."""
        self._alive = False

    def after(self, span: Duration, action: Callable[[], None]) -> None:
        """Do `action` after `span`, if the process then still runs."""
        self._timeline.call_after(span, lambda: self._run(action))

    def delayed(self, span: Duration, action: Callable[[], None]) -> None:
        """Do `action` after `span`, and without any delay at once, if the process runs."""
        if span:
            self.after(span, action)
        else:
            self._run(action)

    def _run(self, action: Callable[[], None]) -> None:
        if self._alive:
            action()
