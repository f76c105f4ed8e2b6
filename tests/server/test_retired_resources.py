"""`describe node` tells a resource that is retired from one that is broken."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from simulator.core.instants import SECOND, Duration
from simulator.core.resources import ResourceName
from simulator.engine.actions import StartPlugin, StopPlugin
from simulator.live.world import LiveWorld
from simulator.server.node_objects import resource_lines, retired_lines
from tests.live.worlds import NODE, WITHIN, a_plugin, a_spec, a_world, done

AF = ResourceName("fpga.example.com/af")
REGION = ResourceName("fpga.example.com/region")
GRACE = Duration(300 * SECOND)
TICK = Duration(10 * SECOND)


def shown(world: LiveWorld) -> dict[object, tuple[object, object, object]]:
    """Return capacity, allocatable and endpoint of each resource."""
    node = world.nodes[NODE]
    return {
        line["resourceName"]: (line["capacity"], line["allocatable"], line["endpoint"])
        for line in (*resource_lines(node), *retired_lines(node, world.api))
    }


async def reported(world: LiveWorld, capacity: int) -> None:
    """Wait until the Node object has it."""
    world.put_forward(TICK)
    assert await world.until(lambda: world.api.node(NODE).capacity.get(AF) == capacity, WITHIN)


def test_a_mode_that_was_left_is_retired_when_its_grace_period_is_over() -> None:
    """R71: 0 of 0 beside the new mode, without an endpoint, is no fault (S2.10, S2.13)."""
    old = replace(a_plugin("af", 1), resource=AF)
    new = replace(a_plugin("region", 1), resource=REGION)
    spec = a_spec(persistence="checkpoint", pods=(), plugins=(old, new))

    async def run() -> list[dict[object, tuple[object, object, object]]]:
        found = []
        async with a_world(spec) as world:
            await done(world, StartPlugin("af"), "start af")
            await reported(world, 1)
            await done(world, StopPlugin("af"), "stop af")
            await done(world, StartPlugin("region"), "start region")
            found.append(shown(world))
            world.put_forward(GRACE)
            await reported(world, 0)
            found.append(shown(world))
            await done(world, StartPlugin("af"), "start af again")
            found.append(shown(world))
        return found

    away, over, back = asyncio.run(run())
    assert away == {AF: (1, 0, "Disconnected"), REGION: (1, 1, "Registered")}
    assert over == {AF: (0, 0, "Retired"), REGION: (1, 1, "Registered")}
    assert back == {AF: (1, 1, "Registered"), REGION: (1, 1, "Registered")}
