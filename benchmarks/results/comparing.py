"""Two runs against each other: rows of the same setting and phase, figure by figure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from benchmarks.results.merging import Merged, Spread, is_beyond_noise, merge
from benchmarks.results.noise_text import incomplete_line, noise_doubt
from benchmarks.results.quantities import (
    ACHIEVED,
    CALLS_EACH,
    CPU,
    FSYNCS_EACH,
    P50,
    P99,
    START_P99,
    WRITTEN_EACH,
    Better,
    Quantity,
)
from benchmarks.results.rows import Result, Setting
from simulator.core.plurals import counted

COMPARED: Final = (
    *(ACHIEVED, P50, P99, START_P99),
    *(FSYNCS_EACH, WRITTEN_EACH, CALLS_EACH, CPU),
)
"""The figures that are compared."""
_SAME_LOAD: Final = 0.05
"""Share by which the numbers of pods may differ."""


@dataclass(frozen=True, slots=True)
class Change:
    """One figure on both sides.

    Attributes:
        is_beyond: Whether the difference is larger than the noise; None where one side has too few
            repetitions to tell.
        are_bounds: Whether the figure of the first, of the second, is only a lower bound.
    """

    quantity: Quantity
    first: Spread
    second: Spread
    is_beyond: bool | None
    are_bounds: tuple[bool, bool] = (False, False)

    @property
    def ratio(self) -> float | None:
        """The second over the first; 1 where both are 0, None where only the first is."""
        if self.first.median:
            return self.second.median / self.first.median
        return None if self.second.median else 1.0

    @property
    def worse_by(self) -> float:
        """The share by which the second is worse; negative where it is better."""
        ratio = self.ratio
        if ratio is None:
            return float("inf") if self.quantity.better is Better.LESS else float("-inf")
        return ratio - 1 if self.quantity.better is Better.LESS else 1 - ratio


@dataclass(frozen=True, slots=True)
class Matched:
    """What both runs have measured."""

    setting: Setting
    phase: str
    changes: tuple[Change, ...]

    def change(self, quantity: Quantity) -> Change | None:
        """Return one figure; None where one of the sides lacks it."""
        return next((each for each in self.changes if each.quantity is quantity), None)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs.

    Attributes:
        matched: In the order of the first run.
        only_first, only_second: What the other one has not measured.
        warnings: What makes the figures of both hard to compare.
    """

    matched: tuple[Matched, ...]
    only_first: tuple[Merged, ...]
    only_second: tuple[Merged, ...]
    warnings: tuple[str, ...]

    def worse(self, limit: float) -> Iterator[tuple[Matched, Change]]:
        """Iterate over figures that are worse by more than a share, unless that is noise."""
        for matched in self.matched:
            for change in matched.changes:
                if change.worse_by > limit and change.is_beyond is not False:
                    yield matched, change


def compare(first: Result, second: Result) -> Comparison:
    """Compare two runs; the second is judged against the first."""
    ones = {(one.setting, one.phase): one for one in merge(first.rows)}
    others = {(one.setting, one.phase): one for one in merge(second.rows)}
    both = [(one, others[key]) for key, one in ones.items() if key in others]
    return Comparison(
        matched=tuple(_match(one, other) for one, other in both),
        only_first=tuple(one for key, one in ones.items() if key not in others),
        only_second=tuple(one for key, one in others.items() if key not in ones),
        warnings=(*_warnings(first, second), *_loads(both)),
    )


def _match(one: Merged, other: Merged) -> Matched:
    changes = []
    for quantity in COMPARED:
        first, second = one.spread(quantity.of), other.spread(quantity.of)
        if first is not None and second is not None:
            bounds = one.is_bound(quantity), other.is_bound(quantity)
            beyond = is_beyond_noise(first, second)
            changes.append(Change(quantity, first, second, beyond, bounds))
    return Matched(one.setting, one.phase, tuple(changes))


def _warnings(first: Result, second: Result) -> Iterator[str]:
    if first.machine != second.machine:
        yield "the machines differ: " + ", ".join(_different(_machine(first), _machine(second)))
    if first.profile != second.profile:
        yield f"the profiles differ ({first.name}, {second.name}), so the load is not the same"
    if first.seed != second.seed:
        yield f"the seeds differ ({first.seed}, {second.seed}), so the schedules do"
    versions = _different(first.versions, second.versions)
    if versions:
        yield f"the versions differ: {', '.join(versions)}"
    for side, result in (("first", first), ("second", second)):
        if line := incomplete_line(result):
            yield f"the {side}: {line}"
        if doubt := noise_doubt(result.noise, result.machine):
            yield f"the {side}: {doubt}"


def _loads(both: Sequence[tuple[Merged, Merged]]) -> Iterator[str]:
    """Tell where the loads differ though the profiles may not: by `--seconds`, or after a ramp."""
    other = [
        one
        for one, other in both
        if _is_apart(one.spread(lambda row: row.offered), other.spread(lambda row: row.offered))
    ]
    if other:
        phases = ", ".join(dict.fromkeys(one.phase for one in other))
        rows = counted(len(both), "row")
        yield f"another number of pods came in {len(other)} of {rows} ({phases})"


def _is_apart(first: Spread | None, second: Spread | None) -> bool:
    if first is None or second is None:
        return False
    return abs(first.median - second.median) > _SAME_LOAD * max(first.median, second.median)


def _machine(result: Result) -> Mapping[str, str]:
    machine = result.machine
    return {
        "processor": machine.processor,
        "CPUs": str(machine.cpus),
        "system": machine.system,
        "memory": str(machine.memory),
        "file system": str(machine.filesystem),
    }


def _different(first: Mapping[str, str], second: Mapping[str, str]) -> list[str]:
    """Return `python 3.11 against 3.12` for each entry that differs."""
    names = dict.fromkeys([*first, *second])
    return [
        f"{name} {first.get(name, 'none')} against {second.get(name, 'none')}"
        for name in names
        if first.get(name) != second.get(name)
    ]
