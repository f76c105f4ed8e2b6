"""Work on a database between its writes: in short steps that find their own length.

- A step is one short transaction that takes its lock at once (`BEGIN IMMEDIATE`).
- A step that took too long halves the next one's size, a quick one doubles it.
- A step that fails is counted and changes nothing else; the next one tries again.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeVar

from sqlalchemy import Connection

from store.database import Writer

T = TypeVar("T")

STEP_S: Final = 0.01
"""How long a step should take at most, in seconds: so long a write may have to wait for it, which
is to stay below what clients notice."""
STEP_CHANGES: Final = 2_000
STEP_CHANGES_MIN: Final = 16
STEP_CHANGES_MAX: Final = 16_000
_QUICK: Final = 4
_GAIN: Final = 4
"""Which fraction more than what came meanwhile a step drops at least."""


@dataclass(slots=True)
class Attempts:
    """Steps that were tried.

    Attributes:
        steps: All of them, failed ones too.
        failures: Those that an error of the database ended.
    """

    steps: int = 0
    failures: int = 0


class Stepper:
    """Runs the steps of one kind of work.

    Args:
        writer: The connection that writes; steps run between its transactions.
        attempts: Where they are counted.
        clock: Seconds, for the length of a step.

    Attributes:
        size: How many changes the next step may drop, or more (`size_after`).
    """

    def __init__(
        self,
        writer: Writer,
        attempts: Attempts,
        *,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.size = STEP_CHANGES
        self._writer = writer
        self._attempts = attempts
        self._clock = clock

    def size_after(self, changes: int) -> int:
        """Return how many changes a step may drop after so many new ones.

        However slow steps are, they drop more than comes meanwhile: or a bound would not hold where
        batches are large and an fsync takes longer than a step should.
        """
        return max(self.size, min(changes + changes // _GAIN + 1, STEP_CHANGES_MAX))

    def attempt(self, work: Callable[[Connection], T]) -> T | None:
        """Do some work in a transaction of its own; None when the database ended it."""
        self._attempts.steps += 1
        began = self._clock()
        try:
            self._writer.begin()
            result = work(self._writer.connection)
            self._writer.commit()
        except self._writer.errors:
            self._writer.roll_back()
            self._attempts.failures += 1
            self._adapt(self._clock() - began, failed=True)
            return None
        self._adapt(self._clock() - began, failed=False)
        return result

    def _adapt(self, took_s: float, *, failed: bool) -> None:
        if failed or took_s > STEP_S:
            self.size = max(self.size // 2, STEP_CHANGES_MIN)
        elif took_s < STEP_S / _QUICK:
            self.size = min(self.size * 2, STEP_CHANGES_MAX)
