"""Nodes as clients of a cluster that is stricter, and fails more, than Rebind's own server."""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import pytest
from typing_extensions import override

from simulator.api.client.endpoint import endpoint_at
from simulator.core.instants import SECOND, Duration
from simulator.core.records import ContainerChanged
from simulator.core.transitions import NodeName
from simulator.engine.actions import CreatePod
from simulator.errors import ServerError
from simulator.live.remote.beginning import found_pods
from simulator.live.remote.settings import RemoteSettings
from simulator.live.world import LiveWorld
from tests.api.client.fake import refusal
from tests.api.serving.running import Document
from tests.live.remote.strict import (
    AT_ONCE,
    EMPTY,
    PASS,
    RESET,
    Asked,
    Refuse,
    StrictCluster,
    strict_server,
)
from tests.live.remote.worlds import a_client, manifest
from tests.live.worlds import NODE, WITHIN, a_plugin, a_pod, a_spec, done

DEFINITION = ("customresourcedefinitions", "", "devicebindings.rebind.internal")
LOOK_S = 0.01
DEADLINE_S = 60.0
CREATED = 201
FAST = 50.0
"""How much faster the nodes' time passes where their tickers of 10 s are waited for."""
REPORT = Duration(310 * SECOND)
"""After so long a node reports again though nothing has changed (S12.6)."""


@pytest.fixture
def cluster() -> StrictCluster:
    return StrictCluster()


@pytest.fixture
def url(cluster: StrictCluster) -> Iterator[str]:
    with strict_server(cluster) as found:
        yield found


@asynccontextmanager
async def nodes(
    url: str, persistence: str = "checkpoint", *, speed: float = 1.0
) -> AsyncIterator[LiveWorld]:
    """Yield a node with 16 devices; the 10 s of its tickers pass `speed` times as fast."""
    spec = a_spec(persistence=persistence, pods=(), plugins=(a_plugin(count=16),))
    async with a_client(spec, url, speed=speed) as world:
        remote = world.parts.remote
        assert remote is not None
        assert await world.until(lambda: remote.is_following, WITHIN)
        yield world


async def until(condition: Callable[[], Any]) -> None:
    """Wait until the cluster is as it should be."""
    async with asyncio.timeout(DEADLINE_S):
        while not condition():  # noqa: ASYNC110 - it changes in the server's threads
            await asyncio.sleep(LOOK_S)


def phase(cluster: StrictCluster, name: str) -> str:
    pod = cluster.get("pods", name)
    return "" if pod is None else pod["status"]["phase"]


async def runs(cluster: StrictCluster, *names: str) -> None:
    await until(lambda: all(phase(cluster, name) == "Running" for name in names))


def started(world: LiveWorld) -> list[str]:
    """Return the containers that were started, in order."""
    records = [each.record for each in world.records]
    return [
        each.container
        for each in records
        if isinstance(each, ContainerChanged) and each.state == "running"
    ]


@pytest.mark.parametrize("persistence", ["checkpoint", "pod-status", "binding-object"])
def test_a_pod_runs_as_admission_has_left_it(
    cluster: StrictCluster, url: str, persistence: str
) -> None:
    """With a sidecar, volumes, tolerations and an ephemeral container that nobody here models."""
    cluster.put(DEFINITION, {"spec": {}})
    spec: Document = {"hostNetwork": True, "volumes": [{"name": "data", "emptyDir": {}}]}

    async def run() -> tuple[Document, Document, list[str]]:
        async with nodes(url, persistence) as world:
            made = cluster.make("pods", manifest("a", 2, **spec))
            await runs(cluster, "a")
            pod = cluster.get("pods", "a")
            assert pod is not None
            cluster.delete("pods", "a")
            await until(lambda: cluster.get("pods", "a") is None)
            return made, pod, started(world)

    made, pod, begun = asyncio.run(run())
    assert pod["spec"] == made["spec"]
    assert [each["name"] for each in pod["status"]["containerStatuses"]] == ["main", "mesh"]
    assert sorted(begun) == ["main", "mesh"]
    assert pod["status"]["qosClass"] == "BestEffort"


