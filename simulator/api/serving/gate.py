"""How many requests, and how many bytes of them, are taken at a time; the rest is told to wait."""

from __future__ import annotations

from simulator.api.dialect.statuses import StatusError
from simulator.api.serving.limits import Limits


class Gate:
    """Counts what is under way.

    Args:
        limits: How much may be.

    Attributes:
        requests: Requests that are being answered, watches apart.
        refused: How many were told to wait.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self.requests = 0
        self.refused = 0
        self._bytes = 0

    def enter(self) -> None:
        """Let a request in.

        Raises:
            StatusError: 429, there are too many.
        """
        if self.requests >= self._limits.requests:
            self.refused += 1
            raise too_many_requests()
        self.requests += 1

    def leave(self) -> None:
        """Let a request out."""
        self.requests -= 1

    def take(self, size: int) -> None:
        """Let bytes of a body in.

        Raises:
            StatusError: 429, there are too many.
        """
        if self._bytes + size > self._limits.bodies_bytes:
            self.refused += 1
            raise too_many_requests()
        self._bytes += size

    def give(self, size: int) -> None:
        """Let bytes of a body out."""
        self._bytes -= size


def too_many_requests(message: str = "") -> StatusError:
    """Return 429: come again in a second.

    Kubernetes: NewTooManyRequestsError.
    """
    return StatusError(
        429,
        "TooManyRequests",
        message or "Too many requests, please try again later.",
        {"retryAfterSeconds": 1},
        headers={"Retry-After": "1"},
    )
