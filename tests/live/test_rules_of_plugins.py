"""Lists, streams and calls of plugins on a live node (S1.17 to S1.28, S2, S9)."""

from __future__ import annotations

from functools import partial

import pytest

from simulator.core.instants import MINUTE, SECOND, Duration
from simulator.core.records import (
    DevicesListed,
    HealthUpdated,
    ListTooLarge,
    PluginDisconnected,
    ResourceExpired,
    StateWritten,
)
from simulator.core.resources import ResourceName
from simulator.engine.actions import (
    CreatePod,
    RestartContainer,
    RestartKubelet,
)
from simulator.live.world import LiveWorld
from simulator.protocol import rebind_deviceplugin_pb2 as device_plugin
from simulator.wire.pod_resources_client import list_pods
from tests.live.real_plugins import (
    Beside,
    allocatable,
    beside,
    capacity,
    on_a_node,
    records_of,
    until,
)
from tests.live.worlds import GPU, NODE, done

NIC = ResourceName("example.com/nic")


async def registered(plugin: Beside, *ids: str) -> None:
    """Register a plugin, and send its first list."""
    assert await plugin.register() == ""
    await plugin.lists(*ids)


def health(world: LiveWorld, pod: str) -> dict[str, str]:
    """Return what the status of a pod says of its devices' health."""
    kubelet, made = world.nodes[NODE].kubelet, world.api.pod_named(pod)
    assert kubelet is not None
    assert made is not None
    statuses = kubelet.manager.resource_health(made.pod)
    return {
        str(device): state
        for of_container in statuses.values()
        for status in of_container
        for device, state in status.resources
    }


def test_a_list_is_the_whole_truth_and_an_id_may_be_in_it_twice() -> None:
    """S1.5, S1.17, S1.18, S1.20: only `Healthy` is healthy; a device can count as both."""

    async def test(world: LiveWorld) -> None:
        async with beside(world) as plugin:
            await registered(plugin, "d0", "d1", "d2")
            odd = [("d0", "Healthy"), ("d1", "healthy"), ("d2", ""), ("d3", "Unhealthy")]
            twice = [("d0", "Unhealthy")]
            for said in (odd, odd + twice):
                plugin.send_states(*said)
                await until(world, lambda: capacity(world) == len(said))  # noqa: B023 - at once
                assert allocatable(world) == 1
            plugin.plugin.send()
            await until(world, lambda: capacity(world) == 0)
            assert allocatable(world) == 0

    on_a_node(test)


def test_every_list_is_written_even_if_it_says_nothing_new() -> None:
    """S1.19; the plugin is asked for its options and its list once, and for nothing more."""

    async def test(world: LiveWorld) -> None:
        async with beside(world) as plugin:
            await registered(plugin, "d0")
            plugin.plugin.send("d0")
            await until(world, lambda: len(records_of(world, DevicesListed)) == 2)
            await until(world, lambda: len(records_of(world, StateWritten)) == 2)
            assert len(plugin.plugin.calls) == 2

    on_a_node(test)


def test_a_list_that_is_too_large_ends_the_stream_and_a_record_says_why() -> None:
    """S1.21, S2.6: 60,000 devices of 78 bytes do not fit into 4 MiB, 53,773 of them would."""

    async def test(world: LiveWorld) -> None:
        async with beside(world) as plugin:
            await registered(plugin, "d0")
            ids = [f"{number:065d}" for number in range(60_000)]
            plugin.plugin.send(*ids, health="Healthy")
            await until(world, lambda: allocatable(world) == 0)
            [record] = records_of(world, ListTooLarge)
            assert record == ListTooLarge(GPU, 60_000, 60_000 * 78, 4_194_304, 53_773)
            assert records_of(world, PluginDisconnected) == [PluginDisconnected(GPU)]
            assert capacity(world) == 1

    on_a_node(test)


