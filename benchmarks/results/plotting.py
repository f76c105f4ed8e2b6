"""Rows as plots: which lines there are, and what they are called.

Rows that differ in more than their persistence and its batching are told apart into plots of their
own, one for each context, where one plot could not hold all lines.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias, TypeVar

from benchmarks.results.merging import Merged, Spread
from benchmarks.results.naming import Naming
from benchmarks.results.quantities import Form, number, text
from benchmarks.results.rows import Setting, Store
from simulator.core.instants import Duration
from simulator.core.plurals import counted
from simulator.ports import Durability
from simulator.reports.plots.lines import (
    COLORS,
    NARROW,
    WIDE,
    Line,
    LinePlot,
    Point,
    draw_lines,
    swatch,
)

K = TypeVar("K")

Drawn: TypeAlias = Iterator[tuple[LinePlot, str]]
"""Plots, each with its caption."""

PLOTS_MAX: Final = 4
"""Contexts that are drawn; the table has all of them."""
_ANY: Final = Setting(persistence="", store=Store.FILE)


@dataclass(frozen=True, slots=True)
class Series:
    """What one line is drawn from, its name and its look."""

    name: str
    rows: tuple[Merged, ...]
    style: int


@dataclass(frozen=True, slots=True)
class Legend:
    """A line's name beside its look."""

    swatch: str
    name: str


@dataclass(frozen=True, slots=True)
class Figure:
    """A plot for the page.

    Attributes:
        caption: What one sees, in a sentence.
        drawings: The plot for a broad and for a slim page.
    """

    title: str
    caption: str
    drawings: tuple[str, ...]
    legend: tuple[Legend, ...]


def nanoseconds_text(nanoseconds: float) -> str:
    """Return a number of nanoseconds as a duration."""
    return text(nanoseconds, Form.DURATION)


def context(setting: Setting) -> Setting:
    """Return a setting without its persistence, its store and how it gathers writes."""
    return replace(
        setting,
        persistence=_ANY.persistence,
        store=_ANY.store,
        options=(),
        commit_batch=None,
        flush_period=None,
        bulk_bind=None,
    )


def way(setting: Setting) -> Setting:
    """Return only the persistence of a setting, its store and how it gathers writes."""
    return replace(
        setting,
        clock=_ANY.clock,
        durability=Durability.FULL,
        qps=None,
        burst=None,
        added_fsync=Duration(0),
        nodes=1,
        existing=0,
        clients=None,
    )


def grouped(merged: Iterable[Merged], key: Callable[[Merged], K]) -> dict[K, list[Merged]]:
    """Return rows by a key, both in their order."""
    found: dict[K, list[Merged]] = {}
    for one in merged:
        found.setdefault(key(one), []).append(one)
    return found


def by_context(
    merged: Sequence[Merged], of: Callable[[Merged], Setting]
) -> dict[Setting, list[Merged]]:
    """Return rows by their contexts; those without a client of the API stand in each that fits.

    Args:
        merged: Rows.
        of: Their contexts.
    """
    contexts = dict.fromkeys(map(of, merged))
    limited = [one for one in contexts if one.qps is not None]
    covered = {_without_client(one) for one in limited}
    kept = [one for one in contexts if one.qps is not None or _without_client(one) not in covered]
    return {one: [each for each in merged if _fits(of(each), one)] for one in kept}


def _fits(own: Setting, one: Setting) -> bool:
    return own == one or (own.qps is None and _without_client(own) == _without_client(one))


def _without_client(setting: Setting) -> Setting:
    return replace(setting, qps=None, burst=None, clients=None)


def faceted(
    merged: Sequence[Merged], series: Callable[[Setting], Setting]
) -> Iterator[tuple[str, list[Series]]]:
    """Iterate over plots: the context in words, and what its lines are drawn from.

    Args:
        merged: Rows that have what is drawn.
        series: Reduces a setting to what is one line.
    """
    settings = dict.fromkeys(series(one.setting) for one in merged)
    if len(settings) <= COLORS:
        yield "", _series(merged, series, Naming(settings), list(settings))
        return
    contexts = by_context(merged, lambda one: context(series(one.setting)))
    naming = Naming(contexts)
    ways = list(dict.fromkeys(way(setting) for setting in settings))
    for each, rows in list(contexts.items())[:PLOTS_MAX]:
        lines = _series(rows, lambda one: way(series(one)), Naming(ways), ways)
        yield naming.name(each) + share_note(PLOTS_MAX, len(contexts)), lines[:COLORS]


def share_note(shown: int, all_: int) -> str:
    """Return that not everything is drawn; empty if it is."""
    return f" ({shown} of {all_}, the table has all)" if all_ > shown else ""


def _series(
    merged: Sequence[Merged],
    series: Callable[[Setting], Setting],
    naming: Naming,
    ordered: Sequence[Setting],
) -> list[Series]:
    """Return lines; the same way has the same look in every plot."""
    lines = grouped(merged, lambda one: series(one.setting))
    return [
        Series(naming.name(setting), tuple(rows), ordered.index(setting) % COLORS)
        for setting, rows in lines.items()
    ]


def point(x: float, spread: Spread, scale: float = 1.0) -> Point:
    """Return a point with its spread."""
    return Point(x, spread.median * scale, spread.least * scale, spread.most * scale)


def line_figure(plot: LinePlot, number_: int, caption: str) -> Figure:
    """Return the figure of a plot; its number makes the ids of its drawings."""
    return Figure(
        plot.title,
        caption,
        tuple(draw_lines(plot, size, f"plot{number_}") for size in (WIDE, NARROW)),
        tuple(Legend(swatch(line.style), line.name) for line in plot.lines),
    )


def described(lines: Sequence[Line], x: Callable[[float], str], y: Callable[[float], str]) -> str:
    """Return what lines show, end by end, for those who do not see them."""
    parts = []
    for one in lines:
        first, last = one.points[0], one.points[-1]
        parts.append(f"{one.name}: {y(first.y)} at {x(first.x)}, {y(last.y)} at {x(last.x)}")
    return f"{counted(len(lines), 'line')}. {'; '.join(parts)}."


def last_phase(merged: Sequence[Merged]) -> list[Merged]:
    """Return the rows of the last phase that all settings have come to, or most of them."""
    counts = Counter(one.phase for one in merged)
    most = max(counts.values())
    phase = [phase for phase, count in counts.items() if count == most][-1]
    return [one for one in merged if one.phase == phase]


def titled(title: str, words: str) -> str:
    """Return a title with the context of its plot."""
    return f"{title}, {words}" if words else title


def rate_text(rate: float) -> str:
    """Return a rate for an axis."""
    return number(rate)
