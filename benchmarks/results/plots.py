"""The plots of a run; each only where the rows carry it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

from benchmarks.results.course_plots import course
from benchmarks.results.curves import achieved, batching, growth, over_load
from benchmarks.results.distributions import over_time, percentiles
from benchmarks.results.merging import Merged
from benchmarks.results.plotting import (
    Figure,
    Legend,
    line_figure,
)
from benchmarks.results.side_by_side import side_by_side
from simulator.reports.plots.bars import BarPlot, draw_bars
from simulator.reports.plots.lines import NARROW, WIDE


def plots(merged: Sequence[Merged], first_number: int = 1) -> list[Figure]:
    """Return the plots of rows, in the order in which they are read.

    Args:
        merged: The rows.
        first_number: Of the first plot, since ids on a page are all different.
    """
    if not merged:
        return []
    numbers = count(first_number)
    found = [_bar_figure(plot, legend, next(numbers)) for plot, legend in side_by_side(merged)]
    for make in (growth, over_load, achieved, batching, percentiles, over_time, course):
        found += [line_figure(plot, next(numbers), caption) for plot, caption in make(merged)]
    return found


def _bar_figure(plot: BarPlot, legend: tuple[Legend, ...], number: int) -> Figure:
    drawings = tuple(draw_bars(plot, size, f"plot{number}") for size in (WIDE, NARROW))
    has_lines = any(bar.has_spread for group in plot.groups for bar in group.bars)
    caption = "The thin line reaches from the least to the most." if has_lines else ""
    return Figure(plot.title, caption, drawings, legend)
