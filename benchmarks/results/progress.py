"""How far a run is, in one line."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.results.quantities import Form, number, text
from simulator.core.instants import SECOND, Duration, format_duration


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """Where a run is.

    Attributes:
        row: Number of the row that is measured, from 1.
        rows: How many there are.
        what: The setting in words.
        phase: Empty while the nodes are made.
        elapsed: Seconds of this row.
        remaining: Seconds of the whole run that are left, as far as one can tell.
        rate: Pods served per second so far.
        p99: Of this row so far; None before the first pod.
    """

    row: int
    rows: int
    what: str
    phase: str = ""
    elapsed: float = 0.0
    remaining: float | None = None
    rate: float = 0.0
    p99: Duration | None = None


def progress_line(progress: Progress) -> str:
    """Return the line, what matters most first."""
    parts = [f"{progress.row}/{progress.rows} {progress.what}"]
    if progress.phase:
        parts.append(f"{progress.phase} {progress.elapsed:.0f}s")
        parts.append(f"{number(progress.rate)}/s")
    if progress.p99 is not None:
        parts.append(f"p99 so far {text(progress.p99, Form.DURATION)}")
    if progress.remaining is not None:
        whole = Duration(round(progress.remaining) * SECOND)
        parts.append(f"about {format_duration(whole)} left")
    return ", ".join(parts)
