"""Durations on the command line."""

from __future__ import annotations

from simulator.core.instants import Duration, parse_duration


def read_span(text: str) -> Duration:
    """Read a duration that is not negative, such as `5s` or `1m30s`.

    Raises:
        ValueError: It is none.
    """
    span = parse_duration(text)
    if span < 0:
        reason = f"{text!r} is negative; write a duration such as 5s"
        raise ValueError(reason)
    return span
