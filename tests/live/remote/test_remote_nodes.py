"""A live node is a client of a real API server over HTTP, with every persistence that uses it."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from simulator.core.devices import UNHEALTHY
from simulator.core.instants import Duration
from simulator.core.persistence.choosing import OptionValue
from simulator.engine.actions import ReportDevices
from simulator.live.world import LiveWorld
from tests.api.serving.running import Api, Document, running_api
from tests.live.remote.worlds import (
    BINDINGS,
    PODS,
    a_client,
    asked,
    gone,
    manifest,
    runs,
    seen,
)
from tests.live.worlds import GPU, NODE, WITHIN, a_spec, devices, done

Options = tuple[tuple[str, OptionValue], ...]

STRATEGIES: list[tuple[str, Options]] = [
    ("pod-status", ()),
    ("bind-resource", (("bulkBind", True),)),
    ("binding-object", ()),
    ("binding-object", (("synchronous", False),)),
    ("checkpoint+api", (("flushPeriod", Duration(0)),)),
    ("checkpoint+api", (("bulkBind", True), ("flushPeriod", Duration(0)))),
]
IN_SPEC = ("bind-resource", "checkpoint+api")


def devices_in_spec(pod: Document) -> list[str]:
    """Return the ids that a pod's spec binds to its containers."""
    return [
        device
        for container in pod["spec"]["containers"]
        for each in container.get("computeDevices", [])
        for device in each["deviceIDs"]
    ]


def devices_in_status(pod: Document) -> list[str]:
    """Return the ids that a pod's status names."""
    return [
        device["resourceID"]
        for container in pod["status"].get("containerStatuses", [])
        for each in container.get("allocatedResourcesStatus", [])
        for device in each["resources"]
    ]


@pytest.fixture(scope="module")
def api() -> Api:  # type: ignore[misc]  # a generator
    with running_api() as found:
        yield found


@pytest.mark.parametrize(("persistence", "options"), STRATEGIES)
def test_a_pod_is_created_by_others_runs_and_is_deleted(
    api: Api, persistence: str, options: Options
) -> None:
    spec = a_spec(persistence=persistence, persistence_options=options)

    async def run() -> None:
        async with a_client(spec, api.url):
            await asked(api, "POST", PODS, manifest("a", 2))
            pod = await seen(api, f"{PODS}/a", runs)
            if persistence in IN_SPEC:
                pod = await seen(api, f"{PODS}/a", lambda pod: len(devices_in_spec(pod)) == 2)
            if persistence == "pod-status":
                assert devices_in_status(pod) == ["gpu-0", "gpu-1"]
            if persistence == "binding-object":
                found = await seen(api, f"{BINDINGS}/a", lambda found: found is not None)
                assert found["spec"] == {
                    "podUID": pod["metadata"]["uid"],
                    "nodeName": NODE,
                    "containers": [
                        {
                            "name": "main",
                            "devices": [{"resourceName": GPU, "deviceIDs": ["gpu-0", "gpu-1"]}],
                        }
                    ],
                }
            deleted = await asked(api, "DELETE", f"{PODS}/a")
            assert deleted.code == 200
            await seen(api, f"{PODS}/a", gone)
            if (
                persistence == "binding-object"
            ):  # Devices are released at the next admission (S6.1).
                await asked(api, "POST", PODS, manifest("next"))
                await seen(api, f"{BINDINGS}/a", gone)
                await asked(api, "DELETE", f"{PODS}/next")
                await seen(api, f"{PODS}/next", gone)

    asyncio.run(run())


def states(api: Api, name: str, until: str) -> list[Document]:
    """Return what a watch shows of a pod, up to its first state in a phase."""
    found = []
    path = f"{PODS}?watch=1&resourceVersion=0&fieldSelector=metadata.name%3D{name}"
    with api.watch(path) as events:
        for event in events:
            found.append(event["object"])
            if event["object"]["status"]["phase"] == until:
                return found
    raise AssertionError(found)


