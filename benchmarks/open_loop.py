"""Open-loop load: arrivals come when they come, whether or not the last one was served.

Latency counts from the scheduled instant, so a stall is paid for by every arrival that it delays
(no coordinated omission).
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Final

from hdrh.histogram import HdrHistogram

_SECOND_NS: Final = 1_000_000_000
_LOWEST_US: Final = 1
_HIGHEST_US: Final = 600_000_000
_DIGITS: Final = 3


def poisson_arrivals(rate: float, seconds: float, *, seed: int) -> Iterator[int]:
    """Iterate over arrival instants, in nanoseconds from the start, with exponential gaps.

    Args:
        rate: Expected arrivals per second.
        seconds: Where the schedule ends.
        seed: The same seed gives the same schedule.
    """
    chance = random.Random(seed)  # noqa: S311 - a schedule is no secret
    at = chance.expovariate(rate)
    while at < seconds:
        yield round(at * _SECOND_NS)
        at += chance.expovariate(rate)


class Latencies:
    """Latencies with three significant digits, from a microsecond to ten minutes."""

    def __init__(self) -> None:
        self._histogram = HdrHistogram(_LOWEST_US, _HIGHEST_US, _DIGITS)

    def record(self, nanoseconds: int) -> None:
        """Add one latency."""
        self._histogram.record_value(min(max(nanoseconds // 1_000, _LOWEST_US), _HIGHEST_US))

    def __len__(self) -> int:
        """Return how many were recorded."""
        return int(self._histogram.get_total_count())

    def percentile_ms(self, percent: float) -> float:
        """Return the latency in ms that `percent` of the recorded ones do not exceed."""
        return float(self._histogram.get_value_at_percentile(percent)) / 1_000