def test_a_pod_that_others_hold_back_frees_its_devices(cluster: StrictCluster, url: str) -> None:
    """A Job's pod has a finalizer: the kubelet is done with it, and it is there all the same."""
    waiting = manifest("a", 16)
    waiting["metadata"]["finalizers"] = ["batch.kubernetes.io/job-tracking"]

    async def run() -> tuple[int, int]:
        async with nodes(url, speed=FAST) as world:
            cluster.make("pods", waiting)
            await runs(cluster, "a")
            cluster.delete("pods", "a")
            await until(lambda: cluster.counted()["delete pods"] >= 1)
            cluster.make("pods", manifest("b", 16))
            await runs(cluster, "b")
            renewals = cluster.counted()["update leases"] + 3  # Three ticks without a loop.
            await until(lambda: cluster.counted()["update leases"] >= renewals)
            counted = cluster.counted()
            cluster.remove(("pods", "default", "a"))
            assert await world.until(
                lambda: [pod.pod.name for pod in world.api.pods(NODE)] == ["b"], WITHIN
            )
            return counted["delete pods"], counted["update leases"]

    deletions, ticks = asyncio.run(run())
    # S12.3, S12.6: a status is synced again every 10 s, as often as a lease is renewed.
    assert deletions <= ticks + 1


def test_a_node_that_is_deleted_comes_back_with_a_lease_of_its_own(
    cluster: StrictCluster, url: str
) -> None:
    """The lease has gone with the Node object, and a new one must not belong to that."""
    lease = ("leases", "kube-node-lease", NODE)

    async def run() -> None:
        async with nodes(url, speed=FAST) as world:
            await until(lambda: cluster.get("leases", NODE, "kube-node-lease"))
            cluster.remove(("nodes", "", NODE))
            cluster.remove(lease)
            await until(lambda: cluster.get("leases", NODE, "kube-node-lease"))
            made = cluster.get("leases", NODE, "kube-node-lease")
            assert made is not None
            assert "ownerReferences" not in made["metadata"]
            world.put_forward(REPORT)
            await until(lambda: owners(cluster))

    asyncio.run(run())
    node = cluster.get("nodes", NODE)
    assert node is not None
    assert [each["uid"] for each in owners(cluster)] == [node["metadata"]["uid"]]


def owners(cluster: StrictCluster) -> list[Document]:
    lease = cluster.get("leases", NODE, "kube-node-lease") or {"metadata": {}}
    found: list[Document] = lease["metadata"].get("ownerReferences", [])
    return found


def test_a_node_registers_with_a_lease_that_goes_with_it(cluster: StrictCluster, url: str) -> None:
    """S12.6. What others have put into the lease stays, and fields are set by `rebind`."""

    async def run() -> None:
        async with nodes(url, speed=FAST):
            await until(lambda: cluster.get("leases", NODE, "kube-node-lease"))
            lease = cluster.get("leases", NODE, "kube-node-lease")
            assert lease is not None
            marked = {**lease["metadata"], "labels": {"team": "lab"}}
            cluster.put(("leases", "kube-node-lease", NODE), {**lease, "metadata": marked})
            renewals = cluster.counted()["update leases"] + 3
            await until(lambda: cluster.counted()["update leases"] >= renewals)

    asyncio.run(run())
    node, lease = cluster.get("nodes", NODE), cluster.get("leases", NODE, "kube-node-lease")
    assert node is not None
    assert lease is not None
    owner = {"apiVersion": "v1", "kind": "Node", "name": NODE, "uid": node["metadata"]["uid"]}
    assert lease["metadata"]["ownerReferences"] == [owner]
    assert lease["metadata"]["labels"] == {"team": "lab"}
    assert node["metadata"]["managedFields"][0]["manager"] == "rebind"


def test_a_watch_that_breaks_off_goes_on_where_it_was(
    cluster: StrictCluster, url: str, caplog: pytest.LogCaptureFixture
) -> None:
    """In the middle of a line; nobody need be told of it."""

    async def run() -> list[str]:
        async with nodes(url) as world:
            cluster.make("pods", manifest("a"))
            await runs(cluster, "a")
            cluster.cut()
            cluster.make("pods", manifest("b"))
            await runs(cluster, "b")
            return started(world)

    with caplog.at_level(logging.WARNING):
        begun = asyncio.run(run())
    assert begun.count("main") == 2
    assert cluster.counted()["list pods"] == 1
    assert "cannot be reached" not in caplog.text


def test_a_watch_that_only_brings_bookmarks_goes_on_from_the_last(
    cluster: StrictCluster, url: str
) -> None:
    """What happened before is forgotten by then."""

    async def run() -> str:
        async with nodes(url):
            cluster.bookmark()
            revision = cluster.bookmark()
            cluster.end_watches()
            await until(lambda: cluster.counted()["watch pods"] == 2)
            return revision

    revision = asyncio.run(run())
    [_, second] = [each.query for each in cluster.asked if each.verb == "watch"]
    assert second["resourceVersion"] == revision
    assert cluster.counted()["list pods"] == 1


