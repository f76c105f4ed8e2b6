"""However much happens at once, the loop gets its turns, and everything happens in order."""

from __future__ import annotations

import asyncio
import time
from functools import partial
from pathlib import Path

from simulator.core.calls import AllocateCall
from simulator.core.instants import Duration, Instant
from simulator.core.pods import ContainerName, PodUid
from simulator.core.transitions import DevicesReported, NodeBooted, NodeName, Transition
from simulator.engine.timeline import Process
from simulator.live.database import LiveDatabase
from simulator.live.plugin import LivePlugin
from simulator.live.timeline import TURN_S, LiveTimeline
from store.memory.store import MemoryStore
from tests.live.worlds import GPU, NODE, a_plugin, devices

EVENTS = 60
EVENT_S = 0.002
WITHIN_S = 60.0


class Turns:
    """Counts the turns that others on the loop get."""

    def __init__(self) -> None:
        self.count = 0

    async def take(self) -> None:
        while True:
            await asyncio.sleep(0)
            self.count += 1


def work() -> None:
    """Take a little real time, as a decision does."""
    end = time.monotonic() + EVENT_S
    while time.monotonic() < end:
        pass


def test_a_storm_of_events_leaves_the_loop_its_turns() -> None:
    """60 events of 2 ms that are due at one instant take a dozen turns."""
    happened: list[int] = []

    async def play() -> Turns:
        timeline = LiveTimeline(asyncio.get_running_loop(), start=Instant(0))
        turns = Turns()
        beside = asyncio.create_task(turns.take())
        all_happened = asyncio.Event()
        for number in range(EVENTS):
            timeline.call_after(Duration(0), partial(act, number))
        timeline.call_after(Duration(0), all_happened.set)
        await asyncio.wait_for(all_happened.wait(), WITHIN_S)
        beside.cancel()
        timeline.close()
        return turns

    def act(number: int) -> None:
        work()
        happened.append(number)

    turns = asyncio.run(play())

    assert happened == list(range(EVENTS))
    assert turns.count >= EVENTS * EVENT_S / TURN_S / 2


def test_the_answers_of_one_long_commit_come_in_order_and_in_several_turns() -> None:
    answered: list[int] = []
    counts: list[int] = []

    async def play() -> None:
        timeline = LiveTimeline(asyncio.get_running_loop(), start=Instant(0))
        database = LiveDatabase(
            timeline, MemoryStore(), commit_batch=EVENTS, committed=lambda _count, _seconds: None
        )
        process = Process(timeline)
        all_answered = asyncio.Event()
        turns = Turns()
        first: Transition = DevicesReported(NODE, Instant(0), GPU, devices(20_000))
        database.commit(process, (first,), lambda _: None)  # While it is written, others gather.
        for number in range(EVENTS):
            booted = NodeBooted(NodeName(f"n{number}"), Instant(number), "boot")

            def reply(_: object, number: int = number) -> None:
                work()
                answered.append(number)
                counts.append(turns.count)
                if number == EVENTS - 1:
                    all_answered.set()

            database.commit(process, (booted,), reply)
        beside = asyncio.create_task(turns.take())
        await asyncio.wait_for(all_answered.wait(), WITHIN_S)
        beside.cancel()
        await database.close()
        timeline.close()

    asyncio.run(play())

    assert answered == list(range(EVENTS))
    assert len(set(counts)) >= 3


def test_a_plugin_counts_the_calls_for_the_latest_pods_apart(tmp_path: Path) -> None:
    """Nobody asks about the others, of which there is no end."""

    async def play() -> LivePlugin:
        timeline = LiveTimeline(asyncio.get_running_loop(), start=Instant(0))
        plugin = LivePlugin(a_plugin(), tmp_path, timeline, lambda: None)
        for number in range(1_000):
            uid = PodUid(f"p{number}")
            plugin.note(AllocateCall(GPU, (), uid, ContainerName("main")))
        timeline.close()
        return plugin

    plugin = asyncio.run(play())

    assert plugin.counts.by_rpc == {"Allocate": 1_000}
    assert list(plugin.counts.by_pod) == [PodUid(f"p{number}") for number in range(744, 1_000)]
