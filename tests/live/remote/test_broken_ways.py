"""Between node and API server answers are lost, and the server dies and comes back."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from simulator.api.client.endpoint import endpoint_at
from simulator.api.client.http import HttpClient
from simulator.api.serving.limits import Limits
from simulator.api.serving.running import ApiSettings
from simulator.core.api_calls import ApiUnavailable
from simulator.core.instants import SECOND, Instant
from simulator.core.persistence.choosing import OptionValue
from simulator.core.pods import PodUid
from simulator.core.records import ContainerChanged, KubeletStarted
from simulator.core.transitions import NodeName, PodIdentity
from simulator.engine.api import ApiServer
from simulator.engine.api_objects import PodStatus
from simulator.engine.api_requests import PatchPodStatus, RequestReply
from simulator.engine.node import Node
from simulator.live.remote.transport import RemoteTransport
from simulator.live.timeline import LiveTimeline
from simulator.ports import Durability
from store.sql_store import SqlStore
from tests.api.serving.running import Api, Document, running_api, serving
from tests.live.remote.proxy import Proxy
from tests.live.remote.worlds import BINDINGS, PODS, a_client, asked, gone, manifest, runs, seen
from tests.live.worlds import NODE, WITHIN, a_spec

Options = tuple[tuple[str, OptionValue], ...]


class LosesFirst:
    """Loses the first answers to each kind of request."""

    def __init__(self) -> None:
        self._seen: Counter[tuple[str, str]] = Counter()

    def __call__(self, method: str, path: str) -> bool:
        if "watch=true" in path or "limit=" in path:
            return False
        kind = (method, path.partition("?")[0].rpartition("/")[2])
        self._seen[kind] += 1
        return self._seen[kind] == 1 and method != "GET"


@pytest.mark.parametrize(
    ("persistence", "options"),
    [("bind-resource", ()), ("binding-object", ()), ("checkpoint+api", (("bulkBind", True),))],
)
def test_a_write_whose_answer_is_lost_is_done_once(persistence: str, options: Options) -> None:
    spec = a_spec(persistence=persistence, persistence_options=options)

    async def run(api: Api) -> tuple[Document, Document, list[tuple[str, str]], int]:
        proxy = Proxy(api.url, LosesFirst())
        async with proxy.serving() as url, a_client(spec, url, speed=20) as world:
            await asked(api, "POST", PODS, manifest("a", 2))
            pod = await seen(api, f"{PODS}/a", runs)
            if persistence == "checkpoint+api":
                pod = await seen(api, f"{PODS}/a", _is_bound)
            binding = await asked(api, "GET", f"{BINDINGS}/a")
            started = sum(
                isinstance(each.record, ContainerChanged) and each.record.state == "running"
                for each in world.records
            )
            await asked(api, "DELETE", f"{PODS}/a")
            await seen(api, f"{PODS}/a", gone)
            return pod, binding, proxy.lost, started

    with running_api() as api:
        pod, binding, lost, started = asyncio.run(run(api))
    wanted = {
        "bind-resource": ("POST", f"{PODS}/a/resourcebinding"),
        "binding-object": ("POST", BINDINGS),
        "checkpoint+api": ("POST", "/apis/rebind.internal/v1alpha1/resourcebindings"),
    }
    assert wanted[persistence] in lost
    assert ("PATCH", f"{PODS}/a/status") in lost or (
        "PATCH",
        f"/api/v1/nodes/{NODE}/status",
    ) in lost
    assert started == 1
    if persistence == "binding-object":
        [container] = binding.object["spec"]["containers"]
        assert container["devices"][0]["deviceIDs"] == ["gpu-0", "gpu-1"]
        assert binding.object["metadata"]["generation"] == 1
    else:
        assert _ids(pod) == ["gpu-0", "gpu-1"]


def _ids(pod: Document) -> list[str]:
    return [
        device
        for each in pod["spec"]["containers"][0].get("computeDevices", [])
        for device in each["deviceIDs"]
    ]


def _is_bound(pod: Document) -> bool:
    return bool(_ids(pod))


def test_a_server_that_is_killed_and_comes_back_finds_its_nodes_working(tmp_path: Path) -> None:
    """What happens meanwhile is caught up with: a deletion, and a pod that was created."""
    spec = a_spec(persistence="bind-resource")
    db = f"sqlite:///{tmp_path}/api.db"

    async def run() -> None:
        with closing(SqlStore(db, durability=Durability.OFF)) as store:
            first = serving(store, ApiSettings("127.0.0.1", 0))
            url = await asyncio.to_thread(first.__enter__)
            port = int(url.rpartition(":")[2])
            api = Api(url)
            async with a_client(spec, url) as world:
                remote = world.parts.remote
                assert remote is not None
                await asked(api, "POST", PODS, manifest("a"))
                await asked(api, "POST", PODS, manifest("b"))
                for name in ("a", "b"):
                    await seen(api, f"{PODS}/{name}", runs)
                await asyncio.to_thread(first.__exit__, None, None, None)
                assert await world.until(lambda: not remote.is_following, WITHIN)
                # The first to come back finds that "a" is to go, and "c" has come.
                second = serving(store, ApiSettings("127.0.0.1", 0))
                other = Api(await asyncio.to_thread(second.__enter__))
                await asked(other, "DELETE", f"{PODS}/a?gracePeriodSeconds=0")
                await asked(other, "POST", PODS, manifest("c"))
                await asyncio.to_thread(second.__exit__, None, None, None)
                with serving(store, ApiSettings("127.0.0.1", port)):
                    assert await world.until(lambda: remote.is_following, WITHIN)
                    pod = await seen(api, f"{PODS}/c", runs)
                    assert len(_ids(pod)) == 1
                    names = [pod.pod.name for pod in world.api.pods(NODE)]
                    assert names == ["b", "c"]
                    kubelets = [r for r in world.records if isinstance(r.record, KubeletStarted)]
                    assert len(kubelets) == 1

    asyncio.run(run())


def test_a_watch_that_comes_too_late_lists_anew() -> None:
    """The server has forgotten what happened meanwhile (410)."""

    async def run(api: Api) -> list[tuple[str, str]]:
        proxy = Proxy(api.url)
        async with proxy.serving() as url, a_client(a_spec(persistence="checkpoint"), url) as world:
            remote = world.parts.remote
            assert remote is not None
            await asked(api, "POST", PODS, manifest("a"))
            await seen(api, f"{PODS}/a", runs)
            proxy.cut()
            assert await world.until(lambda: not remote.is_following, WITHIN)
            await asked(api, "DELETE", f"{PODS}/a?gracePeriodSeconds=0")
            for number in range(8):
                await asked(api, "POST", PODS, manifest(f"other-{number}", node="n9"))
            await asked(api, "POST", PODS, manifest("b"))
            proxy.requests.clear()
            proxy.is_down = False
            assert await world.until(lambda: remote.is_following, WITHIN)
            await seen(api, f"{PODS}/b", runs)
            assert [pod.pod.name for pod in world.api.pods(NODE)] == ["b"]
            return proxy.requests

    with running_api(limits=Limits(events=4)) as api:
        requests = asyncio.run(run(api))
    followed = [path for _, path in requests if "spec.nodeName" in path]
    assert ["watch=true" in path for path in followed][:3] == [True, False, True]


def test_a_request_that_breaks_off_is_answered_all_the_same(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """What is not foreseen is logged; whoever has asked asks again, and what waits goes on."""

    def broken() -> dict[NodeName, Node]:
        reason = "there are no nodes"
        raise KeyError(reason)

    async def run() -> RequestReply:
        timeline = LiveTimeline(asyncio.get_running_loop(), start=Instant(0))
        client = HttpClient(endpoint_at("http://127.0.0.1:1"))
        api = ApiServer(timeline, lambda _node, _record: None)
        transport = RemoteTransport(client, timeline, api, broken, lambda _: None)
        answered: asyncio.Future[RequestReply] = asyncio.get_running_loop().create_future()
        request = PatchPodStatus(PodIdentity(PodUid("u"), "default", "a"), PodStatus(), ())
        transport.send(NODE, request, answered.set_result)
        found = await asyncio.wait_for(answered, WITHIN / SECOND)
        await transport.close()
        await client.close()
        timeline.close()
        return found

    assert asyncio.run(run()) == ApiUnavailable("the request was broken off")
    assert "request of n0 failed" in caplog.text
