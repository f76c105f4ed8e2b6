"""Plots as SVG: numbers stand where they belong, and texts stay texts."""

from __future__ import annotations

import itertools
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

from simulator.reports.plots.bars import Bar, BarGroup, BarPlot, draw_bars
from simulator.reports.plots.lines import NARROW, WIDE, Axis, Line, LinePlot, Point, draw_lines
from simulator.reports.plots.scales import linear_scale, log_scale

HOSTILE = '<script>alert("x")</script>&\x07'
PLOT = LinePlot(
    title="Latency",
    description="One line.",
    x=Axis("offered", "{:g}".format),
    y=Axis("p99", "{:g}ms".format),
    lines=(Line("database", (Point(0, 0, 0, 0), Point(100, 50, 40, 60)), 0),),
)


def parsed(svg: str) -> ET.Element:
    return ET.fromstring(svg)  # noqa: S314 - what this program has drawn


def test_a_linear_axis_begins_at_0_and_has_round_numbers() -> None:
    scale = linear_scale([3, 18], 0, 104)

    assert scale.ticks == (0, 5, 10, 15)
    assert scale.at(0) == 0
    assert scale.at(18) == pytest.approx(100)
    assert scale.at(9) == pytest.approx(50)


def test_a_logarithmic_axis_gives_every_decade_the_same_room() -> None:
    scale = log_scale([1, 1_000], 0, 300)

    assert [scale.at(value) for value in (1, 10, 100, 1_000)] == pytest.approx([0, 100, 200, 300])
    assert set(scale.ticks) <= {1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000}


def test_a_logarithmic_axis_ends_at_1_2_or_5_and_puts_0_at_its_start() -> None:
    scale = log_scale([0, 30, 400], 10, 110)

    assert (scale.least, scale.most) == pytest.approx((20, 500))
    assert scale.at(0) == 10
    assert scale.at(500) == pytest.approx(110)
    assert scale.at(5_000) == pytest.approx(110)


@pytest.mark.parametrize("values", [[], [0.0], [5.0, 5.0], [1.0]])
def test_axes_of_nothing_or_of_one_number_have_room(values: list[float]) -> None:
    for scale in (linear_scale(values, 0, 100), log_scale(values, 0, 100)):
        assert scale.most > scale.least
        assert scale.ticks


def test_a_spread_reaches_from_the_least_to_the_most_around_its_marker() -> None:
    root = parsed(draw_lines(PLOT, WIDE, "p1"))
    (spread,) = [one for one in root.iter("line") if "spread" in one.get("class", "")]
    marks = [one for one in root.iter("circle") if "mark" in one.get("class", "")]
    low, high = float(spread.get("y1", "")), float(spread.get("y2", ""))

    assert len(marks) == 2
    assert high < float(marks[1].get("cy", "")) < low
    assert float(marks[1].get("cy", "")) == pytest.approx((low + high) / 2, abs=0.1)


def test_lines_differ_by_more_than_their_color() -> None:
    lines = tuple(Line(str(style), PLOT.lines[0].points, style) for style in range(5))
    root = parsed(draw_lines(replace(PLOT, lines=lines), WIDE, "p1"))
    shapes = {
        (one.tag, len(one.get("points", "").split()), one.get("points", "")[-3:])
        for one in root.iter()
        if "mark" in one.get("class", "")
    }

    assert len(shapes) >= 5


@pytest.mark.parametrize("size", [WIDE, NARROW])
def test_a_plot_is_an_image_with_a_title_and_a_description(size: object) -> None:
    assert size in {WIDE, NARROW}
    root = parsed(draw_lines(PLOT, WIDE if size is WIDE else NARROW, "p1"))
    title, description = root.find("title"), root.find("desc")

    assert root.get("role") == "img"
    assert title is not None
    assert title.text == "Latency"
    assert description is not None
    assert description.text == "One line."
    assert root.get("aria-labelledby") == f"{title.get('id')} {description.get('id')}"


def test_numbers_at_the_axis_do_not_run_into_each_other_on_a_slim_page() -> None:
    wide = tuple(Point(float(x), 1, 1, 1) for x in (1_000_000, 9_000_000))
    root = parsed(draw_lines(replace(PLOT, lines=(Line("a", wide, 0),)), NARROW, "p1"))
    middles = [
        (float(one.get("x", "")), len(one.text or ""))
        for one in root.iter("text")
        if one.get("class") == "tick" and one.get("text-anchor") == "middle"
    ]

    assert len(middles) > 1
    for (left, first), (right, second) in itertools.pairwise(middles):
        assert right - left > (first + second) / 2 * 6


def test_hostile_texts_stay_texts() -> None:
    plot = replace(PLOT, title=HOSTILE, description=HOSTILE, x=Axis(HOSTILE, "{:g}".format))
    bars = BarPlot(
        HOSTILE, HOSTILE, HOSTILE, "{:g}".format, (BarGroup(HOSTILE, (Bar(1, 1, 2, HOSTILE, 0),)),)
    )

    for svg in (draw_lines(plot, WIDE, "p1"), draw_bars(bars, WIDE, "p2")):
        root = parsed(svg)
        texts = {"".join(one.itertext()) for one in root.iter() if one.tag in {"text", "title"}}
        assert '<script>alert("x")</script>&\\x07' in texts
        assert list(root.iter("script")) == []


def test_bars_are_as_long_as_their_numbers() -> None:
    group = BarGroup("churn", (Bar(100, 90, 110, "100", 0), Bar(50, 50, 50, "50", 1)))
    root = parsed(
        draw_bars(BarPlot("Rate", "Two bars.", "rate", "{:g}".format, (group,)), WIDE, "p1")
    )
    first, second = (float(one.get("width", "")) for one in root.iter("rect"))
    (whisker,) = [one for one in root.iter("line") if one.get("class") == "whisker"]

    assert first == pytest.approx(2 * second, abs=0.2)
    length = float(whisker.get("x2", "")) - float(whisker.get("x1", ""))
    assert length == pytest.approx(first / 5, abs=0.2)
