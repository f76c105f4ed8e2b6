"""Instants as Kubernetes writes them."""

from __future__ import annotations

from datetime import UTC, datetime

from simulator.core.instants import SECOND, Instant


def timestamp(at: Instant) -> str:
    """Return an instant in RFC 3339, to the second, as metav1.Time is written."""
    return datetime.fromtimestamp(at // SECOND, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def micro_timestamp(at: Instant) -> str:
    """Return an instant in RFC 3339, to the microsecond, as metav1.MicroTime is written."""
    return datetime.fromtimestamp(at // SECOND, UTC).strftime(
        f"%Y-%m-%dT%H:%M:%S.{at % SECOND // 1_000:06d}Z"
    )
