"""What gathering writes changes, in a sentence for each persistence."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from benchmarks.results.merging import Merged
from benchmarks.results.pairs import Pair, keeps_up, pairs
from benchmarks.results.quantities import (
    ACHIEVED,
    CALLS_EACH,
    P99,
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
    calm = [pair for pair in found if pair.is_calm]
    full = [pair for pair in found if not keeps_up(pair.first)]
    through_api = [pair for pair in calm or found if pair.first.setting.store is Store.API]
    changes = {
        quantity: change
        for quantity, change in (
            ("the served rate", _rates(full or found)),
            ("p99", ratios(calm or found, P99)),
            ("API calls per pod", ratios(through_api, CALLS_EACH)),
        )
        if change
    }
    sizes = f"{batch.word} {batch.written(most)} against {batch.written(least)}"
    if all(change == NOISE for change in changes.values()):
        told = f"{' and '.join(changes)} by {NOISE}"
    else:
        told = ", ".join(f"{quantity} {change}" for quantity, change in changes.items())
    if changes:
        yield f"With {persistence}, {sizes} changes {told}."


def _rates(found: Sequence[Pair]) -> str:
    """Return how the served rate changes; what then serves all may be able to serve more."""
    change = ratios(found, ACHIEVED)
    is_open = any(keeps_up(pair.second) and not keeps_up(pair.first) for pair in found)
    return f"{change} or more" if is_open and change.startswith("×") else change
