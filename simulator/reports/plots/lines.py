"""Lines over two axes, with the spread of each point."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from simulator.reports.plots.scales import Scale, linear_scale, log_scale
from simulator.reports.plots.svg import element, label, line, marker, words

COLORS: Final = 8
"""Lines that can be told apart in one plot."""

_CHARACTER: Final = 6.6
_TICK_GAP: Final = 26


@dataclass(frozen=True, slots=True)
class Point:
    """A point, and from where to where it may be."""

    x: float
    y: float
    least: float
    most: float


@dataclass(frozen=True, slots=True)
class Line:
    """Points in the order of `x`.

    Attributes:
        style: Number of its color, dash and marker.
    """

    name: str
    points: tuple[Point, ...]
    style: int


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis.

    Attributes:
        label: What it shows, with its unit.
        text: How a number is written at it.
        is_log: Whether it is logarithmic.
        ticks: Numbers that are written; None to choose them.
    """

    label: str
    text: Callable[[float], str]
    is_log: bool = False
    ticks: tuple[float, ...] | None = None


@dataclass(frozen=True, slots=True)
class LinePlot:
    """A plot.

    Attributes:
        title: What it shows.
        description: The same in a sentence or two, for those who do not see it.
        marks: Whether points are marked; not where there are very many.
        diagonal: Whether a line shows where both axes are equal.
    """

    title: str
    description: str
    x: Axis
    y: Axis
    lines: tuple[Line, ...]
    marks: bool = True
    diagonal: bool = False


@dataclass(frozen=True, slots=True)
class Size:
    """Of a drawing, in pixels."""

    width: int
    height: int
    name: str


WIDE: Final = Size(760, 360, "broad")
NARROW: Final = Size(352, 300, "slim")


def draw_lines(plot: LinePlot, size: Size, id_: str) -> str:
    """Return a plot as SVG; `id_` begins the ids in it."""
    points = [point for each in plot.lines for point in each.points]
    lows_and_highs = [end for point in points for end in (point.least, point.most)]
    y = _scale(plot.y, lows_and_highs, size.height - 44, 28)
    texts = [plot.y.text(tick) for tick in y.ticks]
    left = 12 + round(max(map(len, texts)) * _CHARACTER) + 6
    x = _scale(plot.x, [point.x for point in points], left, size.width - 16)
    parts = [*_grid(plot, size, x, y)]
    if plot.diagonal:
        end = min(x.most, y.most)
        parts.append(line(x.at(0), y.at(0), x.at(end), y.at(end), "guide"))
    for each in plot.lines:
        parts += _line(each, x, y, marks=plot.marks)
    return drawing(plot.title, plot.description, size, id_, parts)


def drawing(title: str, description: str, size: Size, id_: str, parts: Sequence[str]) -> str:
    """Return a whole drawing with its text for those who do not see it."""
    names = [f"{id_}-{size.name}-title", f"{id_}-{size.name}-desc"]
    return element(
        "svg",
        element("title", words(title), id=names[0]),
        element("desc", words(description), id=names[1]),
        *parts,
        class_=f"plot {size.name}",
        viewBox=f"0 0 {size.width} {size.height}",
        role="img",
        aria_labelledby=" ".join(names),
    )


def swatch(style: int) -> str:
    """Return a short line with its marker, for a legend."""
    parts = [line(0, 7, 28, 7, f"line s{style}"), marker(style, 14, 7, f"mark s{style}")]
    return element("svg", *parts, class_="plot swatch", viewBox="0 0 28 14", aria_hidden="true")


def _scale(axis: Axis, values: Sequence[float], start: float, end: float) -> Scale:
    room = abs(end - start)
    count = max(int(room // _TICK_GAP / (1 if start > end else 3)), 2)
    if axis.is_log:
        scale = log_scale(values, start, end, ticks_max=count)
    else:
        scale = linear_scale(values, start, end, steps=min(count, 5))
    if axis.ticks is None:
        return scale
    ticks = tuple(tick for tick in axis.ticks if scale.least <= tick <= scale.most or tick <= 0)
    return Scale(scale.least, scale.most, start, end, ticks, scale.is_log)


def _grid(plot: LinePlot, size: Size, x: Scale, y: Scale) -> list[str]:
    bottom, right = y.start, x.end
    parts = [label(plot.y.label, 0, 12, "name")]
    for tick in y.ticks:
        at = y.at(tick)
        parts.append(line(x.start, at, right, at, "grid"))
        parts.append(label(plot.y.text(tick), x.start - 6, at + 4, "tick", text_anchor="end"))
    last = float("-inf")
    for tick in x.ticks:
        at, text = x.at(tick), plot.x.text(tick)
        half = len(text) * _CHARACTER / 2
        parts.append(line(at, y.end, at, bottom, "grid"))
        if at - half > last + 4:
            place = min(max(at, half + 1), size.width - half - 1)
            parts.append(label(text, place, bottom + 16, "tick", text_anchor="middle"))
            last = at + half
    parts.append(line(x.start, bottom, right, bottom, "axis"))
    middle = (x.start + right) / 2
    parts.append(label(plot.x.label, middle, bottom + 36, "name", text_anchor="middle"))
    return parts


def _line(one: Line, x: Scale, y: Scale, *, marks: bool) -> list[str]:
    style = f"s{one.style}"
    parts = []
    if len(one.points) > 1:
        places = " ".join(f"{x.at(each.x):.1f},{y.at(each.y):.1f}" for each in one.points)
        parts.append(element("polyline", points=places, class_=f"line {style}"))
    for point in one.points:
        at, low, high = x.at(point.x), y.at(point.least), y.at(point.most)
        if point.most > point.least:
            parts.append(line(at, low, at, high, f"spread {style}"))
        if marks:
            parts.append(marker(one.style, at, y.at(point.y), f"mark {style}"))
    return parts
