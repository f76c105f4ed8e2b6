"""A plugin that sends rubbish harms nobody but itself, on a whole node (issue 4, acceptance 8)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Final

import grpc
import grpc.aio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.core.instants import SECOND, Duration
from simulator.core.pods import Container, ContainerName, Pod, PodUid
from simulator.core.records import InvariantViolated
from simulator.core.resources import ResourceName
from simulator.engine.actions import StartPlugin
from simulator.engine.spec import PodSpec
from simulator.live.world import LiveWorld
from simulator.protocol import rebind_deviceplugin_pb2 as device_plugin
from simulator.protocol.services import REGISTER
from tests.live.rubbish import EVIL, PREFERENCE, REGISTRATION, SAYINGS
from tests.live.worlds import GPU, NODE, WITHIN, a_spec, a_world, done
from tests.logged import logged_faults
from tests.wire.plugin import Plugin
from tests.wire.test_hostile_bytes import FULL_ANSWER, FULL_LIST

GOOD_LIST: Final = device_plugin.ListAndWatchResponse.FromString(FULL_LIST)
GOOD_ANSWER: Final = device_plugin.AllocateResponse.FromString(FULL_ANSWER)
SPEED: Final = 50.0
REFUSED: Final = "Pod was rejected: Allocate failed due to "
DIAL_TIMEOUT: Final = Duration(5 * SECOND)
"""By the node's time, so a tenth of a second by the real one."""
A_ROUND: Final = 25
"""Sayings on one node."""


@pytest.fixture
def faults() -> Iterator[list[str]]:
    with logged_faults() as found:
        yield found


class Evil:
    """A hostile plugin beside a good one on one node."""

    def __init__(self, world: LiveWorld, plugin: Plugin, channel: grpc.aio.Channel) -> None:
        self.world = world
        self.plugin = plugin
        self._register: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(
            REGISTER.path
        )
        self._pods = 0

    async def register(self, content: bytes = REGISTRATION) -> str:
        """Register with these bytes; returns the error's text, empty when there is none."""
        try:
            await self._register(content)
        except grpc.aio.AioRpcError as error:
            return f"{error.code().name}: {error.details()}"
        return ""

    async def comes_back(self) -> None:
        """Register until the kubelet has the good list, as plugins do.

        The end of an earlier registration may cut a later one (S1.22).
        """

        def listed() -> bool:
            kubelet = self.world.nodes[NODE].kubelet
            healthy = kubelet.manager.snapshot().healthy if kubelet is not None else {}
            return len(healthy.get(ResourceName(EVIL), ())) == len(GOOD_LIST.devices)

        for _ in range(WITHIN // SECOND):
            behave(self.plugin)
            if await self.register() == "" and await self.world.until(listed, Duration(SECOND)):
                return
        pytest.fail("the plugin cannot register any more")

    async def pod(self, resource: str, count: int) -> tuple[str, str]:
        """Create a pod, wait until it is decided, delete it; returns phase and message."""
        self._pods += 1
        name = f"p{self._pods}"
        limits = ((ResourceName(resource), count),)
        containers = (Container(ContainerName("main"), limits=limits),)
        spec = PodSpec(
            name, Pod(PodUid(""), name, "default", containers), NODE, termination_grace=Duration(0)
        )
        world = self.world
        world.enter(lambda: _create(world, spec))

        def decided() -> bool:
            found = world.pod(name)
            return found is not None and found.phase != "Pending"

        assert await world.until(decided, WITHIN), world.pod(name)
        found = world.pod(name)
        assert found is not None
        said = (found.phase, found.message)
        await self._deleted(found.uid)
        return said

    async def _deleted(self, uid: PodUid) -> None:
        api = self.world.api

        def delete() -> None:
            pod = api.pod(uid)
            assert pod is not None
            api.mark_deleting(pod)

        self.world.enter(delete)
        assert await self.world.until(lambda: api.pod(uid) is None, WITHIN)


@asynccontextmanager
async def beside(world: LiveWorld) -> AsyncIterator[Evil]:
    """Run a hostile plugin on a world's node."""
    folder = world.settings.folder(NODE)
    async with (
        Plugin(folder.device_plugins / "evil.sock") as plugin,
        grpc.aio.insecure_channel(f"unix:{folder.registration_socket}") as channel,
    ):
        yield Evil(world, plugin, channel)


def _create(world: LiveWorld, spec: PodSpec) -> None:
    world.factory.create(spec, name=spec.name, node=NODE)


def behave(plugin: Plugin) -> None:
    """Let a plugin answer as it should."""
    plugin.options = device_plugin.DevicePluginOptions(get_preferred_allocation_available=True)
    plugin.lists = asyncio.Queue()
    plugin.lists.put_nowait(GOOD_LIST)
    plugin.allocated = GOOD_ANSWER
    plugin.preferred = PREFERENCE


async def hear(evil: Evil, kind: str, saying: bytes) -> None:
    """Let the plugin say one thing wrong, and then behave."""
    plugin = evil.plugin
    behave(plugin)
    if kind == "register":
        await evil.register(saying)
    elif kind == "options":
        plugin.options = saying
        await evil.register()
    elif kind == "list":
        plugin.lists = asyncio.Queue()
        plugin.lists.put_nowait(saying)
        plugin.lists.put_nowait(None)
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
                await evil.comes_back()
                assert await evil.pod(EVIL, 2) == ("Running", "")
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
