"""Groups of horizontal bars, each with its number and its spread."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from simulator.reports.plots.lines import Size, drawing
from simulator.reports.plots.scales import linear_scale
from simulator.reports.plots.svg import element, label, line

_BAR: Final = 16
_ROW: Final = 22
_HEAD: Final = 24
_FOOT: Final = 44
_CHARACTER: Final = 6.6


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar, and from where to where it may end."""

    value: float
    least: float
    most: float
    text: str
    style: int

    @property
    def has_spread(self) -> bool:
        """Whether a line is drawn from where to where it may end."""
        return self.most > self.least


@dataclass(frozen=True, slots=True)
class BarGroup:
    """Bars under one name."""

    name: str
    bars: tuple[Bar, ...]


@dataclass(frozen=True, slots=True)
class BarPlot:
    """A plot; see `LinePlot`.

    Attributes:
        axis: What the bars show, with its unit.
        text: How a number is written at the axis.
    """

    title: str
    description: str
    axis: str
    text: Callable[[float], str]
    groups: tuple[BarGroup, ...]


def draw_bars(plot: BarPlot, size: Size, id_: str) -> str:
    """Return a plot as SVG, as high as its bars need; `id_` begins the ids in it."""
    bars = [bar for group in plot.groups for bar in group.bars]
    height = sum(_HEAD + _ROW * len(group.bars) for group in plot.groups) + _FOOT
    room = round(max(len(bar.text) for bar in bars) * _CHARACTER) + 12
    scale = linear_scale([bar.most for bar in bars], 8, size.width - room, steps=4)
    bottom = height - _FOOT + 6
    parts = [line(scale.at(tick), 0, scale.at(tick), bottom, "grid") for tick in scale.ticks]
    top = 0.0
    for group in plot.groups:
        parts.append(label(group.name, 8, top + 17, "group"))
        top += _HEAD
        for bar in group.bars:
            parts += _bar(bar, scale.at, top)
            top += _ROW
    parts.append(line(8, bottom, scale.end, bottom, "axis"))
    last = float("-inf")
    for tick in scale.ticks:
        text, at = plot.text(tick), scale.at(tick)
        half = len(text) * _CHARACTER / 2
        if at - half > last + 4:
            parts.append(label(text, max(at, half), bottom + 15, "tick", text_anchor="middle"))
            last = at + half
    parts.append(label(plot.axis, scale.at(scale.most / 2), bottom + 33, "name middle"))
    return drawing(plot.title, plot.description, Size(size.width, height, size.name), id_, parts)


def bar_swatch(style: int) -> str:
    """Return a short bar, for a legend."""
    box = element("rect", x=2, y=1, width=24, height=12, class_=f"bar s{style}")
    return element("svg", box, class_="plot swatch", viewBox="0 0 28 14", aria_hidden="true")


def _bar(bar: Bar, at: Callable[[float], float], top: float) -> list[str]:
    start, end = at(0), at(bar.value)
    parts = [
        element(
            "rect",
            x=start,
            y=top,
            width=max(end - start, 1),
            height=_BAR,
            class_=f"bar s{bar.style}",
        )
    ]
    if bar.has_spread:
        middle = top + _BAR / 2
        ends = at(bar.least), middle, at(bar.most), middle
        parts += [line(*ends, "halo"), line(*ends, "whisker")]
    right = max(end, at(bar.most)) + 5
    parts.append(label(bar.text, right, top + _BAR - 4, "value"))
    return parts
