"""A plugin that sends rubbish harms nobody but itself, on a whole node (issue 4, acceptance 8)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.core.instants import SECOND, Duration
from simulator.core.records import InvariantViolated
from simulator.engine.actions import StartPlugin
from tests.live.hostile import Evil, behave, beside
from tests.live.rubbish import EVIL, SAYINGS
from tests.live.worlds import GPU, a_spec, a_world, done
from tests.logged import logged_faults

SPEED: Final = 50.0
REFUSED: Final = "Pod was rejected: Allocate failed due to "
DIAL_TIMEOUT: Final = Duration(500 * SECOND)
"""By the nodes' time: a busy machine may take a while."""
IMPATIENT_S: Final = 0.1
"""A kubelet waits long for a socket that nobody serves; a hostile plugin does not."""
A_ROUND: Final = 25
"""Sayings on one node."""


@pytest.fixture
def faults() -> Iterator[list[str]]:
    with logged_faults() as found:
        yield found


async def hear(evil: Evil, kind: str, saying: bytes) -> None:
    """Let the plugin say one thing wrong, and then behave."""
    plugin = evil.plugin
    behave(plugin)
    if kind == "register":
        await evil.register(saying, IMPATIENT_S)
    elif kind == "options":
        plugin.options = saying
        await evil.register()
    elif kind == "list":
        plugin.script = (saying,)
        plugin.over.set()
        await evil.register()
    else:
        await evil.comes_back()
        if kind == "allocate":
            plugin.allocated = saying
        else:
            plugin.preferred = saying
        phase, message = await evil.pod(EVIL, 2)
        assert phase == "Running" or message.startswith(REFUSED), message


def tell(sayings: list[tuple[str, bytes]], faults: list[str]) -> None:
    """Say all of it on one node; afterwards both plugins serve pods as if nothing had been."""

    async def play() -> None:
        async with a_world(a_spec(), speed=SPEED, dial_timeout=DIAL_TIMEOUT) as world:
            await done(world, StartPlugin("gpu"), "plugin")
            async with beside(world) as evil:
                for kind, saying in sayings:
                    await hear(evil, kind, saying)
                await evil.serves()
                assert await evil.pod(GPU, 1) == ("Running", "")
            violated = [
                each for each in world.records if isinstance(each.record, InvariantViolated)
            ]
            assert violated == []
        assert faults == []

    asyncio.run(play())


def test_200_times_rubbish_on_a_node_harm_nobody_else(faults: list[str]) -> None:
    @settings(max_examples=200 // A_ROUND)
    @given(st.lists(SAYINGS, min_size=A_ROUND, max_size=A_ROUND))
    def run(sayings: list[tuple[str, bytes]]) -> None:
        tell(sayings, faults)

    run()


@pytest.mark.soak
def test_20_000_times_rubbish_on_a_node_harm_nobody_else(faults: list[str]) -> None:
    @settings(max_examples=20_000 // A_ROUND)
    @given(st.lists(SAYINGS, min_size=A_ROUND, max_size=A_ROUND))
    def run(sayings: list[tuple[str, bytes]]) -> None:
        tell(sayings, faults)

    run()
