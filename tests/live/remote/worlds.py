"""Live nodes that are clients of an API server, and what the tests ask that server."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from simulator.api.client.endpoint import endpoint_at
from simulator.core.instants import Duration, Instant
from simulator.engine.actions import StartPlugin
from simulator.engine.spec import SimulationSpec
from simulator.live.remote.settings import RemoteSettings
from simulator.live.world import LiveWorld
from tests.api.serving.running import Api, Document
from tests.live.worlds import GPU, NODE, WITHIN, a_world, done

PODS = "/api/v1/namespaces/default/pods"
BINDINGS = "/apis/rebind.internal/v1alpha1/namespaces/default/devicebindings"
_LOOK_S = 0.02


@asynccontextmanager
async def a_client(
    spec: SimulationSpec, url: str, *, schedules: bool = False, speed: float = 1.0
) -> AsyncIterator[LiveWorld]:
    """Yield a world of clients of the server at a URL; their plugins are listed.

    Args:
        spec: What it starts from.
        url: Where the server is.
        schedules: Whether Rebind schedules.
        speed: How much faster time passes on the nodes than for the test and the server.
    """
    remote = RemoteSettings(endpoint_at(url), schedules=schedules)
    dial = Duration(int(WITHIN * speed))
    async with a_world(
        spec, api=remote, start=Instant(time.time_ns()), speed=speed, dial_timeout=dial
    ) as world:
        for plugin in spec.plugins:
            await done(world, StartPlugin(plugin.name), f"start {plugin.name}")
        assert await world.until(lambda: NODE in {n.name for n in world.api.ready_nodes()}, WITHIN)
        yield world


def manifest(name: str, count: int = 1, node: str | None = NODE, **spec: object) -> Document:
    """Return a pod whose containers end at once when they are told to."""
    resources = {"limits": {GPU: str(count)}}
    containers = [{"name": "main", "image": "x", "resources": resources}]
    bound = {} if node is None else {"nodeName": node}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "annotations": {"rebind.internal/termination-time": "0"}},
        "spec": {"containers": containers, **bound, **spec},
    }


async def asked(api: Api, method: str, path: str, body: object = None) -> Document:
    """Ask the server, which is in another thread; return the answer."""
    return await asyncio.to_thread(api.ask, method, path, body)


async def seen(api: Api, path: str, condition: Callable[[Document], bool]) -> Document:
    """Wait until what is at a path, or its absence (None), is as it should be."""
    found = None
    for _ in range(round(60 / _LOOK_S)):
        answer = await asked(api, "GET", path)
        found = answer.object if answer.code == 200 else None
        if condition(found):
            return found
        await asyncio.sleep(_LOOK_S)
    raise AssertionError(found)


def runs(pod: Document) -> bool:
    """Tell whether a pod is there and runs."""
    return pod is not None and pod["status"]["phase"] == "Running"


def gone(pod: Document) -> bool:
    """Tell whether a pod is not there."""
    return pod is None
