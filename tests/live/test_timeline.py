"""Time on a live node: it passes by itself, can be put forward, and can be left out."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from simulator.core.instants import HOUR, MILLISECOND, MINUTE, Duration, Instant
from simulator.live.timeline import LiveTimeline

SOON_S = 60.0


def timed(
    test: Callable[[LiveTimeline], Awaitable[None]], *, speed: float = 1.0, skips: bool = False
) -> None:
    """Run a test on a timeline, for at most a real minute."""

    async def play() -> None:
        loop = asyncio.get_running_loop()
        timeline = LiveTimeline(loop, start=Instant(0), speed=speed, skips=skips)
        try:
            async with asyncio.timeout(SOON_S):
                await test(timeline)
        finally:
            timeline.close()

    asyncio.run(play())


def test_what_is_due_happens_in_order_and_at_its_own_time() -> None:
    async def test(timeline: LiveTimeline) -> None:
        seen: list[tuple[str, Instant]] = []

        def see(name: str) -> None:
            seen.append((name, timeline.now()))

        timeline.call_at(Instant(2 * MINUTE), lambda: see("late"))
        timeline.call_at(Instant(MINUTE), lambda: see("early"))
        timeline.put_forward(Duration(3 * MINUTE))
        await timeline.reach(Instant(3 * MINUTE))
        assert seen == [("early", Instant(MINUTE)), ("late", Instant(2 * MINUTE))]

    timed(test)


def test_time_in_which_nothing_real_happens_is_left_out() -> None:
    async def test(timeline: LiveTimeline) -> None:
        seen: list[Instant] = []
        timeline.call_at(Instant(HOUR), lambda: seen.append(timeline.now()))
        timeline.call_at(Instant(2 * HOUR), lambda: seen.append(timeline.now()))
        await timeline.reach(Instant(HOUR + MINUTE))
        assert seen == [Instant(HOUR)]
        assert timeline.is_quiet
        assert timeline.now() == HOUR + MINUTE  # It stands still until somebody goes on.

    timed(test, skips=True)


def test_something_real_takes_its_time() -> None:
    async def test(timeline: LiveTimeline) -> None:
        order: list[str] = []

        async def work() -> None:
            with timeline.held():
                await asyncio.sleep(0.2)
                order.append("work")

        task = asyncio.create_task(work())
        timeline.call_at(Instant(MINUTE), lambda: order.append("minute"))
        await timeline.reach(Instant(MINUTE))
        await task
        assert order == ["work", "minute"]

    timed(test, speed=0.01, skips=True)


def test_what_is_bound_to_come_is_waited_for() -> None:
    async def test(timeline: LiveTimeline) -> None:
        order: list[str] = []
        timeline.expects = lambda: not order
        asyncio.get_running_loop().call_later(
            0.2, lambda: timeline.enter(lambda: order.append("answer"))
        )
        timeline.call_at(Instant(MINUTE), lambda: order.append("minute"))
        await timeline.reach(Instant(MINUTE))
        assert order == ["answer", "minute"]

    timed(test, speed=0.01, skips=True)


def test_a_limit_is_one_by_the_nodes_time() -> None:
    async def test(timeline: LiveTimeline) -> None:
        async with timeline.limit(HOUR):
            await timeline.sleep(Duration(10 * MILLISECOND))

        async def too_long() -> None:
            async with timeline.limit(Duration(MINUTE)):
                timeline.put_forward(Duration(2 * MINUTE))
                await asyncio.Event().wait()

        with pytest.raises(TimeoutError):
            await too_long()

    timed(test)


def test_whoever_sleeps_is_woken_when_time_ends() -> None:
    async def test(timeline: LiveTimeline) -> None:
        sleeper = asyncio.create_task(timeline.sleep(Duration(HOUR)))
        await asyncio.sleep(0)
        timeline.close()
        await sleeper
        await timeline.sleep(Duration(HOUR))

    timed(test)
