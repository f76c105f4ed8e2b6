"""Repetitions of one setting and phase, taken together: the median, and from where to where.

The spread is that of all repetitions, least to most: with the few repetitions that a benchmark has,
quartiles would say less than they seem to. A difference is beyond the noise when the repetitions of
both sides do not overlap and their medians are further apart than either side is wide.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

from benchmarks.results.latencies import Latencies
from benchmarks.results.quantities import Quantity
from benchmarks.results.rows import Measure, Row, Setting
from simulator.ports import Durability

_LOCAL: Final = ("checkpoint", "database", "dual-write")
"""Stand before the others, in this order."""
_CLASSES: Final = tuple(Durability)
_ENOUGH: Final = 2
"""Repetitions of each side below which nobody can tell a difference from noise."""


@dataclass(frozen=True, slots=True)
class Spread:
    """One figure over repetitions.

    Attributes:
        count: Repetitions that gave it.
    """

    median: float
    least: float
    most: float
    count: int

    @property
    def width(self) -> float:
        """How far the repetitions are apart."""
        return self.most - self.least


@dataclass(frozen=True, slots=True)
class Merged:
    """All repetitions of one phase under one setting, in order."""

    setting: Setting
    phase: str
    rows: tuple[Row, ...]

    def is_bound(self, quantity: Quantity) -> bool:
        """Tell whether a figure is only a lower bound, in one of the repetitions at least."""
        return any(map(quantity.is_bound, self.rows))

    def spread(self, figure: Callable[[Row], float | None]) -> Spread | None:
        """Return a figure over the repetitions; None where none of them has it."""
        return spread([figure(row) for row in self.rows])

    def latencies(self, measure: Measure) -> Latencies | None:
        """Return the latencies of all repetitions; None where none of them has any."""
        found = [row.latencies[measure] for row in self.rows if measure in row.latencies]
        if not any(map(len, found)):
            return None
        together = Latencies()
        for latencies in found:
            together.add(latencies)
        return together


def merge(rows: Iterable[Row]) -> tuple[Merged, ...]:
    """Take the repetitions of rows together, whatever the order in which they were measured.

    One that was cut by Ctrl-C stands for its setting and phase only where no other does: its pods
    are fewer, and were cut in the middle.

    Returns:
        Phase by phase as those came, and in each what is to be compared beside each other: the
        same circumstances, and in them `checkpoint`, `database` and the others.
    """
    groups: dict[tuple[Setting, str], list[Row]] = {}
    phases: dict[str, int] = {}
    for row in rows:
        groups.setdefault((row.setting, row.phase), []).append(row)
        phases.setdefault(row.phase, len(phases))
    merged = [
        Merged(setting, phase, tuple([row for row in group if not row.interrupted] or group))
        for (setting, phase), group in groups.items()
    ]
    return tuple(sorted(merged, key=lambda one: (phases[one.phase], _place(one.setting))))


def _place(setting: Setting) -> tuple[object, ...]:
    """Return where a setting stands among others: circumstances, way, batch, client."""
    persistence = setting.persistence
    local = _LOCAL.index(persistence) if persistence in _LOCAL else len(_LOCAL)
    return (
        setting.clock.value,
        setting.nodes,
        setting.existing,
        setting.added_fsync,
        _CLASSES.index(setting.durability),
        local,
        persistence,
        setting.store.value,
        setting.options,
        setting.qps or 0,
        setting.burst or 0,
        setting.flush_period or 0,
        setting.bulk_bind or 0,
        setting.commit_batch or 0,
        setting.clients or 0,
    )


def spread(figures: Sequence[float | None]) -> Spread | None:
    """Return the spread of the figures that are known; None when none is."""
    known = [figure for figure in figures if figure is not None]
    if not known:
        return None
    return Spread(median(known), min(known), max(known), len(known))


def is_beyond_noise(first: Spread, second: Spread) -> bool | None:
    """Tell whether two spreads differ by more than the noise; None when they are of too few."""
    if min(first.count, second.count) < _ENOUGH:
        return None
    apart = first.most < second.least or second.most < first.least
    difference = abs(first.median - second.median)
    return apart and difference > max(first.width, second.width)
