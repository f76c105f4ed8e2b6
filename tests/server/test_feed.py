"""Watchers are told everything in order, and nobody waits for a slow one."""

from __future__ import annotations

import asyncio

import pytest

from simulator.errors import WatchBrokenError
from simulator.server.feed import Feed


def test_a_watcher_gets_what_it_wants_in_order_until_the_feed_is_closed() -> None:
    async def watch() -> list[int]:
        feed: Feed[int] = Feed()
        subscription = feed.subscribe(lambda number: number % 2 == 0)
        for number in range(6):
            feed.publish(number)
        feed.close()
        return [number async for number in subscription.items()]

    assert asyncio.run(watch()) == [0, 2, 4]


def test_a_watcher_that_is_too_slow_is_dropped_and_the_others_are_not() -> None:
    async def watch() -> list[int]:
        feed: Feed[int] = Feed()
        slow, quick = feed.subscribe(queue_max=3), feed.subscribe(queue_max=100)
        for number in range(4):
            feed.publish(number)
        with pytest.raises(WatchBrokenError, match="more than 3 changes waited"):
            await anext(slow.items())
        feed.leave(slow)
        feed.close()
        return [number async for number in quick.items()]

    assert asyncio.run(watch()) == [0, 1, 2, 3]


def test_a_watch_that_begins_after_the_end_ends_at_once() -> None:
    async def watch() -> list[int]:
        feed: Feed[int] = Feed()
        feed.close()
        return [number async for number in feed.subscribe().items()]

    assert asyncio.run(watch()) == []
