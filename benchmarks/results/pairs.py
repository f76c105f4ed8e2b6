"""Rows that differ in one thing only, so that what differs between them comes from that."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from benchmarks.results.merging import Merged, Spread
from benchmarks.results.quantities import Quantity
from benchmarks.results.rows import Setting

_KEPT_UP: Final = 0.95
"""Share of what is offered that must be served, so that a setting counts as keeping up."""

_RATE: Final = re.compile(r"(?<=-)\d+(?:\.\d+)?$", re.ASCII)
_ABOUT: Final = 0.25
"""Share by which what chance has offered may differ from a step's rate."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two sides that differ in one thing only."""

    first: Merged
    second: Merged

    def spreads(self, quantity: Quantity) -> tuple[Spread, Spread] | None:
        """Return a figure of both; None where one of them lacks it."""
        first, second = self.first.spread(quantity.of), self.second.spread(quantity.of)
        return None if first is None or second is None else (first, second)

    @property
    def is_calm(self) -> bool:
        """Whether both serve what is offered; beyond that latency only tells how long it went."""
        return keeps_up(self.first) and keeps_up(self.second)


@dataclass(frozen=True, slots=True)
class Compared:
    """One figure of several pairs.

    Attributes:
        spreads: Of both sides of each pair; not of those that lack it, nor of those where it is
            only a lower bound on both sides: nobody knows how far these are apart.
        is_more, is_less: Whether it is only a lower bound on the second side of some pairs, or on
            the first, so that the second is that much larger or more, or smaller or less.
    """

    spreads: tuple[tuple[Spread, Spread], ...]
    is_more: bool
    is_less: bool


def compared(found: Iterable[Pair], quantity: Quantity) -> Compared:
    """Return a figure of pairs."""
    known = comparable(found, quantity)
    return Compared(
        tuple(both for pair in known if (both := pair.spreads(quantity)) is not None),
        is_more=any(pair.second.is_bound(quantity) for pair in known),
        is_less=any(pair.first.is_bound(quantity) for pair in known),
    )


def comparable(found: Iterable[Pair], quantity: Quantity) -> list[Pair]:
    """Return the pairs of which a figure can be compared: those that `Compared` is of."""
    return [
        pair
        for pair in found
        if pair.spreads(quantity) is not None
        and not (pair.first.is_bound(quantity) and pair.second.is_bound(quantity))
    ]


def keeps_up(one: Merged) -> bool:
    """Tell whether what is offered is served."""
    offered = sum(row.offered_per_second for row in one.rows)
    return sum(row.achieved_per_second for row in one.rows) >= _KEPT_UP * offered


def at_scheduled_rates(merged: Sequence[Merged]) -> list[Merged]:
    """Return the rows of phases that offer all settings the same rate.

    Where pods come all at once, or each after another one, the rate follows from how fast they are
    served, and says nothing of what a setting can bear.
    """
    rates: dict[str, list[float]] = {}
    for one in merged:
        rates.setdefault(one.phase, []).extend(row.offered_per_second for row in one.rows)
    return [one for one in merged if min(rates[one.phase]) >= _KEPT_UP * max(rates[one.phase])]


def rate_steps(merged: Sequence[Merged]) -> list[Merged]:
    """Return the rows of phases that are named after their rate, as the steps of a ramp are.

    Other phases differ in more than their load: what one of them has and another one has not says
    nothing of how a setting bears more of the same.
    """
    return [one for one in at_scheduled_rates(merged) if _is_named_after_its_rate(one)]


def _is_named_after_its_rate(one: Merged) -> bool:
    found = _RATE.search(one.phase)
    rate = float(found[0]) if found else 0.0
    offered = max(row.offered_per_second for row in one.rows)
    return abs(rate - offered) <= _ABOUT * offered


def pairs(
    merged: Sequence[Merged],
    first: Callable[[Setting], bool],
    second: Callable[[Setting], bool],
    same: Callable[[Setting], object],
) -> Iterator[Pair]:
    """Iterate over what agrees in its phase and in `same`, one of each kind."""
    for one in merged:
        if not first(one.setting):
            continue
        for other in merged:
            if (
                second(other.setting)
                and one.phase == other.phase
                and same(one.setting) == same(other.setting)
            ):
                yield Pair(one, other)
