"""How latencies, memory and size on disk went in a long phase, beside its rate over time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import ceil, log2
from statistics import median
from typing import Final

from benchmarks.results.curves import latency_axis
from benchmarks.results.merging import Merged
from benchmarks.results.plotting import (
    Drawn,
    Series,
    described,
    faceted,
    last_phase,
    titled,
)
from benchmarks.results.quantities import Form, text
from benchmarks.results.slices import Slice, Tracked, tracked_of
from simulator.reports.plots.lines import Axis, Line, LinePlot, Point

_TICKS: Final = 4
"""About so many are written at an axis of bytes."""
_POINTS_MIN: Final = 3


@dataclass(frozen=True, slots=True)
class _Panel:
    """One of the plots.

    Attributes:
        most: Up to where a point's line reaches, if it has one.
    """

    title: str
    caption: str
    axis: Axis
    tracked: Tracked
    most: Callable[[Slice], float | None] = lambda _: None


def _bytes_text(count: float) -> str:
    return text(count, Form.BYTES)


_FROM_ZERO: Final = "A flat line does not grow with time; median of the repetitions in each slice."
_PANELS: Final = (
    _Panel(
        "p99 of the durable admission over time",
        "Of the pods that were to come in each slice; the thin line reaches to the longest.",
        latency_axis("p99 from the scheduled start"),
        Tracked.P99,
        lambda one: one.longest,
    ),
    _Panel(
        "Memory over time",
        _FROM_ZERO,
        Axis("of the process with the nodes", _bytes_text),
        Tracked.MEMORY,
    ),
    _Panel(
        "Memory of the API server over time",
        _FROM_ZERO,
        Axis("of its process", _bytes_text),
        Tracked.SERVER_MEMORY,
    ),
    _Panel(
        "Size on disk over time",
        _FROM_ZERO,
        Axis("of checkpoints and databases, with their logs", _bytes_text),
        Tracked.STORED,
    ),
)


def course(merged: Sequence[Merged]) -> Drawn:
    """Draw each figure that the slices of the last phase have."""
    here = [one for one in last_phase(merged) if any(row.over_time for row in one.rows)]
    if not here:
        return
    for panel in _PANELS:
        # All settings are dealt out, so that each has its look in every panel.
        for words, series in faceted(here, lambda setting: setting):
            every = (_line(one, panel) for one in series)
            lines = tuple(line for line in every if len(line.points) >= _POINTS_MIN)
            if lines:
                yield _plot(panel, titled(f"{panel.title}, {here[0].phase}", words), lines)


def _plot(panel: _Panel, title: str, lines: tuple[Line, ...]) -> tuple[LinePlot, str]:
    axis = panel.axis
    if axis.text is _bytes_text:
        axis = replace(axis, ticks=byte_ticks(max(map(_highest, lines))))
    plot = LinePlot(
        title,
        described(lines, "second {:.0f}".format, axis.text),
        Axis("seconds from the start of the phase", "{:g}".format),
        axis,
        lines,
        marks=False,
    )
    return plot, panel.caption


def byte_ticks(most: float) -> tuple[float, ...]:
    """Return numbers from 0 up to one of bytes: a power of two apart, so that they are short."""
    step = 2.0 ** max(ceil(log2(max(most, 1) / _TICKS)), 0)
    return tuple(step * index for index in range(int(most // step) + 2))


def _line(series: Series, panel: _Panel) -> Line:
    return Line(series.name, tuple(_points(series.rows[0], panel)), series.style)


def _points(one: Merged, panel: _Panel) -> list[Point]:
    found = []
    for slices in zip(*(row.over_time for row in one.rows), strict=False):
        known = [value for each in slices if (value := tracked_of(each, panel.tracked)) is not None]
        if known:
            middle = float(median(known))
            most = max([middle, *(value for each in slices if (value := panel.most(each)))])
            found.append(Point(slices[0].end, middle, middle, most))
    return found


def _highest(line: Line) -> float:
    return max(point.most for point in line.points)
