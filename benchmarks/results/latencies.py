"""Latencies of many pods, kept with three significant digits."""

from __future__ import annotations

import base64
import struct
import zlib
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Final

from hdrh.codec import HdrCookieException, HdrLengthException
from hdrh.histogram import HdrHistogram
from typing_extensions import override

from simulator.core.instants import MICROSECOND, Duration

PERCENTILES: Final = (50.0, 90.0, 99.0, 99.9, 100.0)
"""Printed of every histogram; the last one is the longest latency."""

_LOWEST_US: Final = 1
LONGEST_US: Final = 3_600_000_000
"""What is longer counts as an hour."""
_DIGITS: Final = 3
_OUTER_HEADER: Final = 8
_HEADER: Final = struct.Struct(">12xIQQ8x")
"""Of the compressed part: digits, lowest and highest value."""
_PLAIN_MAX: Final = 1 << 20
_DAMAGED: Final = (ValueError, struct.error, zlib.error)


class Latencies:
    """An HdrHistogram from a microsecond to an hour; what is longer counts as an hour.

    Two are equal when they hold the same counts.
    """

    def __init__(self, recorded: Iterable[int] = ()) -> None:
        """Begin with some latencies in nanoseconds."""
        self._histogram = HdrHistogram(_LOWEST_US, LONGEST_US, _DIGITS)
        self._found: dict[float, Duration] = {}
        self._encoded = ""
        for nanoseconds in recorded:
            self.record(nanoseconds)

    def record(self, nanoseconds: int, count: int = 1) -> None:
        """Add one latency, or as many equal ones as `count` says."""
        microseconds = min(max(nanoseconds // MICROSECOND, _LOWEST_US), LONGEST_US)
        self._histogram.record_value(microseconds, count)
        self._found, self._encoded = {}, ""

    def add(self, other: Latencies) -> None:
        """Add what another one holds."""
        self._histogram.add(other._histogram)
        self._found, self._encoded = {}, ""

    def __len__(self) -> int:
        """Return how many were recorded."""
        return int(self._histogram.get_total_count())

    @override
    def __eq__(self, other: object) -> bool:
        """Tell whether the counts are the same."""
        return isinstance(other, Latencies) and self.encoded() == other.encoded()

    __hash__ = None  # type: ignore[assignment] # latencies can be added

    def percentile(self, percent: float) -> Duration:
        """Return what `percent` of the latencies do not exceed; 0 when there are none."""
        return self.percentiles((percent,))[0]

    def percentiles(self, percents: Sequence[float]) -> tuple[Duration, ...]:
        """Return several percentiles, which costs no more than one.

        They are kept until something is added, since tables and plots ask for them often.
        """
        if not len(self):
            return (Duration(0),) * len(percents)
        if not all(percent in self._found for percent in percents):
            self._find(sorted({*PERCENTILES, *percents}))
        return tuple(self._found[percent] for percent in percents)

    def _find(self, percents: Sequence[float]) -> None:
        """Find percentiles as the library does; its own loop over the counts takes 5 times longer.

        A report asks for thousands.
        """
        histogram = self._histogram
        last = histogram.get_counts_array_index(histogram.get_max_value())
        up_to = list(accumulate(histogram.counts[: last + 1]))
        for percent in percents:
            index = bisect_left(up_to, histogram.get_target_count_at_percentile(percent))
            lowest = histogram.get_value_from_index(index)
            value = histogram.get_highest_equivalent_value(lowest) if percent else lowest
            self._found[percent] = Duration(value * MICROSECOND)

    def longest(self) -> Duration:
        """Return the longest; 0 when there are none."""
        return self.percentile(100)

    def counts(self) -> Iterator[tuple[Duration, int]]:
        """Iterate over the recorded values in order, each with how often it was recorded."""
        for index, count in enumerate(self._histogram.counts[:]):
            if count:
                value = self._histogram.get_value_from_index(index)
                yield Duration(value * MICROSECOND), count

    def encoded(self) -> str:
        """Return it in HdrHistogram's own encoding (V2, compressed, base64; values in µs).

        It is kept, since the file of a run is written anew after every row.
        """
        if not self._encoded:
            self._encoded = str(self._histogram.encode(), "ascii")
        return self._encoded

    @classmethod
    def decoded(cls, text: str) -> Latencies:
        """Read HdrHistogram's own encoding.

        Raises:
            ValueError: It is none, or one with other limits or another precision.
        """
        found = cls()
        try:
            _check_header(base64.b64decode(text, validate=True))
            found._histogram.decode_and_add(text)
        except (*_DAMAGED, IndexError, HdrCookieException, HdrLengthException) as error:
            reason = str(error) or type(error).__name__
            message = f"no latencies of Rebind in HdrHistogram's encoding: {reason}"
            raise ValueError(message) from error
        return found


def _check_header(encoded: bytes) -> None:
    """Refuse limits that are not ours before the library reserves memory for them.

    Raises:
        ValueError, struct.error, zlib.error: They are not, or there are none.
    """
    plain = zlib.decompressobj().decompress(encoded[_OUTER_HEADER:], _PLAIN_MAX)
    if len(plain) == _PLAIN_MAX:
        message = "too long"
        raise ValueError(message)
    digits, lowest, highest = _HEADER.unpack_from(plain)
    if (digits, lowest, highest) != (_DIGITS, _LOWEST_US, LONGEST_US):
        message = f"its limits are {lowest} and {highest} with {digits} digits"
        raise ValueError(message)
