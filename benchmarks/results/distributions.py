"""How latencies are distributed within a phase, and how the rate went in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from benchmarks.results.curves import latency_axis
from benchmarks.results.merging import Merged, Spread, spread
from benchmarks.results.plotting import (
    Drawn,
    Series,
    described,
    faceted,
    last_phase,
    nanoseconds_text,
    point,
    rate_text,
    titled,
)
from benchmarks.results.rows import Measure
from simulator.reports.plots.lines import Axis, Line, LinePlot

_PERCENTS: Final = (
    *(0.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 75.0, 80.0, 85.0, 90.0, 92.5, 95.0, 97.5),
    *(98.0, 98.5, 99.0, 99.25, 99.5, 99.75, 99.9, 99.95, 99.99, 99.995, 99.999),
)
_WHOLE: Final = 100.0
_SECONDS_MIN: Final = 3
_SECONDS: Final = Axis("seconds from the start, without warm-up", "{:g}".format)


def percentiles(merged: Sequence[Merged]) -> Drawn:
    """Draw every percentile, in the way of HdrHistogram: the rarer, the further right."""
    here = last_phase(merged)
    for measure in (Measure.START, Measure.ADMISSION):
        known = [one for one in here if one.latencies(measure) is not None]
        if not known:
            continue
        ticks = (1.0, 2.0, 10.0, 100.0, 1_000.0, 10_000.0, 100_000.0)
        x = Axis("percentile", _percent_text, is_log=True, ticks=ticks)
        what = "start of the container" if measure is Measure.START else "durable admission"
        title = f"Percentiles of the latency to the {what}, {here[0].phase}"
        for words, series in faceted(known, lambda setting: setting):
            lines = tuple(_percentile_line(one, measure) for one in series)
            about = described(lines, _percent_text, nanoseconds_text)
            plot = LinePlot(
                titled(title, words),
                about,
                x,
                latency_axis("from the scheduled start"),
                lines,
                marks=False,
            )
            yield plot, "Each step to the right is a latency that fewer pods exceed."
        return


def _percentile_line(series: Series, measure: Measure) -> Line:
    latencies = series.rows[0].latencies(measure)
    if latencies is None:
        return Line(series.name, (), series.style)
    known = [one for one in _PERCENTS if (_WHOLE - one) * len(latencies) >= _WHOLE]
    values = latencies.percentiles(known)
    points = tuple(
        point(_WHOLE / (_WHOLE - percent), Spread(value, value, value, 1))
        for percent, value in zip(known, values, strict=True)
    )
    return Line(series.name, points, series.style)


def _percent_text(rarity: float) -> str:
    return f"{_WHOLE - _WHOLE / rarity:g}%"


def over_time(merged: Sequence[Merged]) -> Drawn:
    """Draw how many pods were served in each second."""
    here = [one for one in last_phase(merged) if _whole_seconds(one) >= _SECONDS_MIN]
    if not here:
        return
    title = f"Rate over time, {here[0].phase}"
    for words, series in faceted(here, lambda setting: setting):
        lines = tuple(map(_time_line, series))
        plot = LinePlot(
            titled(title, words),
            described(lines, "second {:g}".format, rate_text),
            _SECONDS,
            Axis("served, pods per second", rate_text),
            lines,
            marks=False,
        )
        yield plot, "A dip is a stall; median of the repetitions in each second."


def _whole_seconds(one: Merged) -> int:
    """Return how many seconds all repetitions have; one of which a part is cut does not count."""
    return min(min(len(row.served_each_second), int(row.elapsed)) for row in one.rows)


def _time_line(series: Series) -> Line:
    one = series.rows[0]
    length = _whole_seconds(one)
    points = []
    for second in range(length):
        found = spread([row.served_each_second[second] for row in one.rows])
        if found is not None:
            points.append(point(second + 1, Spread(found.median, found.median, found.median, 1)))
    return Line(series.name, tuple(points), series.style)