@pytest.mark.parametrize("options", [(), (("perContainer", True), ("waitForEcho", True))])
def test_devices_stand_in_the_spec_before_the_first_container_runs(
    api: Api, options: Options
) -> None:
    spec = a_spec(persistence="bind-resource", persistence_options=options)

    async def run() -> list[Document]:
        async with a_client(spec, api.url):
            await asked(api, "POST", PODS, manifest("b", 2))
            found = await asyncio.to_thread(states, api, "b", "Running")
            await asked(api, "DELETE", f"{PODS}/b")
            await seen(api, f"{PODS}/b", gone)
            return found

    found = asyncio.run(run())
    bound = next(n for n, pod in enumerate(found) if devices_in_spec(pod))
    assert found[bound]["status"]["phase"] == "Pending"
    assert all(devices_in_spec(pod) == ["gpu-0", "gpu-1"] for pod in found[bound:])
    assert all("running" not in each["state"] for pod in found[:bound] for each in _statuses(pod))


def _statuses(pod: Document) -> list[Document]:
    found: list[Document] = pod["status"].get("containerStatuses", [])
    return found


def test_a_refused_pod_says_why_in_the_api(api: Api) -> None:
    async def run() -> Document:
        async with a_client(a_spec(persistence="bind-resource"), api.url):
            await asked(api, "POST", PODS, manifest("c", 9))
            pod = await seen(api, f"{PODS}/c", lambda pod: pod["status"]["phase"] == "Failed")
            await asked(api, "DELETE", f"{PODS}/c")
            return pod

    status = asyncio.run(run())["status"]
    assert status["reason"] == "UnexpectedAdmissionError"
    assert "containerStatuses" not in status  # S13.1


def test_the_node_registers_itself_and_keeps_its_lease(api: Api) -> None:
    async def run() -> tuple[Document, Document]:
        async with a_client(a_spec(persistence="checkpoint"), api.url) as world:
            world.put_forward(Duration(10_000_000_000))  # S12.6
            node = await seen(api, f"/api/v1/nodes/{NODE}", _has_four)
            path = f"/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/{NODE}"
            lease = await seen(api, path, lambda found: found is not None)
            return node, lease

    node, lease = asyncio.run(run())
    assert node["status"]["nodeInfo"]["kubeletVersion"] == "v1.36.2"
    assert lease["spec"]["holderIdentity"] == NODE
    assert lease["spec"]["leaseDurationSeconds"] == 40


def _has_four(node: Document) -> bool:
    return node is not None and node["status"].get("allocatable", {}).get(GPU) == "4"


def test_pods_on_no_node_are_scheduled_where_rebind_schedules(api: Api) -> None:
    async def run() -> Document:
        async with a_client(a_spec(persistence="checkpoint"), api.url, schedules=True) as world:
            await world_knows_four(world)
            for name in ("d", "e"):
                await asked(api, "POST", PODS, manifest(name, 2, node=None))
            await asked(api, "POST", PODS, manifest("f", 1, node=None))
            pods = [await seen(api, f"{PODS}/{name}", runs) for name in ("d", "e")]
            await seen(api, f"{PODS}/f", _waits_for_room)
            for name in ("d", "e"):
                await asked(api, "DELETE", f"{PODS}/{name}")
            pods.append(await seen(api, f"{PODS}/f", runs))
            await asked(api, "DELETE", f"{PODS}/f")
            await seen(api, f"{PODS}/f", gone)
            return pods

    assert [pod["spec"]["nodeName"] for pod in asyncio.run(run())] == [NODE] * 3


