"""Two kubelets of one node name at one API server, as when an old machine comes back (W9)."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial

from simulator.core.devices import HEALTHY, Device, DeviceId
from simulator.core.records import DevicesBound
from simulator.engine.spec import SimulationSpec
from simulator.live.world import LiveWorld
from tests.api.serving.running import running_api
from tests.live.remote.test_remote_nodes import devices_in_spec
from tests.live.remote.worlds import PODS, a_client, asked, manifest, seen
from tests.live.worlds import NODE, WITHIN, a_plugin, a_spec


def a_machine(prefix: str) -> SimulationSpec:
    plugin = replace(a_plugin(), devices=(Device(DeviceId(f"{prefix}-0"), HEALTHY),))
    return a_spec(plugins=(plugin,), persistence="bind-resource")


def answers(world: LiveWorld) -> list[DevicesBound]:
    return [each.record for each in world.records if isinstance(each.record, DevicesBound)]


def _is_answered(world: LiveWorld) -> bool:
    return bool(answers(world))


def running(world: LiveWorld) -> list[str]:
    """Return the devices of the containers that run."""
    return [
        device
        for process in world.nodes[NODE].runtime.running()
        for _, ids in process.devices
        for device in ids
    ]


def test_only_the_kubelet_whose_devices_the_spec_has_starts_the_pod() -> None:
    """P3: the other one is answered 409, for devices are bound once."""

    async def run() -> tuple[list[str], list[list[str]], list[bool]]:
        with running_api() as api:
            async with (
                a_client(a_machine("old"), api.url) as old,
                a_client(a_machine("new"), api.url) as new,
            ):
                worlds = [old, new]
                await asked(api, "POST", PODS, manifest("a"))
                for world in worlds:
                    assert await world.until(partial(_is_answered, world), WITHIN)
                [winner] = [each for each in worlds if answers(each)[0].held]
                assert await winner.until(lambda: bool(running(winner)), WITHIN)
                pod = await seen(api, f"{PODS}/a", lambda pod: pod is not None)
                return (
                    devices_in_spec(pod),
                    [running(each) for each in worlds],
                    [bool(answers(each)[0].error) for each in worlds],
                )

    spec, given, refused = asyncio.run(run())
    assert sorted(refused) == [False, True]
    assert given[refused.index(False)] == spec
    assert given[refused.index(True)] == []
