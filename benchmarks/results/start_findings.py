"""What a persistence adds to a pod's start, in a sentence for each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, TypeAlias

from benchmarks.results.merging import Merged
from benchmarks.results.naming import KNOBS, client_limits, options_words
from benchmarks.results.pairs import Pair, comparable, compared, pairs, rate_steps
from benchmarks.results.places import where
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
_PHASES_MAX: Final = 3
"""Phases that are told one by one; of more, as those of a ramp, the differences are a range."""
_PARTS_MAX: Final = 2
"""Limits and phases of which everything is told; of more only the tail is."""
_LOCAL: Final = ("checkpoint", "database")
"""Persistences without the API, the one to compare with first."""

_AROUND: Final = tuple(
    knob
    for knob in KNOBS
    if knob.header in {"DURABILITY", "ADDED-FSYNC", "EXISTING", "NODES", "CLOCK"}
)
"""What rows are under beside their client's limits, as `_around` has it."""

_Options: TypeAlias = tuple[tuple[str, str], ...]
_Way: TypeAlias = tuple[str, Store, _Options]


def added_to_the_start(merged: Sequence[Merged]) -> Iterator[str]:
    """Say what binding through the API, or in a database, adds to a pod's start."""
    names = list(dict.fromkeys(one.setting.persistence for one in merged))
    local = next((name for name in _LOCAL if name in names), None)
    if local is None:
        return
    ways = dict.fromkeys(_way(one.setting) for one in merged if one.setting.persistence != local)
    for way in sorted(ways, key=_in_question_first):
        found = _compared(merged, local, way)
        parts = [_Part(limits, phase, here) for limits, phase, here in _parted(found)]
        known = [part for part in parts if part.is_known]
        if known:
            name = _name(found[0].second.setting, ways)
            yield f"Compared with {local}, {name} changes {_told(known)}{_ranges(known)}."


def _way(setting: Setting) -> _Way:
    return setting.persistence, setting.store, setting.options


def _compared(merged: Sequence[Merged], local: str, way: _Way) -> list[Pair]:
    """Return each row of a way beside the one without the API, both as little batched as can be.

    The least batch is that of each limit of the client by itself, since not every profile has all.
    """
    here = [one for one in merged if one.setting.persistence == local]
    first = here[0].setting.store
    here = _least_batched([one for one in here if one.setting.store is first], lambda _: None)
    there = [one for one in merged if _way(one.setting) == way]
    beside = pairs(
        [*here, *_least_batched(there, client_limits)],
        lambda one: one.persistence == local,
        lambda one: one.persistence != local,
        _around,
    )
    return [pair for pair in beside if pair.first.setting.qps in {None, pair.second.setting.qps}]


def _least_batched(merged: Sequence[Merged], by: Callable[[Setting], str | None]) -> list[Merged]:
    least: dict[str | None, tuple[int, int, int]] = {}
    for one in merged:
        sizes = _batch_sizes(one.setting)
        key = by(one.setting)
        least[key] = min(least.get(key, sizes), sizes)
    return [one for one in merged if _batch_sizes(one.setting) == least[by(one.setting)]]


def _ranges(parts: Sequence[_Part]) -> str:
    """Return over what the ranges are, where rows differ in more than what is told apart."""
    told = []
    for knob in _AROUND:
        words = _varying(parts, lambda pair, of=knob.words: of(pair.first.setting))  # type: ignore[misc]
        if words:
            told.append(" and ".join(words))
    phases = _varying(parts, lambda pair: pair.first.phase)
    if len(phases) > _PHASES_MAX:
        told.append(f"{len(phases)} phases")
    return f" (ranges are over {', '.join(told)})" if told else ""


def _varying(parts: Sequence[_Part], word: Callable[[Pair], str]) -> list[str]:
    """Return in what the pairs of a part differ, of all parts in which they do."""
    of_each = [dict.fromkeys(map(word, part.used)) for part in parts]
    return list(dict.fromkeys(one for words in of_each if len(words) > 1 for one in words))


def _name(setting: Setting, ways: Iterable[_Way]) -> str:
    notes = [options_words(setting)]
    if len({store for name, store, _ in ways if name == setting.persistence}) > 1:
        notes.append(f"on {setting.store.value}")
    if setting.flush_period:
        notes.append(f"flushPeriod {format_duration(setting.flush_period)}")
    told = ", ".join(note for note in notes if note)
    return f"{setting.persistence} ({told})" if told else setting.persistence


def _in_question_first(way: _Way) -> tuple[bool, bool, bool, _Options]:
    """Return the order of ways: what was asked about, what uses the API, the others."""
    persistence, store, options = way
    return persistence != _ASKED, store is not Store.API, store is Store.POSTGRESQL, options