def test_no_pod_is_scheduled_to_a_node_that_is_cordoned(api: Api) -> None:
    """As `kubectl cordon` and `uncordon` order it."""

    async def run() -> Document:
        async with a_client(a_spec(persistence="checkpoint"), api.url, schedules=True) as world:
            await world_knows_four(world)
            await cordon(world, api, cordoned=True)
            await asked(api, "POST", PODS, manifest("late", node=None))
            waiting = await seen(api, f"{PODS}/late", _is_unschedulable)
            await cordon(world, api, cordoned=False)
            await seen(api, f"{PODS}/late", runs)
            await asked(api, "DELETE", f"{PODS}/late")
            await seen(api, f"{PODS}/late", gone)
            return waiting

    [why] = [
        each["message"]
        for each in asyncio.run(run())["status"]["conditions"]
        if each["type"] == "PodScheduled"
    ]
    assert why == "0/1 nodes are available: 1 node(s) were unschedulable."


async def cordon(world: LiveWorld, api: Api, *, cordoned: bool) -> None:
    """Cordon the node, or take that back, and wait until the scheduler knows."""
    patch = {"spec": {"unschedulable": cordoned or None}}
    media = {"Content-Type": "application/merge-patch+json"}
    answer = await asyncio.to_thread(api.ask, "PATCH", f"/api/v1/nodes/{NODE}", patch, media)
    assert answer.code == 200
    assert await world.until(lambda: world.api.node(NODE).cordoned is cordoned, WITHIN)


def _is_unschedulable(pod: Document) -> bool:
    conditions = pod["status"].get("conditions", [])
    return any(each.get("reason") == "Unschedulable" for each in conditions)


def test_a_pod_for_another_scheduler_waits_for_that_and_runs_when_it_is_bound(api: Api) -> None:
    """Kubernetes: a scheduler takes the pods whose `spec.schedulerName` is its own."""

    async def run() -> Document:
        async with a_client(a_spec(persistence="checkpoint"), api.url, schedules=True) as world:
            await world_knows_four(world)
            other = manifest("other", 1, node=None)
            other["spec"]["schedulerName"] = "example"
            await asked(api, "POST", PODS, other)
            await asked(api, "POST", PODS, manifest("ours", 4, node=None))
            await seen(api, f"{PODS}/ours", runs)  # All four: the first one has none.
            await asked(api, "DELETE", f"{PODS}/ours")
            await seen(api, f"{PODS}/ours", gone)
            before = await seen(api, f"{PODS}/other", lambda pod: pod is not None)
            await asked(api, "POST", f"{PODS}/other/binding", {"target": {"name": NODE}})
            await seen(api, f"{PODS}/other", runs)
            await asked(api, "DELETE", f"{PODS}/other")
            await seen(api, f"{PODS}/other", gone)
            return before

    assert "nodeName" not in asyncio.run(run())["spec"]


def _waits_for_room(pod: Document) -> bool:
    return any(
        each["reason"] == "Unschedulable" and "Insufficient example.com/gpu" in each["message"]
        for each in pod["status"].get("conditions", [])
        if each["type"] == "PodScheduled" and each["status"] == "False"
    )


async def world_knows_four(world: LiveWorld) -> None:
    """Wait until the node's devices are in the API, as far as the scheduler sees."""
    world.put_forward(Duration(10_000_000_000))  # S2.15
    assert await world.until(lambda: world.api.node(NODE).allocatable.get(GPU) == 4, WITHIN)


def test_the_health_of_devices_follows_in_the_status(api: Api) -> None:  # S9.6
    def is_unhealthy(pod: Document) -> bool:
        return {
            device["health"]
            for container in pod["status"]["containerStatuses"]
            for each in container["allocatedResourcesStatus"]
            for device in each["resources"]
        } == {"Unhealthy"}

    async def run() -> None:
        async with a_client(a_spec(persistence="checkpoint"), api.url) as world:
            await asked(api, "POST", PODS, manifest("g"))
            await seen(api, f"{PODS}/g", runs)
            broken = tuple(replace(each, health=UNHEALTHY) for each in devices(4))
            await done(world, ReportDevices("gpu", broken), "report")
            await seen(api, f"{PODS}/g", is_unhealthy)
            await asked(api, "DELETE", f"{PODS}/g")
            await seen(api, f"{PODS}/g", gone)

    asyncio.run(run())
