"""Nodes on the real clock: plugins over real sockets, restarts, reboots."""

from __future__ import annotations

import asyncio
import stat
from functools import partial

import pytest

from simulator.core.instants import MINUTE, Duration
from simulator.core.records import InvariantViolated, PluginDisconnected, ResourceExpired
from simulator.core.registration import RegisterRequest
from simulator.engine.actions import CreatePod, RebootNode, RestartKubelet, StartPlugin, StopPlugin
from simulator.live.world import LiveWorld
from tests.live.worlds import GPU, NODE, WITHIN, a_spec, a_world, done
from tests.wire.plugin import Plugin

REFUSED = "UnexpectedAdmissionError"


def phase(world: LiveWorld) -> tuple[str, str]:
    pod = world.pod("a")
    assert pod is not None
    return pod.phase, pod.reason


def violations(world: LiveWorld) -> list[object]:
    return [each for each in world.records if isinstance(each.record, InvariantViolated)]


@pytest.mark.parametrize("persistence", ["checkpoint", "database"])
def test_a_pod_keeps_its_device_over_a_restart_and_loses_it_at_a_reboot(persistence: str) -> None:
    """S5.6, S3.11: at 1.36 a running pod is left alone, one from before a reboot is not."""

    async def play() -> None:
        async with a_world(a_spec(persistence=persistence)) as world:
            await done(world, StartPlugin("gpu"), "plugin")
            await done(world, CreatePod("a", NODE), "pod")
            pod = world.pod("a")
            assert pod is not None
            assert (pod.phase, pod.device_ids) == ("Running", ((GPU, ("gpu-0",)),))
            await done(world, RestartKubelet(NODE, Duration(0)), "restart")
            pod = world.pod("a")
            assert pod is not None
            assert (pod.phase, pod.unchanged) == ("Running", True)
            assert await world.until(lambda: world.plugins["gpu"].listed, WITHIN)
            await done(world, RebootNode(NODE, Duration(0)), "reboot")
            assert await world.until(lambda: phase(world) == ("Failed", REFUSED), WITHIN)
            assert violations(world) == []

    asyncio.run(play())


def test_the_grace_period_of_a_plugin_can_be_put_behind() -> None:
    """S2.5, S2.9: 5 minutes after its plugin has gone, a resource is dropped."""

    async def play() -> None:
        async with a_world(a_spec()) as world:
            await done(world, StartPlugin("gpu"), "plugin")
            await done(world, StopPlugin("gpu"), "stop")
            assert await world.until(lambda: not world.plugins["gpu"].registered, WITHIN)
            world.put_forward(Duration(5 * MINUTE + MINUTE))
            assert await world.until(
                lambda: any(isinstance(each.record, ResourceExpired) for each in world.records),
                WITHIN,
            )
            assert world.node(NODE).capacity == ()

    asyncio.run(play())


def test_the_sockets_of_a_node_are_its_owners_alone() -> None:
    """Details 13: 0600, below directories of mode 0750 (S1.8, S8.1)."""

    async def play() -> None:
        async with a_world(a_spec()) as world:
            folder = world.settings.folder(NODE)
            for socket in (folder.registration_socket, folder.pod_resources_socket):
                assert stat.S_IMODE(socket.stat().st_mode) == 0o600
                assert stat.S_IMODE(socket.parent.stat().st_mode) == 0o750

    asyncio.run(play())


def test_a_socket_name_that_is_used_again_is_no_longer_its_last_plugins(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Trap 2 is two plugins at one socket; one after the other is how plugins are restarted."""

    async def play() -> None:
        async with a_world(a_spec(plugins=())) as world:
            sockets = world.parts.sockets_of(NODE).present
            assert sockets is not None
            path = world.settings.folder(NODE).device_plugins / "one.sock"
            for number in (1, 2):
                async with Plugin(path):
                    resource = f"example.com/{number}"
                    request = RegisterRequest(resource, version="v1beta1", endpoint="one.sock")
                    assert await sockets.connect(request, path) == ""
                assert await world.until(partial(is_disconnected, world, number), WITHIN)

    asyncio.run(play())

    assert not any("two plugins" in each.getMessage() for each in caplog.records)


def is_disconnected(world: LiveWorld, times: int) -> bool:
    records = [each.record for each in world.records]
    return sum(isinstance(record, PluginDisconnected) for record in records) == times
