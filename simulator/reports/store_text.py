"""Times and pods of a database in words, for every view of it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from simulator.core.instants import SECOND, Instant, format_duration
from simulator.core.transitions import PodIdentity

_EPOCH_FROM: Final = 10**17
"""Later instants (March 1973) are of the real clock, earlier ones count from a run's start."""


def instant_text(at: Instant) -> str:
    """Return a time: RFC 3339 for the real clock, a duration from the start for a run's own."""
    if at < _EPOCH_FROM:
        return format_duration(at)
    fraction = f".{at % SECOND:09d}".rstrip("0").rstrip(".")
    return f"{_whole_seconds(at)}{fraction}Z"


def short_instant_text(at: Instant) -> str:
    """Return a time as `instant_text` does, of the real clock to the second.

    RFC 3339 allows a space between date and time, where a narrow column can fold.
    """
    if at < _EPOCH_FROM:
        return format_duration(at)
    return f"{_whole_seconds(at).replace('T', ' ')}Z"


def _whole_seconds(at: Instant) -> str:
    return datetime.fromtimestamp(at // SECOND, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def pod_text(pod: PodIdentity) -> str:
    """Return namespace and name, or the uid while the names are not known."""
    return f"{pod.namespace or 'default'}/{pod.name}" if pod.name else pod.uid
