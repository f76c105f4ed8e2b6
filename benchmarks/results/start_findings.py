"""What a persistence adds to a pod's start, in a sentence for each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from benchmarks.results.merging import Merged
from benchmarks.results.naming import client_limits
from benchmarks.results.pairs import Pair, pairs
from benchmarks.results.quantities import (
    P50,
    P99,
    START_P50,
    START_P99,
)
from benchmarks.results.rows import Setting, Store
from benchmarks.results.wording import differences
from simulator.core.instants import format_duration

_ASKED: Final = "bind-resource"
"""What the review of 2018 asked about."""
_LOCAL: Final = ("checkpoint", "database")
"""Persistences without the API, the one to compare with first."""


def added_to_the_start(merged: Sequence[Merged]) -> Iterator[str]:
    """Say what binding through the API, or in a database, adds to a pod's start."""
    names = list(dict.fromkeys(one.setting.persistence for one in merged))
    local = next((name for name in _LOCAL if name in names), None)
    if local is None:
        return
    local_batch = _least_batch(merged, local)
    stores = {one.setting.persistence: one.setting.store for one in merged}
    ways = sorted((name for name in names if name != local), key=_in_question_first(stores))
    for way in ways:
        batch = _least_batch(merged, way)
        found = [
            pair
            for pair in pairs(
                merged,
                lambda one: one.persistence == local and _batch_sizes(one) == local_batch,
                lambda one, way=way, batch=batch: (  # type: ignore[misc]
                    one.persistence == way and _batch_sizes(one) == batch
                ),
                _around,
            )
            if pair.first.setting.qps in {None, pair.second.setting.qps}
        ]
        parts = [
            part
            for limits in dict.fromkeys(client_limits(pair.second.setting) for pair in found)
            if (part := _added(found, limits))
        ]
        if parts:
            flush = found[0].second.setting.flush_period
            name = f"{way} (flushPeriod {format_duration(flush)})" if flush else way
            yield f"Compared with {local}, {name} changes a pod's start {'; '.join(parts)}."


def _in_question_first(stores: Mapping[str, Store]) -> Callable[[str], tuple[bool, bool]]:
    """Return the order of persistences: what was asked about, what uses the API, the others."""
    return lambda name: (name != _ASKED, stores[name] is not Store.API)


def _batch_sizes(setting: Setting) -> tuple[int, int, int]:
    return setting.flush_period or 0, setting.bulk_bind or 1, setting.commit_batch or 1


def _least_batch(merged: Sequence[Merged], persistence: str) -> tuple[int, int, int]:
    """Return how a persistence gathers writes where it does so least."""
    return min(
        _batch_sizes(one.setting) for one in merged if one.setting.persistence == persistence
    )


def _around(setting: Setting) -> tuple[object, ...]:
    """Return what a persistence is measured under, its client apart."""
    return (
        *(setting.clock, setting.durability, setting.added_fsync),
        *(setting.nodes, setting.existing),
    )


def _added(found: Sequence[Pair], limits: str) -> str:
    """Return `at QPS 5/10 by +3ms (median) and +40ms (p99)`; empty where nothing is known."""
    at = f"at QPS {limits} " if limits != "-" else ""
    here = [pair for pair in found if client_limits(pair.second.setting) == limits]
    calm = [pair for pair in here if pair.is_calm]
    overloaded = "" if calm else ", with more load than they serve"
    for middle, tail in ((START_P50, START_P99), (P50, P99)):
        known = [(pair.spreads(middle), pair.spreads(tail)) for pair in calm or here]
        both = [(one, two) for one, two in known if one is not None and two is not None]
        if both:
            medians, tails = [one for one, _ in both], [two for _, two in both]
            middle_text, tail_text = differences(medians), differences(tails)
            return f"{at}by {middle_text} at the median and {tail_text} at p99{overloaded}"
    return ""
