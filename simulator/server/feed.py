"""Who watches, and what they are told: every change of an object, in order.

A watcher has a queue of bounded length. One that does not take what happens as fast as it happens
is dropped and has to begin anew, as a watch of the API server is: nobody waits for it.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from typing import Final, Generic, TypeVar

from simulator.errors import WatchBrokenError

T = TypeVar("T")

QUEUE_MAX: Final = 4_096
"""Most changes that wait for one watcher."""


class Subscription(Generic[T]):
    """One watcher's place in a feed."""

    def __init__(self, wanted: Callable[[T], bool], queue_max: int) -> None:
        self._wanted = wanted
        self._queue_max = queue_max
        self._waiting: deque[T] = deque()
        self._news = asyncio.Event()
        self._broken = False
        self._over = False

    def offer(self, item: T) -> None:
        """Put a change into the queue, unless it is not wanted or the watcher is too slow."""
        if self._broken or not self._wanted(item):
            return
        if len(self._waiting) >= self._queue_max:
            self._broken = True
            self._waiting.clear()
        else:
            self._waiting.append(item)
        self._news.set()

    def end(self) -> None:
        """Say that nothing more comes."""
        self._over = True
        self._news.set()

    async def items(self) -> AsyncIterator[T]:
        """Yield changes as they come.

        Raises:
            WatchBrokenError: They came faster than they were taken.
        """
        while True:
            while self._waiting:
                yield self._waiting.popleft()
            if self._broken:
                message = (
                    f"more than {self._queue_max} changes waited for this watch, which was ended; "
                    "begin a new one"
                )
                raise WatchBrokenError(message)
            if self._over:
                return
            self._news.clear()
            await self._news.wait()


class Feed(Generic[T]):
    """Hands what is published to everyone who watches."""

    def __init__(self) -> None:
        self._subscriptions: list[Subscription[T]] = []
        self._over = False

    @property
    def is_watched(self) -> bool:
        """Whether anybody watches."""
        return bool(self._subscriptions)

    def publish(self, item: T) -> None:
        """Tell everyone."""
        for subscription in self._subscriptions:
            subscription.offer(item)

    def subscribe(
        self, wanted: Callable[[T], bool] = lambda _: True, *, queue_max: int = QUEUE_MAX
    ) -> Subscription[T]:
        """Watch from now on."""
        subscription = Subscription(wanted, queue_max)
        if self._over:
            subscription.end()
        self._subscriptions.append(subscription)
        return subscription

    def leave(self, subscription: Subscription[T]) -> None:
        """Watch no more."""
        self._subscriptions.remove(subscription)

    def close(self) -> None:
        """End all watches: the server stops."""
        self._over = True
        for subscription in self._subscriptions:
            subscription.end()
