"""What is found in `plugins_registry` may say anything of itself; nobody else minds."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.core.instants import SECOND, Duration
from simulator.engine.actions import StartPlugin
from simulator.protocol import rebind_pluginregistration_pb2 as plugin_registration
from simulator.protocol.services import GET_INFO, NOTIFY_REGISTRATION_STATUS
from simulator.wire.servers import UnixServer
from tests.live.hostile import Evil, beside
from tests.live.rubbish import ANNOUNCEMENTS
from tests.live.worlds import GPU, NODE, a_spec, a_world, done
from tests.logged import logged_faults
from tests.wire.plugin import DEADLINE_S

AT_ONCE = 25
DIAL_TIMEOUT = Duration(500 * SECOND)
"""By the nodes' time: a busy machine may take a while."""


class Announcer:
    """One socket in the registry; `asked` is set when the kubelet has asked what it is."""

    def __init__(self, path: Path, announcement: bytes) -> None:
        self.asked = asyncio.Event()
        self._announcement = announcement
        self.server = UnixServer(path)
        self.server.answer(GET_INFO, self._answer)
        self.server.answer(NOTIFY_REGISTRATION_STATUS, self._take)

    async def _answer(self, request: plugin_registration.InfoRequest) -> bytes:
        del request
        self.asked.set()
        return self._announcement

    async def _take(self, status: plugin_registration.RegistrationStatus) -> bytes:
        del status
        return b""


async def announce(evil: Evil, announcements: list[bytes]) -> None:
    """Let sockets appear that say this of themselves, and wait until all of them were asked."""
    folder = evil.world.settings.folder(NODE).plugins_registry
    async with AsyncExitStack() as stack, asyncio.timeout(DEADLINE_S):
        made = [Announcer(folder / f"e{n}.sock", each) for n, each in enumerate(announcements)]
        for each in made:
            await stack.enter_async_context(each.server)
        for each in made:
            await each.asked.wait()


def tell(announcements: list[bytes]) -> None:
    async def play() -> None:
        async with (
            a_world(a_spec(), speed=50.0, dial_timeout=DIAL_TIMEOUT) as world,
            beside(world) as evil,
        ):
            await done(world, StartPlugin("gpu"), "plugin")
            await announce(evil, announcements)
            assert await evil.pod(GPU, 1) == ("Running", "")

    with logged_faults() as faults:
        asyncio.run(play())
    assert faults == []


LISTS = st.lists(ANNOUNCEMENTS, min_size=AT_ONCE, max_size=AT_ONCE)


def test_100_strange_announcements_harm_nobody() -> None:
    @settings(max_examples=100 // AT_ONCE)
    @given(LISTS)
    def run(announcements: list[bytes]) -> None:
        tell(announcements)

    run()


@pytest.mark.soak
def test_5_000_strange_announcements_harm_nobody() -> None:
    @settings(max_examples=5_000 // AT_ONCE)
    @given(LISTS)
    def run(announcements: list[bytes]) -> None:
        tell(announcements)

    run()
