"""Timelines as the numbers and texts from which the page's script draws them.

Texts stand once in a table and are called by their index, since runs of one scenario share most of
theirs. Times are texts too: the script places and compares, and never computes a time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from simulator.core.instants import Instant, format_duration
from simulator.reports.documents import Json
from simulator.reports.text import printable
from simulator.reports.timelines.axis import Axis, axis
from simulator.reports.timelines.lanes import Bar, Lane, LaneKind
from simulator.reports.timelines.timeline import Timeline
from simulator.reports.transcript import VERDICT_WORDS

_DIGITS: Final = 3
"""Of the length of a break."""


@dataclass(slots=True)
class Texts:
    """Texts by index."""

    _index: dict[str, int] = field(default_factory=dict)

    def add(self, text: str) -> int:
        """Return the index of a text."""
        return self._index.setdefault(printable(text), len(self._index))

    def all(self) -> list[str]:
        """Return all texts in order."""
        return list(self._index)


def timeline_data(
    timeline: Timeline, texts: Texts, time_text: Callable[[Instant], str] = format_duration
) -> Json:
    """Return one timeline; its times and texts are indices into `texts`."""
    return _Encoder(timeline, texts, time_text).encode()


class _Encoder:
    def __init__(
        self, timeline: Timeline, texts: Texts, time_text: Callable[[Instant], str]
    ) -> None:
        self._timeline = timeline
        self._axis: Axis = axis(timeline.instants())
        self._stop = {stop.at: index for index, stop in enumerate(self._axis.stops)}
        self._text = texts.add
        self._time_text = time_text
        self._pods: dict[str, int] = {}

    def encode(self) -> Json:
        timeline, text = self._timeline, self._text
        return {
            "width": self._axis.width,
            "stops": self._stops(),
            "lanes": [self._lane(lane) for lane in timeline.lanes],
            "marks": [
                [text(mark.kind.value), self._stop[mark.at], text(mark.label), mark.record]
                for mark in timeline.marks
            ],
            "records": [
                [self._stop[one.at], text(one.node), text(one.type), text(one.text)]
                for one in timeline.entries
            ],
            "judged": [
                [self._stop[one.at], one.row, text(VERDICT_WORDS[one.verdict])]
                for one in timeline.judged
            ],
        }

    def _stops(self) -> Json:
        """Return position, time, time since the last break, and the length of a break after it."""
        stops: list[Json] = []
        start: Instant | None = None
        for stop in self._axis.stops:
            since = None if start is None else self._text(f"+{format_duration(stop.at - start)}")
            start = stop.at if start is None else start
            gap = None if stop.gap is None else self._text(rough_duration(stop.gap))
            stops.append([stop.position, self._text(self._time_text(stop.at)), since, gap])
            start = start if stop.gap is None else None
        return stops

    def _lane(self, lane: Lane) -> Json:
        text = self._text
        return [
            text(lane.kind.value),
            text(lane.node),
            text(lane.name),
            [self._bar(lane, bar) for bar in lane.bars],
            [[text(tick.kind.value), self._stop[tick.at], tick.record] for tick in lane.ticks],
        ]

    def _bar(self, lane: Lane, bar: Bar) -> Json:
        lasted = "" if bar.until is None else format_duration(bar.until - bar.since)
        return [
            self._text(bar.state.value),
            self._stop[bar.since],
            None if bar.until is None else self._stop[bar.until],
            self._text(bar.label),
            bar.record,
            bar.row,
            self._pod(lane, bar),
            self._text(lasted),
        ]

    def _pod(self, lane: Lane, bar: Bar) -> int | None:
        """Return the number of the pod that a bar tells of, for its color."""
        if lane.kind not in {LaneKind.CONTAINER, LaneKind.DEVICE}:
            return None
        name = lane.name if lane.kind is LaneKind.CONTAINER else bar.label
        pod = name.rpartition("/")[0] or name
        return self._pods.setdefault(pod, len(self._pods))


def rough_duration(span: int) -> str:
    """Return a span of time to three digits: `3.93s` for 3.93193s."""
    digits = len(str(span))
    step = 10 ** max(0, digits - _DIGITS)
    return format_duration((span + step // 2) // step * step)


def document(texts: Texts, timelines: Sequence[Json]) -> Json:
    """Return timelines that share their texts."""
    return {"texts": texts.all(), "timelines": list(timelines)}
