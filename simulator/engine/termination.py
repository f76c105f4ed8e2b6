"""How long a simulated pod's containers take to end when they are told to."""

from __future__ import annotations

from typing import Final

from simulator.core.instants import Duration, parse_duration

TERMINATION: Final = "rebind.internal/termination-time"
"""Annotation: that time, such as `20s`."""
_USUAL: Final = Duration(500_000_000)
"""Containers are simulated; without the annotation they heed SIGTERM as most programs do."""


def termination_time(annotation: str | None, grace: Duration) -> Duration:
    """Return how long a pod's containers take to end; the grace period bounds it (S6.5).

    Args:
        annotation: What the pod says; None for nothing.
        grace: Its grace period.

    Raises:
        ValueError: The annotation is no duration.
    """
    wanted = _USUAL if annotation is None else parse_duration(annotation)
    return Duration(max(0, min(wanted, grace)))
