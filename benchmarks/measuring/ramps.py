"""A load that grows step by step until a step is too much."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from benchmarks.measuring.windows import Window
from benchmarks.profiles.loads import RampLoad
from benchmarks.profiles.profile import Phase
from benchmarks.results.rows import Measure
from simulator.core.instants import SECOND

_DIGITS_MAX: Final = 6


class Ramp:
    """The steps of a ramp, each a window with a row of its own.

    Args:
        phase: Its load is a `RampLoad`.

    Attributes:
        windows: One for each step.
    """

    def __init__(self, phase: Phase) -> None:
        load = phase.load
        if not isinstance(load, RampLoad):
            message = f"the load of {phase.name} is no ramp"
            raise TypeError(message)
        self._steps = load.steps()
        self._saturated = load.saturated
        self._judged: list[tuple[bool, float]] = []
        rates = _names([step.rate for step in self._steps])
        self.windows = [
            Window(f"{phase.name}-{rate}", step.begin, step.end)
            for rate, step in zip(rates, self._steps, strict=True)
        ]

    def is_too_much(self, index: int, now_ns: int) -> bool:
        """Judge a step at its end: too little of it was served by now, or too slowly.

        Pods that are still on their way count with the time that they have waited.
        """
        window = self.windows[index]
        saturated = self._saturated
        share = window.served / window.offered if window.offered else 1.0
        too_much = share < saturated.achieved_below
        if saturated.p99_above is not None:
            p99 = window.percentile_by(now_ns, Measure.ADMISSION, 99)
            too_much = too_much or (p99 is not None and p99 > saturated.p99_above)
        step = self._steps[index]
        seconds = (step.end - step.begin) / SECOND
        self._judged.append((too_much, window.served / seconds))
        return too_much

    def saturation(self) -> float | None:
        """Return the rate of the last step that was not too much; None before any was judged.

        Where the first step was too much already, it is what was achieved then.
        """
        if not self._judged:
            return None
        good = [index for index, (too_much, _) in enumerate(self._judged) if not too_much]
        return self._steps[good[-1]].rate if good else self._judged[0][1]


def _names(rates: Sequence[float]) -> list[str]:
    """Return rates with as few digits as tell them apart."""
    for digits in range(_DIGITS_MAX):
        names = [f"{rate:.{digits}f}" for rate in rates]
        if len(set(names)) == len(names):
            return names
    return [repr(rate) for rate in rates]
