"""Where a number stands on an axis, and which numbers are written there."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

_NICE: Final = (1, 2, 5, 10)
_ROOM: Final = 1.04
"""What a linear axis leaves above its largest number."""
_FEW_DECADES: Final = 3


@dataclass(frozen=True, slots=True)
class Scale:
    """An axis from a least to a most number, drawn between two places.

    Attributes:
        least, most: On a logarithmic axis both positive; what is not positive stands at `start`.
        start, end: Places in pixels; `end` may be the smaller one.
        ticks: Numbers that are written.
    """

    least: float
    most: float
    start: float
    end: float
    ticks: tuple[float, ...]
    is_log: bool

    def at(self, value: float) -> float:
        """Return the place of a number, within the axis."""
        if self.is_log:
            low, high = math.log10(self.least), math.log10(self.most)
            share = 0.0 if value <= 0 else (math.log10(value) - low) / (high - low)
        else:
            share = (value - self.least) / (self.most - self.least)
        return self.start + min(max(share, 0.0), 1.0) * (self.end - self.start)


def linear_scale(values: Iterable[float], start: float, end: float, *, steps: int = 5) -> Scale:
    """Return an axis from 0 to a little above the largest of numbers that are not negative.

    Args:
        values: What it has to show; none at all gives an axis to 1.
        start: Place of 0.
        end: Place of the other end.
        steps: About how many ticks there are.
    """
    top = max([*values, 0.0]) or 1.0
    step = _nice_step(top / steps)
    most = max(top * _ROOM, step)
    ticks = tuple(step * index for index in range(math.floor(most / step) + 1))
    return Scale(0.0, most, start, end, ticks, is_log=False)


def log_scale(values: Iterable[float], start: float, end: float, *, ticks_max: int = 8) -> Scale:
    """Return an axis from 1, 2 or 5 times a decade to another one; what is not positive is least.

    Args:
        values: What it has to show.
        start: Place of its least number.
        end: Place of its most.
        ticks_max: How many ticks there are at most.
    """
    positive = [value for value in values if value > 0] or [1.0]
    least, most = min(positive), max(positive)
    low, high = _edge(least, up=False), _edge(most, up=True)
    if high <= low:
        low, high = low / 10, high * 10
    return Scale(low, high, start, end, _log_ticks(low, high, ticks_max), is_log=True)


def _nice_step(about: float) -> float:
    decade = 10.0 ** math.floor(math.log10(about))
    return next(decade * nice for nice in _NICE if decade * nice >= about * (1 - 1e-9))


def _edge(value: float, *, up: bool) -> float:
    """Return the next of 1, 2, 5, 10 times a decade at or beyond a number."""
    decade = 10.0 ** math.floor(math.log10(value))
    steps = [decade * nice for nice in _NICE]
    if up:
        return next((step for step in steps if step >= value * (1 - 1e-9)), steps[-1])
    return next(step for step in reversed(steps) if step <= value * (1 + 1e-9))


def _log_ticks(low: float, high: float, ticks_max: int) -> tuple[float, ...]:
    first, last = math.floor(math.log10(low) + 1e-9), math.ceil(math.log10(high) - 1e-9)
    nices = _NICE[:3] if last - first <= _FEW_DECADES else (1,)
    found = [
        10.0**decade * nice
        for decade in range(first, last + 1)
        for nice in nices
        if low * (1 - 1e-9) <= 10.0**decade * nice <= high * (1 + 1e-9)
    ]
    every = -(-len(found) // ticks_max)
    return tuple(found[::every])
