"""Time on the clock of an asyncio loop."""

from __future__ import annotations

import asyncio

from simulator.core.instants import HOUR, MINUTE, Duration, Instant, after
from simulator.engine.actions import StartPlugin
from simulator.live.timeline import LiveTimeline
from tests.live.worlds import GPU, NODE, WITHIN, a_spec, a_world, done

LIMIT_S = 20.0


def test_time_that_is_put_forward_brings_what_is_due_nearer() -> None:
    """An event that was an hour away, and now is a moment away, comes in that moment."""

    async def play() -> None:
        timeline = LiveTimeline(asyncio.get_running_loop(), start=Instant(0), speed=60.0)
        came = asyncio.Event()
        due = after(Instant(0), Duration(HOUR))
        timeline.call_at(due, came.set)
        timeline.put_forward(Duration(HOUR - MINUTE // 10))
        assert not came.is_set()
        async with asyncio.timeout(LIMIT_S):
            await came.wait()
        assert due <= timeline.now() < after(due, Duration(HOUR // 2))
        timeline.close()

    asyncio.run(play())


def test_an_event_that_fails_is_told_and_keeps_nobody_else_from_what_he_does() -> None:
    async def play() -> None:
        timeline = LiveTimeline(asyncio.get_running_loop(), start=Instant(0))
        failures: list[Exception] = []
        done: list[str] = []
        timeline.failed = failures.append

        def fail() -> None:
            reason = "by design"
            raise KeyError(reason)

        timeline.call_after(Duration(0), fail)
        timeline.call_after(Duration(0), lambda: done.append("planned"))
        timeline.enter(lambda: done.append("entered"))

        assert done == ["planned", "entered"]
        assert [str(each) for each in failures] == ["'by design'"]
        timeline.close()

    asyncio.run(play())


def test_a_node_goes_on_after_an_event_that_failed_and_healthz_tells_of_it() -> None:
    async def play() -> None:
        async with a_world(a_spec()) as world:

            def fail() -> None:
                reason = "by design"
                raise KeyError(reason)

            world.enter(fail)
            await done(world, StartPlugin("gpu"), "plugin")
            assert await world.until(lambda: world.node(NODE).allocatable == ((GPU, 4),), WITHIN)
            wrong = {each.name: each.error for each in world.metering.checks() if each.error}
            assert list(wrong) == ["events"]
            assert "by design" in wrong["events"]

    asyncio.run(play())
