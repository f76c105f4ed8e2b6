"""Persistences beside each other, under each load and in each context."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Final

from benchmarks.results.merging import Merged
from benchmarks.results.naming import Naming
from benchmarks.results.pairs import keeps_up, rate_steps
from benchmarks.results.plotting import (
    Legend,
    by_context,
    context,
    grouped,
    last_phase,
    share_note,
    way,
)
from benchmarks.results.quantities import (
    ACHIEVED,
    P99,
    RUNNING_P99,
    START_P99,
    Quantity,
    text,
)
from benchmarks.results.rows import Setting
from simulator.reports.plots.bars import Bar, BarGroup, BarPlot, bar_swatch
from simulator.reports.plots.lines import COLORS

_GROUPS_MAX: Final = 12
"""Of bars, in one plot."""


def side_by_side(merged: Sequence[Merged]) -> Iterator[tuple[BarPlot, tuple[Legend, ...]]]:
    """Draw the persistences beside each other, under each load and in each context.

    Of the steps of a ramp, which have lines of their own, only one is drawn so.
    """
    if len(rate_steps(merged)) == len(merged):
        merged = last_phase(merged)
    every = list(dict.fromkeys(way(one.setting) for one in merged))
    ways = _chosen(every)
    naming = Naming(ways)
    styles = {each: style for style, each in enumerate(ways)}
    known = [one for one in (START_P99, RUNNING_P99) if any(map(_has(one), merged))] or [P99]
    compared = [(one, f"Side by side: {one.about}") for one in known]
    if not all(map(keeps_up, merged)):
        compared.append((ACHIEVED, "Side by side: pods served per second"))
    for quantity, title in compared:
        shown = merged
        if quantity is RUNNING_P99:
            shown = [one for one in merged if one.setting.shows_running]
        groups, all_ = _bar_groups(shown, quantity, styles)
        used = dict.fromkeys(bar.style for group in groups for bar in group.bars)
        names = {style: naming.name(each) for each, style in styles.items()}
        legend = tuple(Legend(bar_swatch(style), names[style]) for style in sorted(used))
        if any(len(group.bars) > 1 for group in groups):
            about = "; ".join(
                f"{group.name}: "
                + ", ".join(f"{names[bar.style]} {bar.text}" for bar in group.bars)
                for group in groups
            )
            axis = _axis(shown, groups)
            figures = partial(text, form=quantity.form)
            notes = share_note(len(ways), len(every)) or share_note(len(groups), all_)
            yield BarPlot(title + notes, f"{about}.", axis, figures, groups), legend


def _axis(merged: Sequence[Merged], groups: Sequence[BarGroup]) -> str:
    """Return what a bar and its line are; no line is drawn where there is nothing to span."""
    if any(bar.has_spread for group in groups for bar in group.bars):
        return "median, least to most"
    return "median" if any(len(one.rows) > 1 for one in merged) else "of one repetition"


def _has(quantity: Quantity) -> Callable[[Merged], bool]:
    return lambda one: one.spread(quantity.of) is not None


def _chosen(ways: Sequence[Setting]) -> list[Setting]:
    """Return as many ways as there are colors, of each persistence the first one if possible."""
    firsts = {each.persistence: each for each in reversed(ways)}
    ordered = sorted(ways, key=lambda each: firsts[each.persistence] is not each)[:COLORS]
    return [each for each in ways if each in ordered]


def _bar_groups(
    merged: Sequence[Merged], quantity: Quantity, styles: dict[Setting, int]
) -> tuple[tuple[BarGroup, ...], int]:
    """Return the first groups, and how many there are."""
    places = [
        (phase, each, here)
        for phase, rows in grouped(merged, lambda one: one.phase).items()
        for each, here in by_context(rows, lambda one: context(one.setting)).items()
    ]
    naming = Naming(each for _, each, _ in places)
    groups = []
    for phase, each, rows in places[:_GROUPS_MAX]:
        words = naming.name(each)
        bars = []
        for one in rows:
            found, style = one.spread(quantity.of), styles.get(way(one.setting))
            if found is not None and style is not None:
                bound = "≥" if one.is_bound(quantity) else ""
                shown = bound + text(found.median, quantity.form)
                bars.append(Bar(found.median, found.least, found.most, shown, style))
        if bars:
            groups.append(BarGroup(", ".join(filter(None, [phase, words])), tuple(bars)))
    return tuple(groups), len(places)