@pytest.mark.parametrize(
    ("version", "left"), [("1.24.17", 1), ("1.25.0", 0), ("1.36.2", 0), ("1.37.0", 1)]
)
def test_the_end_of_an_old_instance_cuts_the_new_one_from_1_25_to_1_36(
    version: str, left: int
) -> None:
    """S1.22, S2.6: issues 121994 and 127803; the new one is not told."""

    async def test(world: LiveWorld) -> None:
        async with beside(world, "old.sock") as old, beside(world, "new.sock") as new:
            await registered(old, "d0")
            assert await new.register() == ""
            await new.lists("d0")
            await until(world, lambda: len(records_of(world, DevicesListed)) == 2)
            old.plugin.lists.put_nowait(None)
            await until(world, lambda: bool(records_of(world, PluginDisconnected)) or left == 1)
            await world.sleep(Duration(SECOND // 5))
            assert (capacity(world), allocatable(world)) == (1, left)

    on_a_node(test, version)


def test_a_list_that_fails_at_once_leaves_a_resource_without_devices() -> None:
    """S1.17, S2.6; upstream-tests.md 8: the plugin sees options and ListAndWatch, once each."""

    async def test(world: LiveWorld) -> None:
        async with beside(world) as plugin:
            plugin.plugin.lists.put_nowait(None)
            assert await plugin.register() == ""
            await until(world, lambda: capacity(world) == 0)
            world.put_forward(MINUTE)
            await world.sleep(Duration(SECOND // 10))
            shown = world.node(NODE)
            assert (shown.status_capacity, shown.status_allocatable) == (((GPU, 0),), ((GPU, 0),))
            assert len(plugin.plugin.calls) == 2

    on_a_node(test)


def test_a_plugin_is_asked_once_for_each_container_and_its_first_answer_counts() -> None:
    """S1.24, S1.25: whatever more is in the answer is ignored."""

    async def test(world: LiveWorld) -> None:
        async with beside(world) as plugin:
            plugin.plugin.options = device_plugin.DevicePluginOptions(
                get_preferred_allocation_available=True
            )
            second = device_plugin.ContainerAllocateResponse(envs={"A": "never"})
            assert isinstance(plugin.plugin.allocated, device_plugin.AllocateResponse)
            plugin.plugin.allocated.container_responses.append(second)
            await registered(plugin, "d0", "d1")
            await done(world, CreatePod("a", NODE), "pod")
            preferred, allocated = plugin.plugin.calls[-2:]
            assert isinstance(preferred, device_plugin.PreferredAllocationRequest)
            [asked] = preferred.container_requests
            assert sorted(asked.available_deviceIDs) == ["d0", "d1"]
            assert (list(asked.must_include_deviceIDs), asked.allocation_size) == ([], 1)
            assert isinstance(allocated, device_plugin.AllocateRequest)
            assert [len(each.devices_ids) for each in allocated.container_requests] == [1]
            [process] = world.nodes[NODE].runtime.running()
            assert process.given is not None
            assert process.given.options is not None
            assert process.given.options.envs == {"A": "b"}

    on_a_node(test)


def test_what_a_stopped_plugin_would_be_asked_fails_here() -> None:
    """S1.26, S1.27: PreStartContainer at every start of a container, and no RPC after the end."""

    async def test(world: LiveWorld) -> None:
        async with beside(world) as plugin:
            plugin.plugin.options = device_plugin.DevicePluginOptions(pre_start_required=True)
            await registered(plugin, "d0")
            await done(world, CreatePod("a", NODE), "pod")
            await done(world, RestartContainer("a", "main"), "again")
            kind = device_plugin.PreStartContainerRequest
            asked = [call for call in plugin.plugin.calls if isinstance(call, kind)]
            assert [list(call.devices_ids) for call in asked] == [["d0"], ["d0"]]
            plugin.plugin.lists.put_nowait(None)
            await until(world, lambda: allocatable(world) == 0)
            calls = len(plugin.plugin.calls)
            await done(world, RestartContainer("a", "main"), "last")
            pod = world.pod("a")
            assert pod is not None
            assert "has been stopped" in pod.waiting
            assert len(plugin.plugin.calls) == calls

    on_a_node(test)


def test_a_plugin_that_hangs_blocks_admissions_and_nothing_else() -> None:
    """S1.28, S8.7: issue 117435; other plugins' lists and PodResources go on."""

    async def test(world: LiveWorld) -> None:
        async with beside(world) as plugin, beside(world, "nic.sock") as other:
            await registered(plugin, "d0")
            assert await other.register(NIC) == ""
            other.plugin.send("n0")
            await until(world, lambda: capacity(world, NIC) == 1)
            plugin.plugin.hangs = True
            for name in ("a", "b"):
                world.enter(partial(world.perform, CreatePod(name, NODE), name))
            await until(world, lambda: len(plugin.plugin.calls) == 3)
            other.plugin.send("n0", "n1")
            await until(world, lambda: allocatable(world, NIC) == 2)
            socket = world.settings.folder(NODE).pod_resources_socket
            assert [pod.name for pod in await list_pods(socket)] == ["a"]
            pods = {name: pod for name in "ab" if (pod := world.pod(name)) is not None}
            assert {name: pod.phase for name, pod in pods.items()} == {
                "a": "Pending",
                "b": "Pending",
            }
            plugin.plugin.lists.put_nowait(None)  # Its stream ends, and its calls with it.
            await until(world, lambda: world.completed_at("b") is not None)

    on_a_node(test)


def test_after_a_restart_a_plugin_has_five_minutes_to_come_back() -> None:
    """S2.5, S2.8 to S2.12: 0 and 0 meanwhile; then the resource is dropped, once."""

    async def test(world: LiveWorld) -> None:
        async with beside(world) as plugin:
            await registered(plugin, "d0", "d1")
            await until(world, lambda: bool(records_of(world, StateWritten)))
            await done(world, RestartKubelet(NODE, Duration(0)), "restart")
            assert (capacity(world), allocatable(world)) == (0, 0)
            world.put_forward(Duration(5 * MINUTE - 10 * SECOND))
            await world.sleep(Duration(SECOND // 10))
            assert capacity(world) == 0
            world.put_forward(Duration(30 * SECOND))
            await until(world, lambda: bool(records_of(world, ResourceExpired)))
            world.put_forward(Duration(6 * MINUTE))
            await world.sleep(Duration(SECOND // 10))
            assert records_of(world, ResourceExpired) == [ResourceExpired(GPU)]
            assert capacity(world) is None

    on_a_node(test)


@pytest.mark.parametrize(("version", "told"), [("1.35.0", 0), ("1.36.2", 1)])
def test_the_health_of_a_device_is_in_the_status_of_its_pod(version: str, told: int) -> None:
    """S9.1, S9.3, S9.4, S9.6: as last reported; healthy when the list leaves it out."""

    async def test(world: LiveWorld) -> None:
        async with beside(world) as plugin:
            await registered(plugin, "d0", "d1")
            await done(world, CreatePod("a", NODE), "pod")
            assert health(world, "a") == {"d0": "Healthy"}
            plugin.plugin.send("d0", "d1", health="Unhealthy")
            await until(world, lambda: allocatable(world) == 0)
            assert health(world, "a") == {"d0": "Unhealthy"}
            updated = [each for each in records_of(world, HealthUpdated) if each.pods]
            assert len(updated) == told
            plugin.plugin.send("d1")
            await until(world, lambda: capacity(world) == 1)
            assert health(world, "a") == {"d0": "Healthy"}

    on_a_node(test, version)
