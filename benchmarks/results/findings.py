"""What a run says, in two or three sentences with numbers.

Sentences are computed from rows that differ in one thing only, and say when a difference is no
larger than the noise, or when nobody can tell. With nothing to compare, none compares.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from benchmarks.results.merging import Merged, Spread, is_beyond_noise
from benchmarks.results.naming import Naming, client_limits
from benchmarks.results.pairs import Pair, keeps_up, pairs
from benchmarks.results.quantities import (
    ACHIEVED,
    CALLS_EACH,
    P50,
    P99,
    START_P50,
    START_P99,
    Form,
    Quantity,
    number,
    ratio_text,
    text,
)
from benchmarks.results.rows import Setting, Store, TimeSource
from simulator.core.instants import Duration, format_duration
from simulator.core.plurals import counted

LEADS: Final = 3
"""Sentences that stand on top; further ones are said below."""

_NAMED_MAX: Final = 3
_ASKED: Final = "bind-resource"
"""What the review of 2018 asked about."""
_UNTOLD: Final = " With one repetition nobody can tell such differences from noise."
_LOCAL: Final = ("checkpoint", "database")
"""Persistences without the API, the one to compare with first."""


def findings(merged: Sequence[Merged]) -> tuple[str, ...]:
    """Return the sentences, the most telling one of each kind first; none of nothing."""
    if not merged:
        return ()
    naming = Naming(one.setting for one in merged)
    kinds = [
        list(_added_to_the_start(merged)),
        list(_batching(merged)),
        list(_growth(merged)),
        list(_saturation(merged, naming)),
    ]
    found = [kind[0] for kind in kinds if kind] + [one for kind in kinds for one in kind[1:]]
    if not found:
        return (_alone(merged[0], naming) if len(merged) == 1 else _fastest(merged, naming),)
    if any(len(one.rows) == 1 and one.setting.clock is TimeSource.REAL for one in merged):
        found[0] += _UNTOLD
    return tuple(found)


def _around(setting: Setting) -> tuple[object, ...]:
    """Return what a persistence is measured under, its client apart."""
    return (
        *(setting.clock, setting.durability, setting.added_fsync),
        *(setting.nodes, setting.existing),
    )


def _added_to_the_start(merged: Sequence[Merged]) -> Iterator[str]:
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
            middle_text, tail_text = _differences(medians), _differences(tails)
            return f"{at}by {middle_text} at the median and {tail_text} at p99{overloaded}"
    return ""


def _differences(spreads: Sequence[tuple[Spread, Spread]]) -> str:
    """Return how much later the second is than the first, over all pairs."""
    if all(is_beyond_noise(first, second) is False for first, second in spreads):
        return "no more than the noise"
    differences = [second.median - first.median for first, second in spreads]
    least, most = (_signed(end) for end in (min(differences), max(differences)))
    return least if least == most else f"{least} to {most}"


def _signed(nanoseconds: float) -> str:
    sign = "-" if nanoseconds < 0 else "+"
    return f"{sign}{text(abs(nanoseconds), Form.DURATION)}"


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


def _batching(merged: Sequence[Merged]) -> Iterator[str]:
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
                yield _batched(merged, batch, persistence, min(sizes), max(sizes))


def _batched(
    merged: Sequence[Merged], batch: _Batch, persistence: str, least: int, most: int
) -> str:
    def has(size: int) -> Callable[[Setting], bool]:
        return lambda one: one.persistence == persistence and batch.of(one) == size

    found = list(pairs(merged, has(least), has(most), batch.without))
    calm = [pair for pair in found if pair.is_calm]
    full = [pair for pair in found if not keeps_up(pair.first)]
    through_api = [pair for pair in found if pair.first.setting.store is Store.API]
    changes = [
        f"{quantity} {change}"
        for quantity, change in (
            ("the served rate", _rates(full or found)),
            ("p99", _ratios(calm or found, P99)),
            ("API calls per pod", _ratios(through_api, CALLS_EACH)),
        )
        if change
    ]
    sizes = f"{batch.word} {batch.written(most)} against {batch.written(least)}"
    return f"With {persistence}, {sizes} changes {', '.join(changes)}."


def _rates(found: Sequence[Pair]) -> str:
    """Return how the served rate changes; what then serves all may be able to serve more."""
    ratios = _ratios(found, ACHIEVED)
    is_open = any(keeps_up(pair.second) and not keeps_up(pair.first) for pair in found)
    return f"{ratios} or more" if is_open and ratios.startswith("×") else ratios


def _ratios(found: Sequence[Pair], quantity: Quantity) -> str:
    """Return `×3.1 (812 to 2510)`, or a range of ratios over several pairs."""
    spreads = [both for pair in found if (both := pair.spreads(quantity)) and both[0].median]
    if not spreads:
        return ""
    if all(is_beyond_noise(first, second) is False for first, second in spreads):
        return "no more than the noise"
    ratios = sorted(second.median / first.median for first, second in spreads)
    if len(ratios) == 1:
        first, second = spreads[0]
        ends = (text(side.median, quantity.form) for side in (first, second))
        return f"{ratio_text(ratios[0])} ({' to '.join(ends)})"
    return f"{ratio_text(ratios[0])} to {ratio_text(ratios[-1])}"


def _growth(merged: Sequence[Merged]) -> Iterator[str]:
    """Say how latency grows with the bindings that a node already has."""
    counts = {one.setting.existing for one in merged}
    if len(counts) < LEADS - 1:
        return
    least, most = min(counts), max(counts)
    parts = []
    for persistence in dict.fromkeys(one.setting.persistence for one in merged):
        found = list(
            pairs(
                merged,
                lambda one, name=persistence: (one.persistence, one.existing) == (name, least),  # type: ignore[misc]
                lambda one, name=persistence: (one.persistence, one.existing) == (name, most),  # type: ignore[misc]
                lambda one: replace(one, existing=0),
            )
        )
        change = _ratios(found, P50)
        if change:
            parts.append(f"{persistence} {change}")
    if parts:
        yield (
            f"From {least} to {most} existing bindings on a node, the median admission changes: "
            f"{'; '.join(parts)}."
        )


def _saturation(merged: Sequence[Merged], naming: Naming) -> Iterator[str]:
    """Say which settings do not serve what is offered, and what they serve at most."""
    full: dict[str, float] = {}
    for one in merged:
        achieved = one.spread(ACHIEVED.of)
        if achieved and not keeps_up(one):
            name = naming.name(one.setting)
            full[name] = max(full.get(name, 0.0), achieved.median)
    most = max(row.offered_per_second for one in merged for row in one.rows)
    settings = len({one.setting for one in merged})
    if not full:
        if settings > 1:
            yield (
                f"All {settings} settings serve what is offered, at most {number(most)}/s: "
                "none is saturated."
            )
        return
    ordered = sorted(full.items(), key=lambda item: item[1])
    named = "; ".join(f"{name} at {number(rate)}/s" for name, rate in ordered[:_NAMED_MAX])
    more = len(ordered) - _NAMED_MAX
    rest = f"; and {more} more" if more > 0 else ""
    yield (
        f"{len(full)} of {counted(settings, 'setting')} saturate below what is offered "
        f"(at most {number(most)}/s): {named}{rest}."
    )


def _alone(one: Merged, naming: Naming) -> str:
    return f"{_served(one, naming)}; there is nothing to compare it with."


def _fastest(merged: Sequence[Merged], naming: Naming) -> str:
    best = max(merged, key=lambda one: sum(row.achieved_per_second for row in one.rows))
    return f"{_served(best, naming)}, more than the other {len(merged) - 1}."


def _served(one: Merged, naming: Naming) -> str:
    achieved, tail = one.spread(ACHIEVED.of), one.spread(P99.of)
    offered = sum(row.offered_per_second for row in one.rows) / len(one.rows)
    late = f", p99 {text(tail.median, Form.DURATION)}" if tail else ""
    rate = number(achieved.median if achieved else 0)
    return (
        f"{naming.name(one.setting)} served {rate}/s of {number(offered)}/s offered "
        f"({one.phase}){late}"
    )
