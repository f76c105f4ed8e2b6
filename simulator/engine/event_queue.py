"""The queue of pending events: a wheel of buckets that are sorted only when they are reached.

A heap pays its depth and its cache misses for every event; at half a million pending events that is
most of the cost of a run. Here an event is appended to the list of its bucket, a list is sorted
once when its time comes, and only what is pushed into the bucket being drained goes through a (very
small) heap. Buckets grow wider by themselves while they are too thinly filled.

Order is (time, priority, sequence): events of one instant and priority leave in the order in which
they were pushed. The queue knows nothing of what it holds.
"""

from __future__ import annotations

import heapq
from typing import Final, Generic, TypeVar

from simulator.core.instants import Instant

ItemT = TypeVar("ItemT")

_FIRST_SHIFT: Final = 20
"""Bucket width as a power of two nanoseconds: about one millisecond to begin with."""

_WIDENING: Final = 2
"""How many bits are added when buckets are too thin: four times as wide."""

_BUCKETS_MIN: Final = 2048
"""Up to so many pending buckets their filling does not matter."""

_FILLING_MIN: Final = 8
"""Mean number of events below which more buckets are not worth their list."""


class EventQueue(Generic[ItemT]):
    """Pending events in order of (time, priority, sequence)."""

    __slots__ = (
        "_buckets",
        "_buckets_max",
        "_draining",
        "_late",
        "_numbers",
        "_reached",
        "_sequence",
        "_shift",
        "_size",
    )

    def __init__(self) -> None:
        self._shift = _FIRST_SHIFT
        self._buckets: dict[int, list[tuple[Instant, int, int, ItemT]]] = {}
        self._buckets_max = _BUCKETS_MIN
        self._numbers: list[int] = []
        self._draining: list[tuple[Instant, int, int, ItemT]] = []
        self._late: list[tuple[Instant, int, int, ItemT]] = []
        self._reached = -1
        self._sequence = 0
        self._size = 0

    def __len__(self) -> int:
        """Return the number of pending events."""
        return self._size

    def push(self, at: Instant, item: ItemT, priority: int = 0) -> None:
        """Add `item` at instant `at`; of two events at one instant the lower priority comes first.

        An event may lie before those already taken; the caller's clock is the caller's business.
        """
        self._sequence = sequence = self._sequence + 1
        self._size += 1
        entry = (at, priority, sequence, item)
        number = at >> self._shift
        if number <= self._reached:
            heapq.heappush(self._late, entry)
            return
        bucket = self._buckets.get(number)
        if bucket is not None:
            bucket.append(entry)
            return
        self._buckets[number] = [entry]
        heapq.heappush(self._numbers, number)
        if len(self._numbers) > self._buckets_max:
            self._fit()

    def next_at(self) -> Instant | None:
        """Return the instant of the first event; None when nothing is pending."""
        if not self._size:
            return None
        if not self._draining and not self._late:
            self._reach_next_bucket()
        if not self._draining:
            return self._late[0][0]
        if not self._late or self._draining[-1] < self._late[0]:
            return self._draining[-1][0]
        return self._late[0][0]

    def pop(self) -> tuple[Instant, ItemT]:
        """Take the first event.

        Raises:
            IndexError: Nothing is pending.
        """
        draining, late = self._draining, self._late
        if not draining and not late:
            self._reach_next_bucket()
            draining = self._draining
        if late and (not draining or late[0] < draining[-1]):
            entry = heapq.heappop(late)
        else:
            entry = draining.pop()
        self._size -= 1
        return entry[0], entry[3]

    def _reach_next_bucket(self) -> None:
        number = heapq.heappop(self._numbers)
        bucket = self._buckets.pop(number)
        bucket.sort(reverse=True)
        self._draining = bucket
        self._reached = number

    def _fit(self) -> None:
        """Widen the buckets while they are thin; else allow more of them."""
        while self._size < _FILLING_MIN * len(self._numbers) > _FILLING_MIN * _BUCKETS_MIN:
            self._widen()
        self._buckets_max = max(_BUCKETS_MIN, 2 * len(self._numbers))

    def _widen(self) -> None:
        self._shift += _WIDENING
        self._reached >>= _WIDENING
        merged: dict[int, list[tuple[Instant, int, int, ItemT]]] = {}
        for number, bucket in self._buckets.items():
            wide = number >> _WIDENING
            if wide <= self._reached:
                self._late.extend(bucket)
            elif wide in merged:
                merged[wide].extend(bucket)
            else:
                merged[wide] = bucket
        self._buckets = merged
        self._numbers = list(merged)
        heapq.heapify(self._numbers)
        heapq.heapify(self._late)
