"""Field reports whose right values an API server answers: R12, R68."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace

import pytest

from simulator.core.devices import HEALTHY, UNHEALTHY, Device, DeviceId
from simulator.core.instants import SECOND, Duration
from simulator.core.resources import ResourceName
from simulator.engine.actions import ReportDevices, StartPlugin, StopPlugin
from tests.api.serving.running import Api, Document, running_api
from tests.live.remote.worlds import PODS, a_client, asked, manifest, runs, seen
from tests.live.worlds import GPU, NODE, WITHIN, a_plugin, a_spec, devices, done

NODE_PATH = f"/api/v1/nodes/{NODE}"
OLD = ResourceName("example.com/old")
GRACE = Duration(300 * SECOND)
REPORT = Duration(300 * SECOND)
TICK = Duration(10 * SECOND)


@pytest.fixture(scope="module")
def api() -> Iterator[Api]:
    with running_api() as found:
        yield found


def test_rejected_pods_are_listed_alone_and_deleted_alone(api: Api) -> None:
    """R12: after the node has recovered, k are Failed and hold nothing, and k others run."""
    failed = f"{PODS}?fieldSelector=status.phase%3DFailed"

    async def run() -> tuple[list[Document], set[str], list[str]]:
        async with a_client(a_spec(persistence="checkpoint", pods=()), api.url) as world:
            broken = tuple(replace(each, health=UNHEALTHY) for each in devices(4))
            await done(world, ReportDevices("gpu", broken), "break")
            for name in ("a", "b"):
                await asked(api, "POST", PODS, manifest(name))
                await seen(api, f"{PODS}/{name}", lambda pod: pod["status"]["phase"] == "Failed")
            await done(world, ReportDevices("gpu", devices(4)), "repair")
            world.put_forward(TICK)  # Or they would be refused for what it said before (S2.15).
            assert await world.until(lambda: world.api.node(NODE).allocatable.get(GPU) == 4, WITHIN)
            for name in ("c", "d"):
                await asked(api, "POST", PODS, manifest(name))
                await seen(api, f"{PODS}/{name}", runs)
            listed = (await asked(api, "GET", failed)).object["items"]
            holding = {each.pod for each in world.holdings(NODE)}
            holders = {pod.pod.name for pod in world.api.pods(NODE) if pod.uid in holding}
            # As `kubectl delete pods --field-selector status.phase=Failed` does.
            for pod in listed:
                await asked(api, "DELETE", f"{PODS}/{pod['metadata']['name']}")
            await seen(api, failed, lambda found: not found["items"])
            left = (await asked(api, "GET", PODS)).object["items"]
            for pod in left:
                await asked(api, "DELETE", f"{PODS}/{pod['metadata']['name']}")
            return listed, holders, [pod["metadata"]["name"] for pod in left]

    listed, holders, left = asyncio.run(run())
    assert [(pod["metadata"]["name"], pod["status"]["reason"]) for pod in listed] == [
        ("a", "UnexpectedAdmissionError"),
        ("b", "UnexpectedAdmissionError"),
    ]
    assert holders == {"c", "d"}
    assert left == ["c", "d"]


def test_a_renamed_resource_is_on_the_node_until_somebody_removes_it(api: Api) -> None:
    """R68: 4, then 0 of 4 in the grace period, then 0 of 0 (S2.10, S2.14) until it is removed.

    As `kubectl patch node n0 --subresource=status --type=merge` does. It does not come back.
    """
    ids = tuple(Device(DeviceId(f"old-{number}"), HEALTHY, None) for number in range(4))
    old = replace(a_plugin("old"), resource=OLD, devices=ids)
    spec = a_spec(persistence="checkpoint", pods=(), plugins=(old,))
    new = a_plugin("gpu", 4)
    found: list[tuple[str | None, str | None]] = []

    async def shows(capacity: str | None, allocatable: str | None, path: str = NODE_PATH) -> None:
        def has(node: Document) -> bool:
            status = node["status"]
            return (status["capacity"].get(OLD), status["allocatable"].get(OLD)) == (
                capacity,
                allocatable,
            )

        await seen(api, path, has)
        found.append((capacity, allocatable))

    async def run() -> Document:
        both = replace(spec, plugins=(old, new))
        async with a_client(both, api.url) as world:
            world.put_forward(TICK)
            await shows("4", "4")
            await done(world, StopPlugin("old"), "stop")
            world.put_forward(TICK)
            await shows("4", "0")
            world.put_forward(Duration(GRACE + TICK))
            await shows("0", "0")
            removed = {"status": {"capacity": {OLD: None}, "allocatable": {OLD: None}}}
            merge = {"Content-Type": "application/merge-patch+json"}
            answer = await asyncio.to_thread(
                api.ask, "PATCH", f"{NODE_PATH}/status", removed, merge
            )
            assert answer.code == 200
            heartbeat = await heartbeat_of(api)
            world.put_forward(Duration(REPORT + TICK))
            node = await seen(api, NODE_PATH, lambda node: beat(node) != heartbeat)
            await shows(None, None)
            await done(world, StartPlugin("old"), "start")
            world.put_forward(TICK)
            await shows("4", "4")
            assert await world.until(lambda: world.api.node(NODE).capacity[GPU] == 4, WITHIN)
            return node

    node = asyncio.run(run())
    assert node["status"]["capacity"][GPU] == "4"
    assert OLD not in node["status"]["capacity"]
    assert found == [("4", "4"), ("4", "0"), ("0", "0"), (None, None), ("4", "4")]


def beat(node: Document) -> str:
    return str(node["status"]["conditions"][0]["lastHeartbeatTime"])


async def heartbeat_of(api: Api) -> str:
    return beat((await asked(api, "GET", NODE_PATH)).object)
