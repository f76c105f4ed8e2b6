"""Histograms of latencies as text: buckets that grow by 1, 2, 5, 10, and bars."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import Final

from benchmarks.results.latencies import Latencies
from simulator.core.instants import MICROSECOND, Duration, format_duration
from simulator.reports.text import letter

_STEPS: Final = (1, 2, 5)
_DECADES: Final = 10
_EDGES: Final = tuple(
    Duration(step * 10**decade * MICROSECOND) for decade in range(_DECADES) for step in _STEPS
)
"""From a microsecond to almost an hour and a half."""
_GAP: Final = 2
_BAR_MIN: Final = 8
_BAR_MAX: Final = 40
_SHARE: Final = 6
"""Width of a share, `100.0%`."""


def bucket_counts(latencies: Latencies) -> dict[Duration, int]:
    """Return how many latencies are at most each edge, and above the one before it."""
    found = dict.fromkeys(_EDGES, 0)
    for value, count in latencies.counts():
        found[_EDGES[min(bisect_left(_EDGES, value), len(_EDGES) - 1)]] += count
    return found


def text_histogram(named: Sequence[tuple[str, Latencies]], width: int) -> list[str]:
    """Return histograms side by side over the same buckets.

    Args:
        named: Each with its name, at most as many as fit.
        width: Columns of the terminal.

    Returns:
        Lines; none when nothing was recorded.
    """
    counts = [bucket_counts(latencies) for _, latencies in named if len(latencies)]
    names = [name for name, latencies in named if len(latencies)]
    if not counts:
        return []
    edges = _between([edge for each in counts for edge, count in each.items() if count])
    labels = [f"<= {format_duration(edge)}" for edge in edges]
    first = max(map(len, labels))
    room = (width - first) // len(counts) - 2 * _GAP - _SHARE
    bar = max(_BAR_MIN, min(_BAR_MAX, room))
    column = bar + _GAP + _SHARE
    lines = []
    if any(len(name) > column for name in names):
        marks = [letter(index) for index in range(len(names))]
        lines += [f"{mark}: {name}" for mark, name in zip(marks, names, strict=True)]
        names = marks
    lines.append(_joined(" " * first, [name.ljust(column) for name in names]))
    for edge, label in zip(edges, labels, strict=True):
        cells = [_cell(each[edge], each.values(), bar) for each in counts]
        lines.append(_joined(label.rjust(first), cells))
    return lines


def _between(used: Sequence[Duration]) -> tuple[Duration, ...]:
    return tuple(edge for edge in _EDGES if min(used) <= edge <= max(used))


def _cell(count: int, all_counts: Iterable[int], bar: int) -> str:
    counts = list(all_counts)
    length = -(-bar * count // max(counts))
    share = f"{count / sum(counts):.1%}" if count else ""
    return f"{'#' * length:<{bar}}{' ' * _GAP}{share:>{_SHARE}}"


def _joined(label: str, cells: Sequence[str]) -> str:
    return (" " * _GAP).join([label, *cells]).rstrip()