def _batch_sizes(setting: Setting) -> tuple[int, int, int]:
    return setting.flush_period or 0, setting.bulk_bind or 1, setting.commit_batch or 1


def _around(setting: Setting) -> tuple[object, ...]:
    """Return what a persistence is measured under, its client apart."""
    return (
        *(setting.clock, setting.durability, setting.added_fsync),
        *(setting.nodes, setting.existing),
    )


def _parted(found: Sequence[Pair]) -> Iterator[tuple[str, str, list[Pair]]]:
    """Iterate over pairs by the client's limits and by phases; many phases are taken together."""
    for limits in dict.fromkeys(client_limits(pair.second.setting) for pair in found):
        here = [pair for pair in found if client_limits(pair.second.setting) == limits]
        phases = dict.fromkeys(pair.first.phase for pair in here)
        if len(phases) > _PHASES_MAX and (busiest := _busiest(here)):
            yield limits, f"{busiest[0].first.phase}, the highest load that both serve", busiest
        elif len(phases) == 1 or len(phases) > _PHASES_MAX:
            yield limits, "", here
        else:
            for phase in phases:
                yield limits, phase, [pair for pair in here if pair.first.phase == phase]


def _busiest(found: Sequence[Pair]) -> list[Pair]:
    """Return the pairs of the step of a ramp with the highest load at which all are calm."""
    steps = {one.phase for one in rate_steps([pair.first for pair in found])}
    by_phase: dict[str, list[Pair]] = {}
    for pair in found:
        by_phase.setdefault(pair.first.phase, []).append(pair)
    most = max(map(len, by_phase.values()))
    calm = [
        here
        for phase, here in by_phase.items()
        if phase in steps and len(here) == most and all(pair.is_calm for pair in here)
    ]
    return max(calm, key=lambda here: here[0].first.rows[0].offered_per_second, default=[])


class _Part:
    """What changes at one limit of the client, in one phase.

    Args:
        limits: `5/10`, or `-`.
        phase: Empty for all of them.
        here: Pairs; those that are not overloaded count, if there are any.

    Attributes:
        used: The pairs that count, and of which both the median and the tail can be compared.
    """

    def __init__(self, limits: str, phase: str, here: Sequence[Pair]) -> None:
        calm = [pair for pair in here if pair.is_calm]
        self.limits = limits
        self.phase = phase
        self.is_overloaded = not calm
        counted = calm or here
        has_starts = any(pair.spreads(START_P99) for pair in counted)
        middle, tail = (START_P50, START_P99) if has_starts else (P50, P99)
        self.used = comparable(comparable(counted, middle), tail)
        self.where = where(self.used, here, _AROUND)
        self.middle = compared(self.used, middle)
        self.tail = compared(self.used, tail)
        self.running = compared(filter(_show_running, self.used), RUNNING_P99)

    @property
    def is_known(self) -> bool:
        """Whether there is anything to tell."""
        return bool(self.used)


def _show_running(pair: Pair) -> bool:
    """Tell whether both sides of a pair write statuses to an API server, or to the same model."""
    return pair.first.setting.shows_running and pair.second.setting.shows_running


def _told(parts: Sequence[_Part]) -> str:
    """Return what changes: in full where that is short, and otherwise only the tail."""
    is_brief = len(parts) > _PARTS_MAX
    by_limits: dict[str, list[_Part]] = {}
    for part in parts:
        by_limits.setdefault(part.limits, []).append(part)
    told = []
    for limits, here in by_limits.items():
        at = f"at QPS {limits} " if limits != "-" else ""
        changes = " and ".join((_brief if is_brief else _full)(part) for part in here)
        told.append(f"{at}by {changes}")
    what = "a pod's start"
    if is_brief:
        what = "the p99 of a pod's start"
        if any(part.running.spreads for part in parts):
            what += ", in brackets until the API shows it running,"
    return f"{what} {'; '.join(told)}"


def _full(part: _Part) -> str:
    told = f"{differences(part.middle)} at the median and {differences(part.tail)} at p99"
    if part.running.spreads:
        told += f", until Running in the API by {differences(part.running)} at p99"
    return told + _where(part)


def _brief(part: _Part) -> str:
    running = f" ({differences(part.running)})" if part.running.spreads else ""
    return f"{differences(part.tail)}{running}{_where(part)}"


def _where(part: _Part) -> str:
    overloaded = ", with more load than they serve" if part.is_overloaded else ""
    only = f", compared only{part.where}" if part.where else ""
    return (f" in {part.phase}" if part.phase else "") + only + overloaded
