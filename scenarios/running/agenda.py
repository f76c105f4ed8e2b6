"""Which steps of a run are due, and when, at a cost that does not grow with those that wait."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from heapq import heappop, heappush

from scenarios.schema.steps import Step
from simulator.core.instants import Instant, after


class Agenda:
    """The steps that have not begun.

    A step is due at its own time, or some time after the completion of the step that it names, else
    of the one before it.
    """

    def __init__(self, steps: Sequence[Step]) -> None:
        self._steps = steps
        self._due: list[tuple[Instant, int]] = []
        self._waiting: defaultdict[str, list[int]] = defaultdict(list)
        for index, step in enumerate(steps):
            before = step.after or (steps[index - 1].name if index else None)
            if step.at is not None:
                heappush(self._due, (Instant(step.at), index))
            elif before is None:
                heappush(self._due, (Instant(step.delay), index))
            else:
                self._waiting[before].append(index)

    def complete(self, name: str, at: Instant) -> None:
        """Plan the steps that have waited for the completion of this one."""
        for index in self._waiting.pop(name, ()):
            heappush(self._due, (after(at, self._steps[index].delay), index))

    def first(self) -> tuple[Instant, int] | None:
        """Return when the next step is due, and its index; None while nobody knows."""
        return self._due[0] if self._due else None

    def take_due(self, now: Instant) -> list[int]:
        """Take the steps that are due, in the order of the file."""
        due = []
        while self._due and self._due[0][0] <= now:
            due.append(heappop(self._due)[1])
        return sorted(due)
