"""Pauses between tries, so that a server that is away is not stormed when it comes back."""

from __future__ import annotations

import random


class BackOff:
    """Pauses that grow: each is twice as long as the one before, up to a longest one.

    Each is spread over up to twice its length, so that many who lost the same server do not come
    back at once.

    Args:
        first_s: The first pause, in seconds.
        longest_s: The longest one, before it is spread.
    """

    def __init__(self, first_s: float, longest_s: float) -> None:
        self._first_s = first_s
        self._longest_s = longest_s
        self._next_s = first_s

    def reset(self) -> None:
        """Begin anew with the first pause."""
        self._next_s = self._first_s

    def pause_s(self) -> float:
        """Return how long to wait now, in seconds; the next pause is longer."""
        pause = self._next_s
        self._next_s = min(2 * pause, self._longest_s)
        return pause * (1 + random.random())  # noqa: S311 - nothing is to be guessed
