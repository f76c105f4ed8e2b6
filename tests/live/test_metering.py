"""What a live cluster measures, and plugins that its kubelets find by themselves (S1.37, S11)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from simulator.core.allocate_response import AllocateResponse, encode
from simulator.core.instants import HOUR, Duration
from simulator.core.records import RegistrationRefused
from simulator.core.transitions import NodeName
from simulator.engine.actions import CreatePod, RestartKubelet, StartPlugin
from simulator.engine.spec import NodeSpec
from simulator.live.world import LiveWorld
from simulator.protocol import rebind_deviceplugin_pb2 as device_plugin
from simulator.protocol import rebind_pluginregistration_pb2 as registration
from simulator.protocol import services
from simulator.wire.servers import UnixServer
from tests.live.real_plugins import until
from tests.live.worlds import GPU, NODE, WITHIN, a_pod, a_spec, a_world, done

REGISTRATIONS = 'kubelet_device_plugin_registration_total{resource_name="example.com/gpu"}'
TOTALS = "plugin_manager_total_plugins"


def values(world: LiveWorld) -> dict[str, float]:
    """Return the samples of the page of everything."""
    lines = world.metering.pages.everything().decode().splitlines()
    pairs = [line.rsplit(" ", 1) for line in lines if not line.startswith("#")]
    return {name: float(value) for name, value in pairs}


class Watched:
    """A plugin in `plugins_registry` whose registration socket serves the devices too."""

    def __init__(self, path: Path, name: str = GPU) -> None:
        self.server = UnixServer(path)
        self.told: list[tuple[bool, str]] = []
        self._name = name
        self.server.answer(services.GET_INFO, self._info)
        self.server.answer(services.NOTIFY_REGISTRATION_STATUS, self._notify)
        self.server.answer(services.GET_DEVICE_PLUGIN_OPTIONS, self._options)
        self.server.answer(services.ALLOCATE, self._allocate)
        self.server.stream(services.LIST_AND_WATCH, self._list)

    async def _info(self, _: registration.InfoRequest) -> registration.PluginInfo:
        return registration.PluginInfo(
            type="DevicePlugin", name=self._name, supported_versions=["v1beta1"]
        )

    async def _notify(
        self, status: registration.RegistrationStatus
    ) -> registration.RegistrationStatusResponse:
        self.told.append((status.plugin_registered, status.error))
        return registration.RegistrationStatusResponse()

    async def _options(self, _: device_plugin.Empty) -> device_plugin.DevicePluginOptions:
        return device_plugin.DevicePluginOptions()

    async def _allocate(self, _: device_plugin.AllocateRequest) -> device_plugin.AllocateResponse:
        content = encode(AllocateResponse(envs={"A": "1"}))
        one = device_plugin.ContainerAllocateResponse.FromString(content)
        return device_plugin.AllocateResponse(container_responses=[one])

    async def _list(
        self, _: device_plugin.Empty
    ) -> AsyncIterator[device_plugin.ListAndWatchResponse]:
        listed = [device_plugin.Device(ID="w0", health="Healthy")]
        yield device_plugin.ListAndWatchResponse(devices=listed)
        await asyncio.Event().wait()


@asynccontextmanager
async def watched(world: LiveWorld, name: str = GPU) -> AsyncIterator[Watched]:
    path = world.settings.folder(NODE).plugins_registry / "vendor.sock"
    plugin = Watched(path, name)
    await plugin.server.start()
    try:
        yield plugin
    finally:
        await plugin.server.stop()


def allocatable(world: LiveWorld) -> dict[str, int]:
    kubelet = world.nodes[NODE].kubelet
    if kubelet is None:
        return {}
    return {str(name): count for name, count in kubelet.manager.capacity().allocatable.items()}


def test_a_plugin_in_the_registry_is_found_and_comes_back_after_a_restart_by_itself() -> None:
    """S1.33, S1.36, S1.37, S1.38, TestMetricCollection."""

    async def play() -> None:
        async with a_world(a_spec(plugins=()), speed=20.0, dial_timeout=HOUR) as world:
            async with watched(world) as plugin:
                assert await world.until(lambda: allocatable(world) == {GPU: 1}, WITHIN)
                await done(world, CreatePod("a", NODE), "pod")
                found = world.pod("a")
                assert found is not None
                assert found.device_ids == ((GPU, ("w0",)),)
                assert REGISTRATIONS not in values(world)
                await until(world, lambda: plugin.told == [(True, "")])
                states = [name for name in values(world) if name.startswith(TOTALS)]
                assert len(states) == 2

                await done(world, RestartKubelet(NODE, Duration(0)), "restart")
                assert await world.until(lambda: allocatable(world) == {GPU: 1}, WITHIN)
                await until(world, lambda: plugin.told == [(True, ""), (True, "")])
            assert await world.until(lambda: allocatable(world) == {GPU: 0}, WITHIN)

    asyncio.run(play())


def test_a_plugin_in_the_registry_that_is_refused_is_recorded() -> None:
    """S1.34."""

    async def play() -> None:
        async with (
            a_world(a_spec(plugins=()), speed=20.0, dial_timeout=HOUR) as world,
            watched(world, "gpu"),
        ):

            def refused() -> list[RegistrationRefused]:
                records = [each.record for each in world.records]
                return [each for each in records if isinstance(each, RegistrationRefused)]

            assert await world.until(lambda: refused() != [], WITHIN)
            assert refused()[0].resource == "gpu"
            assert refused()[0].message.endswith('the ResourceName "gpu" is invalid')

    asyncio.run(play())


@pytest.mark.parametrize("persistence", ["checkpoint", "database"])
def test_a_kubelet_counts_what_happens_and_begins_at_0_after_a_restart(persistence: str) -> None:
    """S11."""
    spec = a_spec(persistence=persistence, pods=(a_pod("a"), a_pod("b", 9)))
    requests = "kubelet_topology_manager_admission_requests_total"
    took = "kubelet_topology_manager_admission_duration_ms_count"
    allocated = (
        'kubelet_device_plugin_alloc_duration_seconds_count{resource_name="example.com/gpu"}'
    )
    bound = 'rebind_bound_devices{node="n0",resource_name="example.com/gpu"}'
    rejected = 'kubelet_admission_rejections_total{reason="UnexpectedAdmissionError"}'

    async def play() -> None:
        async with a_world(spec) as world:
            await done(world, StartPlugin("gpu"), "plugin")
            await done(world, CreatePod("a", NODE), "a")
            await done(world, CreatePod("b", NODE), "b")
            found = values(world)
            assert [found[name] for name in (REGISTRATIONS, requests, took)] == [1, 2, 2]
            assert [found[name] for name in (allocated, bound, rejected)] == [1, 1, 1]
            assert found['rebind_admissions_total{node="n0",result="refused"}'] == 1
            assert (found["rebind_store_commits_total"] > 0) == (persistence == "database")

            await done(world, RestartKubelet(NODE, Duration(0)), "restart")
            assert await world.until(lambda: values(world).get(REGISTRATIONS) == 1, WITHIN)
            assert allocated not in values(world)
            assert values(world)[bound] == 1

    asyncio.run(play())


def test_what_is_healthy_of_one_node_and_of_several() -> None:
    """S1.11."""

    async def play() -> None:
        nodes = (NodeSpec(NODE), NodeSpec(NodeName("n1")))
        async with a_world(a_spec(nodes=nodes)) as world:
            checks = {check.name: check.error for check in world.metering.checks()}
            assert checks == {"n0/device-plugin": "", "n1/device-plugin": ""}
        async with a_world(a_spec()) as world:
            [check] = world.metering.checks()
            assert (check.name, check.error) == ("device-plugin", "")
            world.enter(lambda: world.nodes[NODE].stop_kubelet("stopped"))
            [check] = world.metering.checks()
            assert check.error == "the kubelet is not running"
            assert world.metering.pages.of_node(NODE) is None

    asyncio.run(play())
