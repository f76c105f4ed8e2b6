"""Differences between rows in words, and that there is none when that is so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from benchmarks.results.merging import is_beyond_noise
from benchmarks.results.pairs import Compared, Pair, compared
from benchmarks.results.quantities import (
    Form,
    Quantity,
    ratio_text,
    text,
)

NOISE: Final = "no more than the noise"


def differences(found: Compared) -> str:
    """Return how much later the second is than the first, over all pairs."""
    spreads = found.spreads
    if _is_noise(found):
        return NOISE
    differences = [second.median - first.median for first, second in spreads]
    least, most = (_signed(end) for end in (min(differences), max(differences)))
    return (least if least == most else f"{least} to {most}") + _beyond(found)


def _signed(nanoseconds: float) -> str:
    sign = "-" if nanoseconds < 0 else "+"
    return f"{sign}{text(abs(nanoseconds), Form.DURATION)}"


def ratios(pairs: Sequence[Pair], quantity: Quantity) -> str:
    """Return `×3.1 (812 to 2510)`, or a range of ratios over several pairs."""
    found = compared(pairs, quantity)
    spreads = [both for both in found.spreads if both[0].median]
    if not spreads:
        return ""
    if _is_noise(found):
        return NOISE
    ratios = sorted(second.median / first.median for first, second in spreads)
    if len(ratios) == 1:
        first, second = spreads[0]
        ends = (text(side.median, quantity.form) for side in (first, second))
        return f"{ratio_text(ratios[0])}{_beyond(found)} ({' to '.join(ends)})"
    least, most = ratio_text(ratios[0]), ratio_text(ratios[-1])
    return (least if least == most else f"{least} to {most}") + _beyond(found)


def _is_noise(found: Compared) -> bool:
    """Tell whether no difference is larger than the noise; of a bound nobody knows."""
    is_bound = found.is_more or found.is_less
    return not is_bound and all(
        is_beyond_noise(first, second) is False for first, second in found.spreads
    )


def _beyond(found: Compared) -> str:
    """Return how far a difference goes that is only known to be so large."""
    if found.is_more and found.is_less:
        return ", of bounds"
    if found.is_more:
        return " or more"
    return " or less" if found.is_less else ""
