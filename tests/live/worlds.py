"""Live worlds for tests: short folders, a store of their own, an asyncio loop around each test."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from simulator.core.devices import HEALTHY, Device, DeviceId
from simulator.core.instants import SECOND, Duration, Instant
from simulator.core.pods import Container, ContainerName, Pod, PodUid
from simulator.core.resources import ResourceName
from simulator.core.transitions import NodeName
from simulator.engine.actions import Action
from simulator.engine.spec import NodeSpec, PluginSpec, PodSpec, SimulationSpec
from simulator.engine.world import Watching
from simulator.live.settings import LiveSettings
from simulator.live.world import LiveWorld
from simulator.ports import Durability
from store.sql_store import SqlStore

GPU = ResourceName("example.com/gpu")
NODE = NodeName("n0")
WITHIN = Duration(60 * SECOND)


def devices(count: int) -> tuple[Device, ...]:
    return tuple(Device(DeviceId(f"gpu-{number}"), HEALTHY, None) for number in range(count))


def a_plugin(name: str = "gpu", count: int = 4) -> PluginSpec:
    return PluginSpec(name, NODE, GPU, devices(count))


def a_pod(name: str, count: int = 1) -> PodSpec:
    container = Container(ContainerName("main"), limits=((GPU, count),))
    return PodSpec(name, Pod(PodUid(""), name, containers=(container,)))


def a_spec(**changes: object) -> SimulationSpec:
    spec = SimulationSpec(nodes=(NodeSpec(NODE),), plugins=(a_plugin(),), pods=(a_pod("a"),))
    return replace(spec, **changes)  # type: ignore[arg-type]  # keywords of the spec


@asynccontextmanager
async def a_world(spec: SimulationSpec, **settings: object) -> AsyncIterator[LiveWorld]:
    """Yield a world whose nodes serve; its folder is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="rb") as folder:
        store = SqlStore(f"sqlite:///{folder}/rebind.db", durability=Durability.OFF)
        chosen = LiveSettings(root=Path(folder), start=Instant(0))
        world = LiveWorld(
            spec,
            replace(chosen, **settings),  # type: ignore[arg-type]  # keywords of the settings
            store,
            Watching(invariants=True),
        )
        try:
            world.begin()
            assert await world.until(lambda: all(n.settled for n in world.nodes.values()), WITHIN)
            yield world
        finally:
            await world.close()
            store.close()


async def done(world: LiveWorld, action: Action, name: str) -> None:
    """Perform an action and wait until it is complete."""
    world.enter(lambda: world.perform(action, name))
    assert await world.until(lambda: world.completed_at(name) is not None, WITHIN), name