@pytest.mark.parametrize(
    "status",
    [
        {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old"},
        {"kind": "Status", "code": 500, "reason": "InternalError", "message": "etcd is away"},
    ],
)
def test_a_watch_that_ends_with_an_error_lists_anew(
    cluster: StrictCluster, url: str, status: Document
) -> None:
    """What went meanwhile is gone, and what came runs once."""

    async def run() -> list[str]:
        async with nodes(url) as world:
            cluster.make("pods", manifest("a"))
            await runs(cluster, "a")
            with cluster.changed:
                cluster.tell_watches("ERROR", status)
                cluster.remove(("pods", "default", "a"))
                cluster.make("pods", manifest("b"))
                cluster.forget()
            await runs(cluster, "b")
            assert await world.until(
                lambda: [pod.pod.name for pod in world.api.pods(NODE)] == ["b"], WITHIN
            )
            return started(world)

    assert asyncio.run(run()).count("main") == 2
    assert cluster.counted()["list pods"] == 2


def test_a_list_that_expires_between_its_pages_is_asked_for_as_a_whole(
    cluster: StrictCluster, url: str
) -> None:
    names = [f"p{number}" for number in range(5)]
    for name in names:
        cluster.make("pods", manifest(name))
    cluster.page = 2
    cluster.then("list pods", PASS, PASS, Refuse(410, "Expired"))

    async def run() -> list[str]:
        async with nodes(url) as world:
            await runs(cluster, *names)
            return started(world)

    assert asyncio.run(run()).count("main") == 5
    lists = [each.query for each in cluster.asked if each.verb == "list"]
    assert [("limit" in query, "continue" in query) for query in lists] == [
        (True, False),
        (True, True),
        (True, True),
        (False, False),
    ]


def test_a_list_is_the_truth_though_its_revisions_are_lower(
    cluster: StrictCluster, url: str
) -> None:
    """The cluster's store was set back to a backup, in which "a" is being deleted."""

    async def run() -> None:
        async with nodes(url):
            cluster.make("pods", manifest("a"))
            await runs(cluster, "a")
            with cluster.changed:
                cluster.set_back(100)
                cluster.delete("pods", "a")
            await until(lambda: cluster.get("pods", "a") is None)

    asyncio.run(run())


def test_bursts_of_errors_lose_nothing(cluster: StrictCluster, url: str) -> None:
    """Answers with `Retry-After` are asked for again at once, others at the next tick (S12.4)."""
    cluster.then("create nodes", Refuse(429, headers=AT_ONCE), Refuse(503, headers=AT_ONCE))
    cluster.then("get nodes", Refuse(500), RESET, Refuse(504))
    cluster.then("list pods", Refuse(429, headers=AT_ONCE), Refuse(503), RESET)
    cluster.then("watch pods", Refuse(429), Refuse(500), RESET)
    cluster.then("get pods", Refuse(504), RESET)
    cluster.then("patch pods/status", Refuse(500), Refuse(429, headers=AT_ONCE), RESET)
    cluster.then("delete pods", Refuse(503), PASS, Refuse(500), RESET)

    async def run() -> list[str]:
        async with nodes(url, speed=FAST) as world:
            for name in ("a", "b"):
                cluster.make("pods", manifest(name))
            await runs(cluster, "a", "b")
            for name in ("a", "b"):
                cluster.delete("pods", name)
            await until(lambda: not cluster.names("pods"))
            return started(world)

    assert asyncio.run(run()).count("main") == 2


def test_watches_that_end_at_once_are_asked_for_more_and_more_rarely(
    cluster: StrictCluster, url: str
) -> None:
    cluster.then("watch pods", *[EMPTY] * 4)

    async def run() -> None:
        async with nodes(url):
            await until(lambda: cluster.counted()["watch pods"] == 5)

    asyncio.run(run())
    came = [each.at for each in cluster.asked if each.verb == "watch"]
    pauses = [after - before for before, after in itertools.pairwise(came)]
    least = [0.05, 0.1, 0.2, 0.4]
    assert all(pause >= low for pause, low in zip(pauses, least, strict=True)), pauses


def test_what_is_refused_is_said_once_and_done_when_it_may_be(
    cluster: StrictCluster, url: str, caplog: pytest.LogCaptureFixture
) -> None:
    """A right that is missing for one verb; the status comes at the tick after it is given."""
    cluster.may_not = {"patch pods/status", "create events", "update leases"}
    cluster.then("create nodes", Refuse(403, "Forbidden", "no right to make nodes"))

    async def run() -> None:
        async with nodes(url, speed=FAST):
            cluster.make("pods", manifest("a"))
            refused = cluster.counted()["patch pods/status"] + 3
            await until(lambda: cluster.counted()["patch pods/status"] >= refused)
            await until(lambda: cluster.counted()["update leases"] >= 2)
            assert phase(cluster, "a") == "Pending"
            cluster.may_not = set()
            await runs(cluster, "a")

    with caplog.at_level(logging.WARNING):
        asyncio.run(run())
    said = [each.getMessage() for each in caplog.records if "refuses" in each.getMessage()]
    assert [sum(what in each for each in said) for what in ("PATCH pods/status", "PUT leases")] == [
        1,
        1,
    ]
    assert (
        "the API server refuses PATCH nodes/status of the node n0: no right to make nodes"
    ) in said


def test_a_server_that_drops_the_devices_of_a_status_is_named(
    cluster: StrictCluster, url: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Kubernetes keeps them only behind a feature gate (S9.3)."""
    cluster.keeps_health = False

    async def run() -> None:
        async with nodes(url, "pod-status"):
            for name in ("a", "b"):
                cluster.make("pods", manifest(name))
            await runs(cluster, "a", "b")

    with caplog.at_level(logging.WARNING):
        asyncio.run(run())
    said = [each.getMessage() for each in caplog.records]
    assert sum("feature gate ResourceHealthStatus is off" in each for each in said) == 1


@pytest.mark.parametrize(
    ("info", "message"),
    [
        ({"kubeletVersion": "v1.32.1", "containerRuntimeVersion": "containerd://2.0"}, "v1.32.1"),
        ({"kubeletVersion": "kwok-v0.6.0", "containerRuntimeVersion": ""}, "kwok-v0.6.0"),
        ({"kubeletVersion": "v1.36.2", "containerRuntimeVersion": "rebind://simulated"}, ""),
        ({}, ""),
    ],
)
def test_a_node_of_another_kubelet_is_left_alone(
    cluster: StrictCluster, url: str, info: Document, message: str
) -> None:
    cluster.put(("nodes", "", NODE), {"status": {"nodeInfo": info}})
    asking = found_pods(RemoteSettings(endpoint_at(url)), [NODE], "checkpoint")

    if message:
        wanted = rf"has a node n0 already, of another kubelet \({message}\); choose other names"
        with pytest.raises(ServerError, match=wanted):
            asyncio.run(asking)
        assert set(cluster.counted()) == {"get nodes"}
    else:
        assert asyncio.run(asking) == {}


@pytest.mark.parametrize(
    ("forbidden", "message"),
    [("get nodes", 'cannot get resource "nodes"'), ("list pods", 'cannot list resource "pods"')],
)
def test_a_right_that_is_missing_at_the_beginning_is_named(
    cluster: StrictCluster, url: str, forbidden: str, message: str
) -> None:
    cluster.may_not = {forbidden}

    with pytest.raises(ServerError, match=message):
        asyncio.run(found_pods(RemoteSettings(endpoint_at(url)), [NodeName("n0")], "checkpoint"))


class UsesUpItsQuota(StrictCluster):
    """Creates each pod, does not answer, and has no quota for it the next time."""

    @override
    def answer(self, asked: Asked) -> tuple[int, Document]:
        code, document = super().answer(asked)
        if (asked.verb, asked.resource) != ("create", "pods"):
            return code, document
        if code == CREATED:
            return refusal(503, "ServiceUnavailable", "nobody hears of it")
        return refusal(403, "Forbidden", "exceeded quota")


def test_a_pod_is_created_though_the_last_try_was_refused(caplog: pytest.LogCaptureFixture) -> None:
    """W6: the pod itself is what the quota was used up by."""
    cluster = UsesUpItsQuota()
    spec = a_spec(persistence="checkpoint", pods=(a_pod("a"), a_pod("b")))

    def has_tried(times: int) -> bool:
        return cluster.counted()["create pods"] >= times

    async def run(url: str) -> bool:
        async with a_client(spec, url) as world:
            for tries, name in ((2, "a"), (4, "b")):
                await done(world, CreatePod(name, NODE), f"pod {name}")
                await until(partial(has_tried, tries))
            await runs(cluster, "a", "b")
            pod = world.api.pod_named("a")
            assert pod is not None
            return pod.deleted

    with strict_server(cluster) as url:
        assert not asyncio.run(run(url))
    assert "is not created" not in caplog.text
