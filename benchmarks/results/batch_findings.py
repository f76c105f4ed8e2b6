"""What gathering writes changes, in a sentence for each persistence."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from benchmarks.results.merging import Merged
from benchmarks.results.pairs import Pair, comparable, keeps_up, pairs
from benchmarks.results.places import where
from benchmarks.results.quantities import (
    ACHIEVED,
    CALLS_EACH,
    P99,
    Quantity,
)
from benchmarks.results.rows import Setting, Store
from benchmarks.results.wording import NOISE, ratios
from simulator.core.instants import Duration, format_duration


@dataclass(frozen=True, slots=True)
class _Batch:
    """One way to gather writes."""

    word: str
    of: Callable[[Setting], int | None]
    written: Callable[[int], str]
    without: Callable[[Setting], Setting]


_BATCHES: Final = (
    _Batch("bulkBind", lambda one: one.bulk_bind, str, lambda one: replace(one, bulk_bind=None)),
    _Batch(
        "flushPeriod",
        lambda one: one.flush_period,
        lambda value: format_duration(Duration(value)),
        lambda one: replace(one, flush_period=None),
    ),
    _Batch(
        "commitBatch",
        lambda one: one.commit_batch,
        str,
        lambda one: replace(one, commit_batch=None),
    ),
)


def batching(merged: Sequence[Merged]) -> Iterator[str]:
    """Say what the largest batch changes against the smallest, for each persistence."""
    for batch in _BATCHES:
        for persistence in dict.fromkeys(one.setting.persistence for one in merged):
            sizes = {
                size
                for one in merged
                if one.setting.persistence == persistence
                and (size := batch.of(one.setting)) is not None
            }
            if len(sizes) > 1:
                yield from _batched(merged, batch, persistence, min(sizes), max(sizes))


def _batched(
    merged: Sequence[Merged], batch: _Batch, persistence: str, least: int, most: int
) -> Iterator[str]:
    def has(size: int) -> Callable[[Setting], bool]:
        return lambda one: one.persistence == persistence and batch.of(one) == size

    found = list(pairs(merged, has(least), has(most), batch.without))
    calm = [pair for pair in found if pair.is_calm] or found
    full = [pair for pair in found if not keeps_up(pair.first)] or found
    through_api = [pair for pair in found if pair.first.setting.store is Store.API]
    figures = [
        _Figure("the served rate", ACHIEVED, full, found),
        _Figure("p99", P99, calm, found),
        _Figure(
            "API calls per pod",
            CALLS_EACH,
            [one for one in through_api if one in calm],
            through_api,
        ),
    ]
    told = [figure for figure in figures if figure.change]
    sizes = f"{batch.word} {batch.written(most)} against {batch.written(least)}"
    if told and all(figure.change == NOISE for figure in told):
        names = " and ".join(figure.name + figure.where for figure in told)
        yield f"With {persistence}, {sizes} changes {names} by {NOISE}."
    elif told:
        changes = ", ".join(f"{figure.name} {figure.change}{figure.where}" for figure in told)
        yield f"With {persistence}, {sizes} changes {changes}."


class _Figure:
    """How one figure changes, and where that is so.

    Args:
        used: Pairs that tell it: the rate where the first side does not serve all, latency where
            both do, since beyond that it only tells how long a phase went.
        all_: All pairs that there are.
    """

    def __init__(
        self, name: str, quantity: Quantity, used: Sequence[Pair], all_: Sequence[Pair]
    ) -> None:
        self.name = name
        self.change = _rates(used) if quantity is ACHIEVED else ratios(used, quantity)
        self.where = where(comparable(used, quantity), all_)


def _rates(found: Sequence[Pair]) -> str:
    """Return how the served rate changes; what then serves all may be able to serve more."""
    change = ratios(found, ACHIEVED)
    is_open = any(keeps_up(pair.second) and not keeps_up(pair.first) for pair in found)
    return f"{change} or more" if is_open and change.startswith("×") else change
