"""What a persistence adds to a pod's start, in a sentence for each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from benchmarks.results.merging import Merged
from benchmarks.results.naming import client_limits, options_words
from benchmarks.results.pairs import Pair, pairs
from benchmarks.results.quantities import (
    P50,
    P99,
    RUNNING_P99,
    START_P50,
    START_P99,
)
from benchmarks.results.rows import Setting, Store
from benchmarks.results.wording import differences
from simulator.core.instants import format_duration

_ASKED: Final = "bind-resource"
"""What the review of 2018 asked about."""
_PHASES_MAX: Final = 2
"""Phases that are told one by one; of more, as those of a ramp, the differences are a range."""
_LOCAL: Final = ("checkpoint", "database")
"""Persistences without the API, the one to compare with first."""

_Options: TypeAlias = tuple[tuple[str, str], ...]
_Way: TypeAlias = tuple[str, _Options]


def added_to_the_start(merged: Sequence[Merged]) -> Iterator[str]:
    """Say what binding through the API, or in a database, adds to a pod's start."""
    names = list(dict.fromkeys(one.setting.persistence for one in merged))
    local = next((name for name in _LOCAL if name in names), None)
    if local is None:
        return
    ways = dict.fromkeys(
        (one.setting.persistence, one.setting.options)
        for one in merged
        if one.setting.persistence != local
    )
    stores = {one.setting.persistence: one.setting.store for one in merged}
    for way in sorted(ways, key=_in_question_first(stores)):
        found = _compared(merged, local, way)
        parts = [
            part
            for limits in dict.fromkeys(client_limits(pair.second.setting) for pair in found)
            if (part := _added(found, limits))
        ]
        if parts:
            name = _name(found[0].second.setting)
            yield f"Compared with {local}, {name} changes a pod's start {'; '.join(parts)}."


def _compared(merged: Sequence[Merged], local: str, way: _Way) -> list[Pair]:
    """Return each row of a way beside the one without the API, both as little batched as can be."""
    local_batch = min(_batch_sizes(one.setting) for one in merged if _of(one, (local, None)))
    batch = min(_batch_sizes(one.setting) for one in merged if _of(one, way))
    beside = pairs(
        [
            one
            for one in merged
            if (_of(one, (local, None)) and _batch_sizes(one.setting) == local_batch)
            or (_of(one, way) and _batch_sizes(one.setting) == batch)
        ],
        lambda one: one.persistence == local,
        lambda one: one.persistence != local,
        _around,
    )
    return [pair for pair in beside if pair.first.setting.qps in {None, pair.second.setting.qps}]


def _of(one: Merged, way: tuple[str, _Options | None]) -> bool:
    persistence, options = way
    return one.setting.persistence == persistence and options in {None, one.setting.options}


def _name(setting: Setting) -> str:
    notes = [options_words(setting)]
    if setting.flush_period:
        notes.append(f"flushPeriod {format_duration(setting.flush_period)}")
    told = ", ".join(note for note in notes if note)
    return f"{setting.persistence} ({told})" if told else setting.persistence


def _in_question_first(
    stores: Mapping[str, Store],
) -> Callable[[_Way], tuple[bool, bool, _Options]]:
    """Return the order of ways: what was asked about, what uses the API, the others."""
    return lambda way: (way[0] != _ASKED, stores[way[0]] is not Store.API, way[1])


def _batch_sizes(setting: Setting) -> tuple[int, int, int]:
    return setting.flush_period or 0, setting.bulk_bind or 1, setting.commit_batch or 1


def _around(setting: Setting) -> tuple[object, ...]:
    """Return what a persistence is measured under, its client apart."""
    return (
        *(setting.clock, setting.durability, setting.added_fsync),
        *(setting.nodes, setting.existing),
    )


def _added(found: Sequence[Pair], limits: str) -> str:
    """Return `at QPS 5/10 by +3ms at the median and +40ms at p99`; empty where nothing is known."""
    here = [pair for pair in found if client_limits(pair.second.setting) == limits]
    phases = list(dict.fromkeys(pair.first.phase for pair in here))
    if len(phases) == 1 or len(phases) > _PHASES_MAX:
        told = _changed(here)
    else:
        each = {
            phase: _changed([pair for pair in here if pair.first.phase == phase])
            for phase in phases
        }
        told = ", ".join(f"{change} ({phase})" for phase, change in each.items() if change)
    at = f"at QPS {limits} " if limits != "-" else ""
    return f"{at}by {told}" if told else ""


def _changed(here: Sequence[Pair]) -> str:
    """Return `+3ms at the median and +40ms at p99`; empty where nothing is known."""
    calm = [pair for pair in here if pair.is_calm]
    overloaded = "" if calm else ", with more load than they serve"
    for middle, tail in ((START_P50, START_P99), (P50, P99)):
        known = [(pair.spreads(middle), pair.spreads(tail)) for pair in calm or here]
        both = [(one, two) for one, two in known if one is not None and two is not None]
        if both:
            medians = differences([one for one, _ in both])
            tails = differences([two for _, two in both])
            told = f"{medians} at the median and {tails} at p99"
            return f"{told}{_until_running(calm or here)}{overloaded}"
    return ""


def _until_running(here: Sequence[Pair]) -> str:
    """Return what becomes of the time until the API shows a pod running, where that is known."""
    known = [both for pair in here if (both := pair.spreads(RUNNING_P99)) is not None]
    return f", until Running in the API by {differences(known)} at p99" if known else ""
