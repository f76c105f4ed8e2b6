"""However often plugins come and go, and however much they say, nothing piles up on a node."""

from __future__ import annotations

import asyncio
import gc
from pathlib import Path

import pytest

from simulator.core.instants import HOUR, MILLISECOND, SECOND, Duration
from simulator.core.records import RegistrationRefused
from simulator.protocol import rebind_deviceplugin_pb2 as device_plugin
from tests.live.hostile import Evil, behave, beside
from tests.live.rubbish import EVIL
from tests.live.worlds import NODE, WITHIN, a_spec, a_world

LOOK = Duration(100 * MILLISECOND)
FILES = 3
"""So many more files may be open."""


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def objects() -> int:
    """Count our own objects, tasks and channels; asyncio and gRPC forget theirs when they like."""
    gc.collect()
    kinds = (type(each) for each in gc.get_objects())
    own = sum(str(kind.__module__).startswith(("simulator.", "grpc.aio")) for kind in kinds)
    return own + len(asyncio.all_tasks())


def registration(name: str, endpoint: str = "evil.sock") -> bytes:
    request = device_plugin.RegisterRequest(
        version="v1beta1", endpoint=endpoint, resource_name=name
    )
    return request.SerializeToString()


async def come_and_go(evil: Evil, times: int) -> None:
    for _ in range(times):
        await evil.comes_back()
        evil.plugin.over.set()
        assert await evil.is_listed(0)
        evil.plugin.calls.clear()


def grown(times: int) -> tuple[int, int]:
    """Return by how many objects and open files a node grows while a plugin comes and goes."""

    async def play() -> tuple[int, int]:
        async with a_world(a_spec(), speed=50.0, dial_timeout=HOUR) as world, beside(world) as evil:
            await come_and_go(evil, 30)
            world.records.clear()
            before = objects(), open_files()
            await come_and_go(evil, times)
            for _ in range(WITHIN // LOOK):  # The last connections may still be closing.
                if open_files() <= before[1] + FILES:
                    break
                await asyncio.sleep(LOOK / SECOND)
            world.records.clear()
            after = objects(), open_files()
        return after[0] - before[0], after[1] - before[1]

    return asyncio.run(play())


def test_a_plugin_that_comes_and_goes_leaves_nothing_behind() -> None:
    objects, files = grown(200)

    assert objects < 100
    assert files <= FILES


def test_resources_that_share_a_socket_are_told_while_they_do(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Conventions 4, trap 2: two plugins may have taken one socket name; a refused one has none."""

    async def play() -> None:
        async with a_world(a_spec(), speed=50.0, dial_timeout=HOUR) as world, beside(world) as evil:
            assert await evil.register() == ""
            assert "is invalid" in await evil.register(registration("no name"))
            evil.plugin.over.set()
            kubelet = world.parts.sockets_of(NODE).present
            assert kubelet is not None
            assert await world.until(lambda: not kubelet.peers_at("evil.sock"), WITHIN)
            behave(evil.plugin)
            assert await evil.register(registration("example.com/nic")) == ""
            assert caplog.messages == []
            assert await evil.register() == ""

    asyncio.run(play())

    (message,) = caplog.messages
    assert message.endswith(
        "/evil.sock serves example.com/evil and also example.com/nic: "
        "two plugins may have taken one socket name"
    )


def test_texts_of_absurd_length_are_refused_and_not_kept() -> None:
    async def play() -> tuple[list[str], list[RegistrationRefused]]:
        async with a_world(a_spec(), speed=50.0, dial_timeout=HOUR) as world, beside(world) as evil:
            said = [
                await evil.register(registration("x" * 1_000_000)),
                await evil.register(registration(EVIL, endpoint="y" * 1_000_000)),
            ]
            refused = [
                each.record
                for each in world.records
                if isinstance(each.record, RegistrationRefused)
            ]
        return said, refused

    said, refused = asyncio.run(play())

    assert said == [
        "UNKNOWN: the resource name has 1000000 characters, at most 4096 are taken",
        "UNKNOWN: the endpoint has 1000000 characters, at most 4096 are taken",
    ]
    assert [f"UNKNOWN: {each.message}" for each in refused] == said
    assert [each.resource for each in refused] == ["x" * 40, EVIL]


@pytest.mark.soak
def test_a_plugin_that_comes_and_goes_10_000_times_leaves_nothing_behind() -> None:
    objects, files = grown(10_000)

    assert objects < 100
    assert files <= FILES
