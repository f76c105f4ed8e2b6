"""Upstream's tests of a whole node, on a live one (upstream-tests.md 2, 6 and 8).

What they say of restarts and deleted pods is shown by scenarios that `tests.test_conformance` plays
live: `assignments-survive-restarts`, `completed-pod-readmitted`, `orphan-of-downtime`.
"""

from __future__ import annotations

import asyncio

import pytest

from simulator.core.instants import MINUTE, SECOND, Duration
from simulator.core.records import RegistrationRefused
from simulator.engine.actions import CreatePod, RebootNode
from simulator.live.world import LiveWorld
from simulator.wire.pod_resources_client import list_pods
from tests.live.real_plugins import Beside, beside, on_a_node, records_of, until
from tests.live.worlds import GPU, NODE, done

A_LOOK = Duration(11 * SECOND)
"""Time in which the node's status is computed once more (S2.15)."""


async def shows(world: LiveWorld, allocatable: int, capacity: int) -> None:
    """Wait until the Node object shows these numbers, at most a minute later on the node."""
    wanted = (((GPU, allocatable),), ((GPU, capacity),))

    def shown() -> object:
        node = world.node(NODE)
        return node.status_allocatable, node.status_capacity

    for _ in range(5):
        if shown() != wanted:
            world.put_forward(A_LOOK)
            await world.sleep(Duration(SECOND // 50))
    assert shown() == wanted


async def knows(world: LiveWorld, allocatable: int, capacity: int) -> None:
    """Wait until the kubelet has these numbers from the plugin."""

    def is_known() -> bool:
        node = world.node(NODE)
        return (node.allocatable, node.capacity) == (((GPU, allocatable),), ((GPU, capacity),))

    await until(world, is_known)


def say(plugin: Beside, *sick: int, count: int) -> None:
    """Send a list of so many devices, of which some are sick."""
    plugin.send_states(
        *((f"d{number}", "Unhealthy" if number in sick else "Healthy") for number in range(count))
    )


def phase(world: LiveWorld) -> str:
    pod = world.pod("a")
    return "" if pod is None else pod.phase


def test_an_endpoint_is_connected_and_torn_down() -> None:
    """TestNewEndpoint; S1.12: nothing is left of it but the socket."""

    async def test(world: LiveWorld) -> None:
        async with beside(world) as plugin:
            assert await plugin.register() == ""
            await plugin.lists("ADeviceId")
            sockets = world.parts.sockets_of(NODE).present
            assert sockets is not None
            [peer] = sockets.peers_at("p.sock")
            await peer.close()
            await until(world, lambda: sockets.peers_at("p.sock") == [])

    on_a_node(test)


def test_the_options_fail() -> None:
    """Upstream-tests.md 8: the text, one call, and a node that never shows the resource."""

    async def test(world: LiveWorld) -> None:
        async with beside(world) as plugin:
            plugin.plugin.error = "options are out"
            error = await plugin.register()
            assert "failed to get device plugin options" in error
            assert "options are out" in error
            assert len(plugin.plugin.calls) == 1
            world.put_forward(MINUTE)
            await world.sleep(Duration(SECOND // 50))
            node = world.node(NODE)
            assert (node.status_capacity, node.status_allocatable) == ((), ())
            assert len(records_of(world, RegistrationRefused)) == 1

    on_a_node(test)


@pytest.mark.parametrize(
    ("count", "steps"),
    [
        (1, [((), 1), ((0,), 0), ((), 1)]),
        (4, [((), 4), ((3,), 3), ((), 4), ((0, 3), 2), ((0,), 3), ((), 4)]),
    ],
)
def test_devices_become_sick_and_well(count: int, steps: list[tuple[tuple[int, ...], int]]) -> None:
    """Upstream-tests.md 8: (allocatable, capacity), each within a minute."""

    async def test(world: LiveWorld) -> None:
        async with beside(world) as plugin:
            assert await plugin.register() == ""
            for sick, allocatable in steps:
                say(plugin, *sick, count=count)
                await knows(world, allocatable, count)
                await shows(world, allocatable, count)

    on_a_node(test)


def test_a_device_becomes_sick_while_its_pod_runs() -> None:
    """Upstream-tests.md 8, S9.7: the pod runs on for a minute at least, and is not touched."""

    async def test(world: LiveWorld) -> None:
        async with beside(world) as plugin:
            assert await plugin.register() == ""
            await plugin.lists("d0")
            await done(world, CreatePod("a", NODE), "pod")
            say(plugin, 0, count=1)
            await knows(world, 0, 1)
            await shows(world, 0, 1)
            world.put_forward(MINUTE)
            await world.sleep(Duration(SECOND // 50))
            pod = world.pod("a")
            assert pod is not None
            assert (pod.phase, pod.restarts) == ("Running", 0)
            world.enter(lambda: world.api.remove(pod.uid))
            await shows(world, 0, 1)

    on_a_node(test)


@pytest.mark.parametrize("ends", ["stream", "process"])
def test_a_list_ends_later_or_its_plugin_stops(ends: str) -> None:
    """Upstream-tests.md 8, S2.10, S2.13: (2,2), (0,2), and after the grace period (0,0)."""

    async def test(world: LiveWorld) -> None:
        async with beside(world) as plugin:
            assert await plugin.register() == ""
            await plugin.lists("d0", "d1")
            await shows(world, 2, 2)
            calls = len(plugin.plugin.calls)
            if ends == "stream":
                plugin.plugin.lists.put_nowait(None)
            else:
                await plugin.plugin.server.stop()
            await until(world, lambda: dict(world.node(NODE).allocatable) == {GPU: 0})
            await shows(world, 0, 2)
            world.put_forward(Duration(5 * MINUTE))
            await shows(world, 0, 0)
            assert len(plugin.plugin.calls) == calls

    on_a_node(test)


def test_a_node_reboots_and_the_plugin_does_not_register_again() -> None:
    """Upstream-tests.md 8: the pod has failed within a minute, and no agent is told of it."""

    async def test(world: LiveWorld) -> None:
        async with beside(world) as plugin:
            assert await plugin.register() == ""
            await plugin.lists("d0")
            await done(world, CreatePod("a", NODE), "pod")
            socket = world.settings.folder(NODE).pod_resources_socket
            assert [pod.name for pod in await list_pods(socket)] == ["a"]
            await done(world, RebootNode(NODE, Duration(0)), "reboot")
            pod = world.pod("a")
            assert pod is not None
            await until(
                world, lambda: (seen := world.pod("a")) is not None and seen.phase == "Failed"
            )
            world.put_forward(Duration(30 * SECOND))
            await world.sleep(Duration(SECOND // 50))
            assert [pod.name for pod in await list_pods(socket)] == []

    on_a_node(test)


def test_200_calls_in_a_tight_loop_are_not_all_answered() -> None:
    """Upstream-tests.md 8, S8.3: the first succeeds, at least one is rejected.

    On a slow clock, so that on a slow machine, too, they come within a moment.
    """

    async def test(world: LiveWorld) -> None:
        socket = world.settings.folder(NODE).pod_resources_socket
        await list_pods(socket)
        calls = (list_pods(socket) for _ in range(199))
        answers = await asyncio.gather(*calls, return_exceptions=True)
        refused = [answer for answer in answers if isinstance(answer, BaseException)]
        assert refused
        assert {str(error).rpartition(": ")[2] for error in refused} == {"rejected by rate limit"}

    on_a_node(test, speed=0.1)
