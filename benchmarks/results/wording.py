"""Differences between rows in words, and that there is none when that is so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from benchmarks.results.merging import Spread, is_beyond_noise
from benchmarks.results.pairs import Pair
from benchmarks.results.quantities import (
    Form,
    Quantity,
    ratio_text,
    text,
)

NOISE: Final = "no more than the noise"


def differences(spreads: Sequence[tuple[Spread, Spread]]) -> str:
    """Return how much later the second is than the first, over all pairs."""
    if all(is_beyond_noise(first, second) is False for first, second in spreads):
        return NOISE
    differences = [second.median - first.median for first, second in spreads]
    least, most = (_signed(end) for end in (min(differences), max(differences)))
    return least if least == most else f"{least} to {most}"


def _signed(nanoseconds: float) -> str:
    sign = "-" if nanoseconds < 0 else "+"
    return f"{sign}{text(abs(nanoseconds), Form.DURATION)}"


def ratios(found: Sequence[Pair], quantity: Quantity) -> str:
    """Return `×3.1 (812 to 2510)`, or a range of ratios over several pairs."""
    spreads = [both for pair in found if (both := pair.spreads(quantity)) and both[0].median]
    if not spreads:
        return ""
    if all(is_beyond_noise(first, second) is False for first, second in spreads):
        return NOISE
    ratios = sorted(second.median / first.median for first, second in spreads)
    if len(ratios) == 1:
        first, second = spreads[0]
        ends = (text(side.median, quantity.form) for side in (first, second))
        return f"{ratio_text(ratios[0])} ({' to '.join(ends)})"
    least, most = ratio_text(ratios[0]), ratio_text(ratios[-1])
    return least if least == most else f"{least} to {most}"
