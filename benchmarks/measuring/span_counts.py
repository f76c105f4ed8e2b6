"""Latencies counted by their length in memory that does not grow, and waits without an end.

A list of them all would make the process that is measured grow by megabytes in a minute: who wants
to know whether its memory stays flat would find the benchmark in it.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Collection, Sequence
from itertools import accumulate
from typing import Final

from benchmarks.results.latencies import LONGEST_US, Latencies
from benchmarks.results.rows import Measure
from simulator.core.instants import MICROSECOND, Duration

EXACT: Final = 11
"""Bits of a latency with which `Latencies` keeps it."""
_WHOLE: Final = 100


class SpanCounts:
    """How many latencies there were of each length.

    Args:
        bits: So many bits of each are kept, in microseconds: what is longer is rounded.

    Attributes:
        count: How many there are.
        longest: The longest of them.
    """

    def __init__(self, bits: int = EXACT) -> None:
        self.count = 0
        self.longest = Duration(0)
        self._bits = bits
        self._half = 1 << (bits - 1)
        steps = self._half * (LONGEST_US.bit_length() - bits + 2)
        self._counts = array("Q", bytes(array("Q").itemsize * steps))

    def add(self, span: int) -> None:
        """Count one, in nanoseconds."""
        self.count += 1
        if span > self.longest:
            self.longest = Duration(span)
        self._counts[self._place(span)] += 1

    def percentile(self, percent: float, more: Sequence[int] = ()) -> Duration | None:
        """Return what so many percent of them do not exceed; None when there are none.

        Args:
            percent: Of them.
            more: Others that count too.
        """
        every = self.count + len(more)
        if not every:
            return None
        longest = max(self.longest, *more, 0)
        counts = self._counts[: self._place(longest) + 1]
        for span in more:
            counts[self._place(span)] += 1
        wanted = max(int(percent / _WHOLE * every + 0.5), 1)
        place = bisect_left(list(accumulate(counts)), wanted)
        return Duration(min((self._lowest(place + 1) - 1) * MICROSECOND, longest))

    def latencies(self) -> Latencies:
        """Return them all."""
        found = Latencies()
        for place, count in enumerate(self._counts):
            if count:
                found.record(self._lowest(place) * MICROSECOND, count)
        return found

    def _place(self, span: int) -> int:
        """Return where a latency is counted: steps double each time that a bit more is lost."""
        microseconds = min(max(span // MICROSECOND, 1), LONGEST_US)
        lost = max(microseconds.bit_length() - self._bits, 0)
        return self._half * lost + (microseconds >> lost)

    def _lowest(self, place: int) -> int:
        """Return the fewest microseconds that are counted at a place."""
        lost = max(place // self._half - 1, 0)
        return place - self._half * lost << lost


class LostWaits:
    """Since when pods have waited for what they will never come to.

    With API limits that is every pod of a long run, so eight bytes are kept of each.
    """

    def __init__(self) -> None:
        self._since: dict[Measure, array[int]] = {}

    def add(self, due_ns: int, awaited: Collection[Measure]) -> None:
        """Take up a pod with its scheduled start, and what it has not come to."""
        for measure in awaited:
            self._since.setdefault(measure, array("q")).append(due_ns)

    def since(self, measure: Measure) -> Sequence[int]:
        """Return the scheduled starts of those who will never come to something."""
        return self._since.get(measure, array("q"))
