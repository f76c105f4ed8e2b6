"""A load that grows step by step until a step is too much."""

from __future__ import annotations

from benchmarks.measuring.windows import Window
from benchmarks.profiles.loads import RampLoad
from benchmarks.profiles.profile import Phase
from benchmarks.results.rows import Measure
from simulator.core.instants import SECOND


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
        self.windows = [
            Window(f"{phase.name}-{step.rate:.0f}", step.begin, step.end) for step in self._steps
        ]

    def is_too_much(self, index: int) -> bool:
        """Judge a step at its end: too little of it was served by now, or too slowly."""
        window = self.windows[index]
        saturated = self._saturated
        share = window.served / window.offered if window.offered else 1.0
        too_much = share < saturated.achieved_below
        if saturated.p99_above is not None:
            p99 = window.percentile(Measure.ADMISSION, 99)
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
