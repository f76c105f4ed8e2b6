"""Live nodes that begin in the middle of their life, and ones whose surroundings take no time."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from simulator.core.checkpoint.bindings import checkpoint_of
from simulator.core.checkpoint.render import render
from simulator.core.devices import DeviceId, NumaNode
from simulator.core.pods import ContainerName, Pod, PodUid
from simulator.core.switches import behavior_for
from simulator.core.transitions import DeviceBinding, NodeName
from simulator.engine.spec import NodeSpec
from tests.live.worlds import GPU, WITHIN, a_pod, a_spec, a_world

FORMAT = behavior_for("1.36.2").checkpoint_written


def with_a_pod(name: str) -> NodeSpec:
    """Return a node whose checkpoint gives a device to a pod."""
    pod: Pod = replace(a_pod("a").pod, uid=PodUid(f"uid-{name}"), name=f"pod-{name}")
    device = {NumaNode(-1): (DeviceId("gpu-0"),)}
    binding = DeviceBinding(pod.uid, ContainerName("main"), GPU, device, b"")
    file = render(checkpoint_of([binding], [(GPU, [DeviceId("gpu-0")])], FORMAT))
    return NodeSpec(NodeName(name), checkpoint=file, pods=(pod,))


def test_nodes_with_checkpoints_begin_on_a_database() -> None:
    async def play() -> None:
        nodes = tuple(with_a_pod(f"n{number}") for number in range(5))
        async with a_world(a_spec(persistence="database", nodes=nodes)) as world:
            held = {name: [each.pod for each in world.holdings(name)] for name in world.nodes}

            assert held == {NodeName(f"n{n}"): [PodUid(f"uid-n{n}")] for n in range(5)}
            assert await world.until(
                lambda: all(pod.phase == "Running" for pod in world.pods()), WITHIN
            )

    asyncio.run(play())
