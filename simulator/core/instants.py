"""Points in virtual time and spans between them, as integer nanoseconds.

Durations are written the way Go prints them (`1m30s`, `250ms`), because scenario files, transcripts
and the kubelet's configuration all use that form.
"""

from __future__ import annotations

import re
from typing import Final, NewType

Instant = NewType("Instant", int)
"""Nanoseconds since the start of the run (virtual time) or since the epoch (live)."""

Duration = NewType("Duration", int)
"""A span in nanoseconds."""

MICROSECOND: Final = Duration(1_000)
MILLISECOND: Final = Duration(1_000_000)
SECOND: Final = Duration(1_000_000_000)
MINUTE: Final = Duration(60 * SECOND)
HOUR: Final = Duration(60 * MINUTE)

_UNITS: Final = {
    "ns": 1,
    "us": MICROSECOND,
    "µs": MICROSECOND,
    "μs": MICROSECOND,
    "ms": MILLISECOND,
    "s": SECOND,
    "m": MINUTE,
    "h": HOUR,
}
_DURATION: Final = re.compile(r"(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h)", re.ASCII)
_DURATION_PART: Final = re.compile(r"(\d*)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)", re.ASCII)
_LONGEST_TEXT: Final = 64
_LONGEST: Final = (1 << 63) - 1
"""Go's durations are 64-bit integers."""


def after(start: Instant, span: Duration) -> Instant:
    """Return the instant `span` later than `start`."""
    return Instant(start + span)


def parse_duration(text: str) -> Duration:
    """Read a Go duration such as `1m30s` or `250ms`; a bare number is accepted only when it is 0.

    Args:
        text: What `time.ParseDuration` accepts, at most 64 characters.

    Raises:
        ValueError: `text` has no unit, an unknown unit, is not a duration at all, or a longer one
            than Go has.
    """
    sign, body = (-1, text[1:]) if text.startswith("-") else (1, text.removeprefix("+"))
    if body == "0":
        return Duration(0)
    if (
        not body
        or len(body) > _LONGEST_TEXT
        or not re.fullmatch(f"(?:{_DURATION.pattern})+", body, re.ASCII)
    ):
        reason = (
            f"{text[:_LONGEST_TEXT]!r} is not a duration; "
            "write a number with a unit, such as 250ms or 1m30s"
        )
        raise ValueError(reason)
    total = 0
    for whole, fraction, unit in _DURATION_PART.findall(body):
        scale = _UNITS[unit]
        total += int(whole or "0") * scale
        if fraction:
            total += int(fraction) * scale // 10 ** len(fraction)
    if total > _LONGEST:
        reason = f"{text[:_LONGEST_TEXT]!r} is longer than {format_duration(_LONGEST)}"
        raise ValueError(reason)
    return Duration(sign * total)


def format_duration(span: int) -> str:
    """Write nanoseconds as Go's `Duration.String` does: `1m30s`, `250ms`, `1.5s`, `0s`."""
    if span == 0:
        return "0s"
    sign, rest = ("-", -span) if span < 0 else ("", span)
    if rest < SECOND:
        unit, scale = next(
            pair
            for pair in (("ms", MILLISECOND), ("µs", MICROSECOND), ("ns", 1))
            if rest >= pair[1]
        )
        return f"{sign}{_decimal(rest, scale)}{unit}"
    hours, rest = divmod(rest, HOUR)
    minutes, rest = divmod(rest, MINUTE)
    head = f"{hours}h{minutes}m" if hours else f"{minutes}m" if minutes else ""
    return f"{sign}{head}{_decimal(rest, SECOND)}s"


def _decimal(value: int, scale: int) -> str:
    whole, fraction = divmod(value, scale)
    if not fraction:
        return str(whole)
    digits = len(str(scale)) - 1
    return f"{whole}.{fraction:0{digits}d}".rstrip("0")
