"""A hostile plugin beside a good one, on one live node."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import grpc
import grpc.aio
import pytest
from typing_extensions import override

from simulator.core.instants import SECOND, Duration
from simulator.core.pods import Container, ContainerName, Pod, PodUid
from simulator.core.resources import ResourceName
from simulator.engine.spec import PodSpec
from simulator.live.world import LiveWorld
from simulator.protocol import rebind_deviceplugin_pb2 as device_plugin
from simulator.protocol.services import REGISTER
from tests.live.rubbish import EVIL, PREFERENCE, REGISTRATION
from tests.live.worlds import NODE, WITHIN
from tests.wire.plugin import DEADLINE_S, Plugin
from tests.wire.test_hostile_bytes import FULL_ANSWER, FULL_LIST

GOOD_LIST: Final = device_plugin.ListAndWatchResponse.FromString(FULL_LIST)
GOOD_ANSWER: Final = device_plugin.AllocateResponse.FromString(FULL_ANSWER)


class HostilePlugin(Plugin):
    """Says the same to each stream that begins, whatever an earlier one was told.

    Attributes:
        script: What a stream is told.
        over: Set when the streams are to end that began since it is there.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.script: Sequence[device_plugin.ListAndWatchResponse | bytes] = (GOOD_LIST,)
        self.over = asyncio.Event()

    @override
    async def _list(
        self, request: device_plugin.Empty
    ) -> AsyncIterator[device_plugin.ListAndWatchResponse | bytes]:
        over = self.over
        for devices in self.script:
            yield devices
        await over.wait()


class Evil:
    """A hostile plugin beside a good one on one node."""

    def __init__(self, world: LiveWorld, plugin: HostilePlugin, channel: grpc.aio.Channel) -> None:
        self.world = world
        self.plugin = plugin
        self._register: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(
            REGISTER.path
        )
        self._pods = 0

    async def register(self, content: bytes = REGISTRATION, within_s: float = DEADLINE_S) -> str:
        """Register with these bytes; returns the error's text, empty when there is none."""
        try:
            await self._register(content, timeout=within_s)
        except grpc.aio.AioRpcError as error:
            return f"{error.code().name}: {error.details()}"
        return ""

    async def comes_back(self) -> None:
        """Register until the kubelet has the good list, as plugins do.

        The end of an earlier registration may cut a later one (S1.22).
        """
        for _ in range(WITHIN // SECOND):
            behave(self.plugin)
            good = len(GOOD_LIST.devices)
            if await self.register() == "" and await self.is_listed(good, Duration(SECOND)):
                return
        pytest.fail("the plugin cannot register any more")

    async def is_listed(self, count: int, within: Duration = WITHIN) -> bool:
        """Wait until the node knows so many healthy devices, and tell whether it came to that."""

        def known() -> bool:
            kubelet = self.world.nodes[NODE].kubelet
            healthy = kubelet.manager.snapshot().healthy if kubelet is not None else {}
            return len(healthy.get(ResourceName(EVIL), ())) == count

        return await self.world.until(known, within)

    async def serves(self) -> None:
        """Come back until a pod runs, which the end of an earlier registration may cut, too."""
        said = ("", "")
        for _ in range(WITHIN // SECOND):
            await self.comes_back()
            said = await self.pod(EVIL, 2)
            if said == ("Running", ""):
                return
        pytest.fail(f"pods get no devices any more: {said}")

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
        HostilePlugin(folder.device_plugins / "evil.sock") as plugin,
        grpc.aio.insecure_channel(f"unix:{folder.registration_socket}") as channel,
    ):
        yield Evil(world, plugin, channel)


def _create(world: LiveWorld, spec: PodSpec) -> None:
    world.factory.create(spec, name=spec.name, node=NODE)


def behave(plugin: HostilePlugin) -> None:
    """Let a plugin answer as it should."""
    plugin.options = device_plugin.DevicePluginOptions(get_preferred_allocation_available=True)
    plugin.script, plugin.over = (GOOD_LIST,), asyncio.Event()
    plugin.allocated = GOOD_ANSWER
    plugin.preferred = PREFERENCE
