"""Figures over something that rows differ in: load, batch, existing bindings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Final

from benchmarks.results.merging import Merged, spread
from benchmarks.results.pairs import rate_steps
from benchmarks.results.plotting import (
    Drawn,
    Series,
    described,
    faceted,
    grouped,
    last_phase,
    nanoseconds_text,
    point,
    rate_text,
    titled,
)
from benchmarks.results.quantities import (
    ACHIEVED,
    AT_RISK,
    CALLS_EACH,
    P50,
    P99,
    START_P99,
    Quantity,
)
from benchmarks.results.rows import Setting
from simulator.reports.plots.lines import Axis, Line, LinePlot


@dataclass(frozen=True, slots=True)
class Curve:
    """A figure drawn over something that a row has.

    Attributes:
        title: What is drawn, without its context.
        of: Where a row stands.
        series: Reduces a setting to what is one line.
    """

    title: str
    caption: str
    x: Axis
    y: Axis
    of: Callable[[Merged], float]
    quantity: Quantity
    series: Callable[[Setting], Setting]
    diagonal: bool = False


def draw_curves(merged: Sequence[Merged], curve: Curve) -> Drawn:
    """Draw a figure for each context; a line has at least two points."""
    known = [one for one in merged if one.spread(curve.quantity.of) is not None]
    lengths = {
        key: len({curve.of(one) for one in rows})
        for key, rows in grouped(known, lambda one: curve.series(one.setting)).items()
    }
    drawn = [one for one in known if lengths[curve.series(one.setting)] > 1]
    if not drawn:
        return
    for words, series in faceted(drawn, curve.series):
        lines = tuple(_line(one, curve) for one in series)
        about = described(lines, curve.x.text, curve.y.text)
        plot = LinePlot(
            titled(curve.title, words), about, curve.x, curve.y, lines, diagonal=curve.diagonal
        )
        yield plot, curve.caption


def _line(series: Series, curve: Curve) -> Line:
    points = []
    for x, here in sorted(grouped(series.rows, curve.of).items()):
        found = spread([curve.quantity.of(row) for one in here for row in one.rows])
        if found is not None:
            points.append(point(x, found))
    return Line(series.name, tuple(points), series.style)


def latency_axis(label: str) -> Axis:
    """Return an axis for latencies in nanoseconds."""
    return Axis(label, nanoseconds_text, is_log=True)


def _offered(one: Merged) -> float:
    return median(row.offered_per_second for row in one.rows)


def _same(setting: Setting) -> Setting:
    return setting


_LOAD: Final = Axis("offered, pods per second", rate_text, is_log=True)


def over_load(merged: Sequence[Merged]) -> Drawn:
    """Draw how latency grows with the load."""
    for quantity, words in ((P99, "durable admission"), (START_P99, "start of the container")):
        curve = Curve(
            f"Latency over offered load, to the {words}",
            "Where a line goes up and stays there, the setting no longer serves what is offered.",
            _LOAD,
            latency_axis("p99 from the scheduled start"),
            _offered,
            quantity,
            _same,
        )
        yield from draw_curves(rate_steps(merged), curve)


def achieved(merged: Sequence[Merged]) -> Drawn:
    """Draw what is served of what is offered."""
    curve = Curve(
        "Achieved over offered load",
        "On the thin line all that is offered is served.",
        Axis("offered, pods per second", rate_text),
        Axis("achieved, pods per second", rate_text),
        _offered,
        ACHIEVED,
        _same,
        diagonal=True,
    )
    yield from draw_curves(rate_steps(merged), curve)


def batching(merged: Sequence[Merged]) -> Drawn:
    """Draw what gathering writes changes."""
    for name, of, without in (
        (
            "commitBatch",
            lambda one: one.commit_batch,
            lambda one: replace(one, commit_batch=None),
        ),
        ("bulkBind", lambda one: one.bulk_bind, lambda one: replace(one, bulk_bind=None)),
    ):
        yield from _over_batch(merged, Axis(name, rate_text, is_log=True), of, without, ACHIEVED)
    for quantity in (CALLS_EACH, AT_RISK):
        yield from _over_batch(
            merged,
            Axis("flushPeriod", nanoseconds_text),
            lambda one: one.flush_period,
            lambda one: replace(one, flush_period=None),
            quantity,
        )


def _over_batch(
    merged: Sequence[Merged],
    x: Axis,
    of: Callable[[Setting], int | None],
    without: Callable[[Setting], Setting],
    quantity: Quantity,
) -> Drawn:
    known = [one for one in merged if of(one.setting) is not None]
    if not known:
        return
    if quantity is ACHIEVED:
        here, phase = list(_busiest(known)), "at most"
    else:
        here = last_phase(known)
        phase = here[0].phase
    curve = Curve(
        f"What batching changes: {quantity.about} over {x.label}, {phase}",
        "Only how writes are gathered differs from point to point.",
        replace(x, ticks=tuple(float(of(one.setting) or 0) for one in here)),
        Axis(quantity.about, rate_text),
        lambda one: float(of(one.setting) or 0),
        quantity,
        without,
    )
    yield from draw_curves(here, curve)


def _busiest(merged: Sequence[Merged]) -> Iterator[Merged]:
    """Iterate over settings, each in the phase in which it served most."""
    for rows in grouped(merged, lambda one: one.setting).values():
        yield max(rows, key=lambda one: median(row.achieved_per_second for row in one.rows))


def growth(merged: Sequence[Merged]) -> Drawn:
    """Draw how latency grows with the bindings that a node has."""
    here = last_phase(merged)
    for quantity in (P50, P99):
        curve = Curve(
            f"Growth: {quantity.header.lower()} of the durable admission over existing bindings",
            "A flat line does not care how many bindings a node has already.",
            Axis(
                "existing bindings on each node",
                rate_text,
                is_log=True,
                ticks=tuple(sorted({float(one.setting.existing) for one in here})),
            ),
            latency_axis(f"{quantity.header.lower()} from the scheduled start"),
            lambda one: float(one.setting.existing),
            quantity,
            lambda one: replace(one, existing=0),
        )
        yield from draw_curves(here, curve)
