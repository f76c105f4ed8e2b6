"""A server over HTTP: lists, watches, conflicts and limits, as Kubernetes' clients rely on them."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, suppress
from itertools import islice
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from typing_extensions import override

from simulator.api.dialect.authorization import read_tokens
from simulator.api.serving import server as http_server
from simulator.api.serving.limits import Limits
from simulator.api.serving.running import ApiSettings
from simulator.core.transitions import Transition
from simulator.errors import StoreUnavailableError
from simulator.object_ports import ObjectWrite
from simulator.ports import Together
from store.sql_store import SqlStore
from tests.api.serving.running import DEADLINE_S, Api, Document, running_api, serving

BINDINGS = "/apis/rebind.internal/v1alpha1/namespaces/default/devicebindings"
NAMESPACES = "/api/v1/namespaces"
PODS = "/api/v1/namespaces/default/pods"
ALL_PODS = "/api/v1/pods"


def binding(name: str, node: str = "n0", **labels: str) -> Document:
    return {
        "apiVersion": "rebind.internal/v1alpha1",
        "kind": "DeviceBinding",
        "metadata": {"name": name, "labels": labels},
        "spec": {"podUID": "u", "nodeName": node, "containers": []},
    }


def pod(name: str, node: str = "", **labels: str) -> Document:
    spec: Document = {"containers": [{"name": "main", "image": "example.com/i"}]}
    if node:
        spec["nodeName"] = node
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": labels},
        "spec": spec,
    }


@pytest.fixture(scope="module")
def server() -> Iterator[Api]:
    with running_api() as api:
        yield api


@pytest.fixture
def api(server: Api) -> Api:
    """A server without objects of the tests' kinds."""
    for path in (BINDINGS, PODS):
        server.ask("DELETE", path + "?gracePeriodSeconds=0")
    return server


def revision_of(found: Document) -> int:
    return int(found["metadata"]["resourceVersion"])


def names(listed: Document) -> list[str]:
    return [each["metadata"]["name"] for each in listed["items"]]


def take(events: Iterator[Document], count: int) -> list[tuple[str, str, int]]:
    return [
        (each["type"], each["object"]["metadata"].get("name", ""), revision_of(each["object"]))
        for each in islice(events, count)
    ]


def until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_what_is_made_is_read_listed_and_named_once(api: Api) -> None:
    made = api.create(BINDINGS, binding("a"))

    assert api.get(f"{BINDINGS}/a") == made
    assert api.get(BINDINGS)["items"] == [made]
    again = api.ask("POST", BINDINGS, binding("a"))
    assert (again.code, again.object["reason"]) == (409, "AlreadyExists")
    assert again.object["details"]["kind"] == "devicebindings"
    assert api.ask("GET", f"{BINDINGS}/b").object["reason"] == "NotFound"


def test_of_many_creates_with_one_name_exactly_one_is_made(api: Api) -> None:
    codes: list[int] = []
    threads = [
        threading.Thread(target=lambda: codes.append(api.ask("POST", BINDINGS, binding("a")).code))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(codes) == [201, *[409] * 7]


def test_updates_of_one_object_at_a_time_lose_nothing(api: Api) -> None:
    api.create(BINDINGS, binding("a"))

    def label(name: str) -> None:
        patch = {"metadata": {"labels": {name: "yes"}}}
        headers = {"Content-Type": "application/merge-patch+json"}
        assert api.ask("PATCH", f"{BINDINGS}/a", patch, headers).code == 200

    threads = [threading.Thread(target=label, args=(f"l{number}",)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    labels = api.get(f"{BINDINGS}/a")["metadata"]["labels"]
    assert sorted(labels) == [f"l{number}" for number in range(8)]


def test_a_stale_update_is_a_conflict_and_one_without_a_change_keeps_the_revision(api: Api) -> None:
    made = api.create(BINDINGS, binding("a"))
    assert api.ask("PUT", f"{BINDINGS}/a", made).object == made
    changed = {**made, "spec": {**made["spec"], "nodeName": "n0", "podUID": "u"}}
    changed["metadata"] = {**made["metadata"], "labels": {"x": "y"}}
    assert api.ask("PUT", f"{BINDINGS}/a", changed).code == 200

    stale = api.ask("PUT", f"{BINDINGS}/a", {**changed, "metadata": made["metadata"]})
    assert (stale.code, stale.object["reason"]) == (409, "Conflict")


def test_dry_runs_answer_and_store_nothing(api: Api) -> None:
    revision = revision_of(api.get(BINDINGS))
    answer = api.ask("POST", f"{BINDINGS}?dryRun=All", binding("a"))

    assert (answer.code, answer.object["metadata"]["name"]) == (201, "a")
    assert api.ask("GET", f"{BINDINGS}/a").code == 404
    assert revision_of(api.get(BINDINGS)) == revision


def test_pages_show_one_revision_whatever_happens_meanwhile(api: Api) -> None:
    for name in ("a", "c", "e"):
        api.create(BINDINGS, binding(name))
    first = api.get(f"{BINDINGS}?limit=1")
    assert (names(first), first["metadata"]["remainingItemCount"]) == (["a"], 2)
    api.create(BINDINGS, binding("d"))
    api.ask("DELETE", f"{BINDINGS}/c")
    second = api.get(f"{BINDINGS}?limit=1&continue={first['metadata']['continue']}")
    third = api.get(f"{BINDINGS}?limit=1&continue={second['metadata']['continue']}")

    assert (names(second), names(third)) == (["c"], ["e"])
    assert "continue" not in third["metadata"]
    assert revision_of(third) == revision_of(first)
    assert names(api.get(BINDINGS)) == ["a", "d", "e"]
    exact = f"{BINDINGS}?resourceVersionMatch=Exact&resourceVersion={revision_of(first)}"
    assert names(api.get(exact)) == ["a", "c", "e"]


def test_a_list_of_the_future_says_to_come_again(api: Api) -> None:
    answer = api.ask("GET", f"{BINDINGS}?resourceVersion=999999999")

    assert (answer.code, answer.object["reason"]) == (504, "Timeout")
    assert answer.object["details"]["causes"][0]["reason"] == "ResourceVersionTooLarge"


def test_selectors_choose_what_is_listed(api: Api) -> None:
    api.create(BINDINGS, binding("a", "n0", tier="gold"))
    api.create(BINDINGS, binding("b", "n1", tier="gold"))
    api.create(BINDINGS, binding("c", "n1"))

    assert names(api.get(f"{BINDINGS}?labelSelector=tier%3Dgold")) == ["a", "b"]
    assert names(api.get(f"{BINDINGS}?fieldSelector=spec.nodeName%3Dn1")) == ["b", "c"]
    assert names(api.get(f"{BINDINGS}?labelSelector=tier&fieldSelector=spec.nodeName%3Dn1")) == [
        "b"
    ]
    page = api.get(f"{BINDINGS}?labelSelector=tier&limit=1")
    assert "remainingItemCount" not in page["metadata"]


def test_a_watch_goes_on_from_a_revision_without_loss_or_repetition(api: Api) -> None:
    begun = revision_of(api.get(BINDINGS))
    made = [revision_of(api.create(BINDINGS, binding(f"w{number}"))) for number in range(6)]
    wanted = [("ADDED", f"w{number}", at) for number, at in enumerate(made)]
    with api.watch(f"{BINDINGS}?watch=true&resourceVersion={begun}") as events:
        assert take(events, 6) == wanted
    for number in range(6):
        with api.watch(f"{BINDINGS}?watch=1&resourceVersion={made[number]}") as events:
            assert take(events, 5 - number) == wanted[number + 1 :]


def test_a_watch_without_a_revision_begins_with_what_is_there(api: Api) -> None:
    api.create(BINDINGS, binding("b"))
    api.create(BINDINGS, binding("a"))
    for query in ("watch=True", "watch=true&resourceVersion=0"):
        with api.watch(f"{BINDINGS}?{query}") as events:
            assert [name for _, name, _ in take(events, 2)] == ["a", "b"]


def test_initial_events_end_with_a_bookmark_that_says_so(api: Api) -> None:
    api.create(BINDINGS, binding("a"))
    query = (
        "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
        "&allowWatchBookmarks=true&timeoutSeconds=1"
    )
    with api.watch(f"{BINDINGS}?{query}") as events:
        first, second, *rest = events

    assert (first["type"], first["object"]["metadata"]["name"]) == ("ADDED", "a")
    assert second["type"] == "BOOKMARK"
    assert second["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}
    assert revision_of(second["object"]) >= revision_of(first["object"])
    assert rest == []


def test_a_watch_of_a_part_sees_objects_enter_and_leave_it(api: Api) -> None:
    made = api.create(BINDINGS, binding("a", tier="gold"))
    begun = revision_of(made)
    headers = {"Content-Type": "application/merge-patch+json"}
    for tier in ("tin", "gold", "gold"):
        patch = {"metadata": {"labels": {"tier": tier}, "annotations": {"at": tier}}}
        patch["metadata"]["annotations"]["n"] = str(begun)
        api.ask("PATCH", f"{BINDINGS}/a", patch, headers)
    patch = {"metadata": {"annotations": {"last": "yes"}}}
    api.ask("PATCH", f"{BINDINGS}/a", patch, headers)
    api.ask("DELETE", f"{BINDINGS}/a")
    query = f"watch=true&resourceVersion={begun}&labelSelector=tier%3Dgold"
    with api.watch(f"{BINDINGS}?{query}") as events:
        seen = [(kind, revision) for kind, _, revision in take(events, 4)]

    assert [kind for kind, _ in seen] == ["DELETED", "ADDED", "MODIFIED", "DELETED"]
    assert [revision for _, revision in seen] == sorted({revision for _, revision in seen})


def test_a_watch_is_silent_before_its_revision(api: Api) -> None:
    begun = revision_of(api.get(BINDINGS))
    with api.watch(f"{BINDINGS}?watch=true&resourceVersion={begun + 1}") as events:
        api.create(BINDINGS, binding("early"))
        late = api.create(BINDINGS, binding("late"))

        assert take(events, 1) == [("ADDED", "late", revision_of(late))]


def test_a_watch_ends_by_its_time(api: Api) -> None:
    begun = revision_of(api.get(BINDINGS))
    query = f"watch=true&resourceVersion={begun}&timeoutSeconds=1"
    with api.watch(f"{BINDINGS}?{query}") as events:
        assert list(events) == []


def test_what_happened_too_long_ago_is_gone() -> None:
    with running_api(limits=Limits(events=3)) as api:
        begun = revision_of(api.get(BINDINGS))
        for name in ("a", "b", "c", "d", "e"):
            api.create(BINDINGS, binding(name))
        first = api.get(f"{BINDINGS}?limit=1")
        for name in ("f", "g", "h", "i"):
            api.create(BINDINGS, binding(name))
        watch = api.ask("GET", f"{BINDINGS}?watch=true&resourceVersion={begun}")
        page = api.ask("GET", f"{BINDINGS}?limit=1&continue={first['metadata']['continue']}")

    assert [watch.code, page.code] == [410, 410]
    assert [watch.object["reason"], page.object["reason"]] == ["Expired", "Expired"]


def test_bookmarks_tell_a_quiet_watch_how_far_the_server_is() -> None:
    with running_api(limits=Limits(bookmark_seconds=0.05)) as api:
        begun = revision_of(api.get(BINDINGS))
        query = f"watch=true&resourceVersion={begun}&allowWatchBookmarks=true"
        with api.watch(f"{PODS}?{query}") as events:
            made = revision_of(api.create(BINDINGS, binding("a")))
            seen = next(each for each in events if revision_of(each["object"]) >= made)

    assert seen["type"] == "BOOKMARK"
    assert seen["object"]["kind"] == "Pod"


def test_a_client_that_takes_nothing_is_cut_off_and_the_others_go_on() -> None:
    limits = Limits(events=50, stalled_seconds=0.5)
    big = binding("big")
    big["metadata"]["annotations"] = {"note": "x" * 100_000}
    with running_api(limits=limits) as api, ExitStack() as stack:
        host, port = urlsplit(api.url).hostname, urlsplit(api.url).port
        slow = stack.enter_context(socket.create_connection((host or "", port or 0)))
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        slow.sendall(f"GET {BINDINGS}?watch=true HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        assert slow.recv(10) == b"HTTP/1.1 2"
        quick = stack.enter_context(api.watch(f"{BINDINGS}?watch=true"))
        made = []
        for number in range(150):
            big["metadata"]["name"] = f"big{number}"
            made.append(revision_of(api.create(BINDINGS, big)))
            assert take(quick, 1)[0][2] == made[-1]
        only_one = "apiserver_longrunning_requests 1.0"
        until(lambda: only_one in api.ask("GET", "/metrics").content.decode())


def test_a_server_stops_though_clients_take_nothing_and_says_nothing_of_it(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """By itself uvicorn waits, cancels, and tells each of it with a traceback."""
    monkeypatch.setattr(http_server, "_LAST_ANSWERS_SECONDS", 0.2)
    big = binding("big")
    big["metadata"]["annotations"] = {"note": "x" * 200_000}
    with ExitStack() as stack, running_api() as api:
        host, port = urlsplit(api.url).hostname, urlsplit(api.url).port
        slow = stack.enter_context(socket.create_connection((host or "", port or 0)))
        slow.sendall(f"GET {BINDINGS}?watch=true HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        assert slow.recv(10) == b"HTTP/1.1 2"
        for number in range(60):  # More than the buffers between the two hold.
            big["metadata"]["name"] = f"big{number}"
            api.create(BINDINGS, big)
    assert [record for record in caplog.records if record.name.startswith("uvicorn")] == []


def test_too_much_is_refused() -> None:
    limits = Limits(body_bytes=1_000, header_bytes=2_000, watches=1, requests=1)
    with running_api(limits=limits) as api:
        large = {**binding("a"), "note": "x" * 2_000}
        assert api.ask("POST", BINDINGS, large).code == 413
        assert api.ask("GET", BINDINGS, headers={"X": "y" * 5_000}).code == 431
        with api.watch(f"{BINDINGS}?watch=true"):
            second = api.ask("GET", f"{BINDINGS}?watch=true")
            assert (second.code, second.headers["retry-after"]) == (429, "1")
            assert api.ask("GET", BINDINGS).code == 200


@pytest.mark.parametrize("guess", ["n1", "n2"])
def test_a_node_does_not_learn_by_the_tests_of_a_patch_what_others_pods_are(guess: str) -> None:
    tokens = read_tokens("m,admin,1,system:masters\nn,system:node:n0,2,system:nodes")
    settings = ApiSettings("127.0.0.1", 0, tokens=tokens)
    with closing(SqlStore("sqlite://")) as store, serving(store, settings) as url:
        Api(url, {"Authorization": "Bearer m"}).create(PODS, pod("a", "n1"))
        node = Api(url, {"Authorization": "Bearer n"})
        steps = [{"op": "test", "path": "/spec/nodeName", "value": guess}]
        media = {"Content-Type": "application/json-patch+json"}
        assert node.ask("PATCH", f"{PODS}/a/status", steps, media).code == 403


def test_patches_make_no_object_larger_than_a_body_and_what_is_too_large_can_be_deleted(
    api: Api,
) -> None:
    """Kubernetes: etcd takes no request of more than 1.5 MiB."""
    merge = {"Content-Type": "application/merge-patch+json"}
    path = "/api/v1/namespaces/default/events"
    named = {"name": "grows", "finalizers": ["example.com/f"]}
    api.create(path, {"metadata": named, "involvedObject": {"namespace": "default"}})
    most = 3 * 1024 * 1024
    first = api.ask("PATCH", f"{path}/grows", {"message": "m" * 2_000_000}, merge)
    assert first.code == 200
    second = api.ask("PATCH", f"{path}/grows", {"reason": "r" * 2_000_000}, merge)
    assert second.code == 413
    assert second.object["message"] == f"Request entity too large: limit is {most}"
    full = most - len(api.ask("GET", f"{path}/grows").content) - 20
    assert api.ask("PATCH", f"{path}/grows", {"reason": "r" * full}, merge).code == 200
    assert api.ask("DELETE", f"{path}/grows").code == 200  # With a mark, it is larger than that.
    gone = api.ask("PATCH", f"{path}/grows", {"metadata": {"finalizers": None}}, merge)
    assert gone.code == 200
    assert api.ask("GET", f"{path}/grows").code == 404


def test_a_request_that_does_not_come_is_not_waited_for() -> None:
    with running_api(limits=Limits(request_seconds=0.2)) as api:
        address = (urlsplit(api.url).hostname or "", urlsplit(api.url).port or 0)
        half = f"POST {PODS} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nabc".encode()
        for begun in (b"", b"GET / HT", half):
            with socket.create_connection(address, timeout=30) as connection:
                connection.sendall(begun)
                with suppress(ConnectionResetError):
                    assert connection.recv(10) == b""


def test_connections_beyond_the_bound_are_closed() -> None:
    with running_api(limits=Limits(connections=2)) as api, ExitStack() as stack:
        address = (urlsplit(api.url).hostname or "", urlsplit(api.url).port or 0)
        watches = [stack.enter_context(api.watch(f"{BINDINGS}?watch=true")) for _ in range(2)]
        third = stack.enter_context(socket.create_connection(address, timeout=30))
        with suppress(ConnectionResetError):
            assert third.recv(10) == b""

        assert len(watches) == 2


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://example.com"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Host": "example.com"},
        {"Host": "a.b:80"},
    ],
)
def test_pages_in_browsers_are_answered_nothing(api: Api, headers: dict[str, str]) -> None:
    assert api.ask("GET", NAMESPACES, headers=headers).code == 403


@pytest.mark.parametrize("host", ["localhost:1", "127.0.0.1:80", "[::1]:80", "[::1]", "127.0.0.1"])
def test_this_machine_may_be_named_in_any_way(api: Api, host: str) -> None:
    assert api.ask("GET", NAMESPACES, headers={"Host": host}).code == 200


def test_a_namespace_goes_with_everything_in_it(api: Api) -> None:
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "gone"}}
    api.create(NAMESPACES, body)
    inside = "/apis/rebind.internal/v1alpha1/namespaces/gone/devicebindings"
    for name in ("a", "b"):
        api.create(inside, binding(name))
    api.create("/api/v1/namespaces/gone/pods", pod("p", "n0"))
    deleted = api.ask("DELETE", f"{NAMESPACES}/gone")

    assert deleted.code == 200
    assert api.get(f"{NAMESPACES}/gone")["status"]["phase"] == "Terminating"
    assert names(api.get(inside)) == []
    assert api.ask("POST", inside, binding("late")).code == 403
    ended = api.ask("DELETE", "/api/v1/namespaces/gone/pods/p?gracePeriodSeconds=0")
    assert ended.code == 200
    assert api.ask("GET", f"{NAMESPACES}/gone").code == 404
    assert api.ask("POST", inside, binding("late")).code == 404


def pod_with_device(name: str, node: str) -> Document:
    body = pod(name, node)
    body["spec"]["containers"][0]["resources"] = {"limits": {"example.com/gpu": "1"}}
    return body


def order(found: Document, device: str) -> Document:
    """Return the ResourceBinding of a pod to a device."""
    devices = [{"resourceName": "example.com/gpu", "deviceIDs": [device]}]
    return {
        "apiVersion": "v1",
        "kind": "ResourceBinding",
        "metadata": {"namespace": "default"},
        "target": {"name": found["metadata"]["name"], "uid": found["metadata"]["uid"]},
        "containers": [{"containerName": "main", "computeDevices": devices}],
    }


def bound_at_once(api: Api, made: dict[str, Document]) -> dict[str, int]:
    """Bind all pods to one device at the same time; return the code for each."""
    codes: dict[str, int] = {}

    def bind(name: str) -> None:
        answer = api.ask("POST", f"{PODS}/{name}/resourcebinding", order(made[name], "gpu-0"))
        codes[name] = answer.code

    threads = [threading.Thread(target=bind, args=(name,)) for name in made]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return codes


@pytest.mark.parametrize("unique", [False, True])
def test_a_device_of_another_pod_is_bound_unless_the_server_is_told_not_to(unique: bool) -> None:  # noqa: FBT001 - a parameter of the test
    with running_api(unique_devices=unique) as api:
        made = {
            name: api.create(PODS, pod_with_device(name, node))
            for name, node in (("p", "n0"), ("q", "n0"), ("r", "n1"))
        }
        codes = bound_at_once(api, made)
        held, other = ("p", "q") if codes["p"] == 201 else ("q", "p")
        again = api.ask("POST", f"{PODS}/{other}/resourcebinding", order(made[other], "gpu-0"))
        api.ask("DELETE", f"{PODS}/{held}?gracePeriodSeconds=0")
        freed = api.ask("POST", f"{PODS}/{other}/resourcebinding", order(made[other], "gpu-0"))

    assert sorted(codes.values()) == ([201, 201, 409] if unique else [201, 201, 201])
    assert codes["r"] == freed.code == 201
    if unique:
        assert f"is held by pod default/{held}" in again.object["message"]


def test_devices_are_bound_once_and_in_bulk(api: Api) -> None:
    made = [api.create(PODS, pod_with_device(name, "n0")) for name in ("p", "q")]
    first = api.ask("POST", f"{PODS}/p/resourcebinding", order(made[0], "gpu-0"))
    again = api.ask("POST", f"{PODS}/p/resourcebinding", order(made[0], "gpu-0"))
    other = api.ask("POST", f"{PODS}/p/resourcebinding", order(made[0], "gpu-1"))
    bulk = api.ask(
        "POST",
        "/apis/rebind.internal/v1alpha1/resourcebindings",
        {"items": [order(made[0], "gpu-1"), order(made[1], "gpu-1")]},
    )

    assert [first.code, again.code, other.code, bulk.code] == [201, 201, 409, 201]
    assert revision_of(again.object) == revision_of(first.object)
    assert [each["code"] for each in bulk.object["results"]] == [409, 201]
    devices = api.get(f"{PODS}/q")["spec"]["containers"][0]["computeDevices"]
    assert devices == [{"resourceName": "example.com/gpu", "deviceIDs": ["gpu-1"]}]


def test_a_binding_names_its_pod_where_the_path_does_not(api: Api) -> None:
    api.create(PODS, pod("p"))
    path = "/api/v1/namespaces/default/bindings"
    order = {"metadata": {"name": "p"}, "target": {"kind": "Node", "name": "n0"}}

    bound = api.ask("POST", path, order)
    again = api.ask("POST", path, order)
    unnamed = api.ask("POST", path, {"target": {"name": "n0"}})
    unknown = api.ask("POST", path, {**order, "metadata": {"name": "q"}})

    assert [each.code for each in (bound, again, unnamed, unknown)] == [201, 409, 422, 404]
    assert api.get(f"{PODS}/p")["spec"]["nodeName"] == "n0"
    assert api.ask("GET", path).code == 405


def test_metrics_and_health_are_told(api: Api) -> None:
    for path in ("/healthz", "/livez", "/readyz"):
        assert api.ask("GET", path).content == b"ok"
    page = api.ask("GET", "/metrics").content.decode()

    assert 'apiserver_request_total{code="200",resource="",verb=""}' in page
    assert 'apiserver_storage_objects{resource="namespaces"} 4.0' in page


class StoreOnADisk(SqlStore):
    """A store on a disk that may be full."""

    is_full = False

    @override
    def apply_together(
        self, transitions: Sequence[Transition], writes: Sequence[ObjectWrite]
    ) -> Together:
        if self.is_full:
            reason = "the disk is full"
            raise StoreUnavailableError(reason)
        return super().apply_together(transitions, writes)


def test_who_asks_is_told_that_there_is_room_again_although_nobody_writes() -> None:
    settings = ApiSettings("127.0.0.1", 0)
    with closing(StoreOnADisk("sqlite://")) as store, serving(store, settings) as url:
        api = Api(url)
        assert api.ask("GET", "/readyz").code == 200
        store.is_full = True
        refused = api.ask("POST", BINDINGS, binding("a"))
        full = [api.ask("GET", path).code for path in ("/readyz", "/readyz", "/livez")]
        store.is_full = False
        until(lambda: api.ask("GET", "/readyz").code == 200)
        made = api.create(BINDINGS, binding("a"))

    assert (refused.code, full) == (503, [503, 503, 200])
    assert names({"items": [made]}) == ["a"]


def test_what_is_stored_is_there_after_a_restart_and_watches_go_on(tmp_path: Path) -> None:
    db = f"sqlite:///{tmp_path}/api.db"
    with running_api(db) as api:
        begun = revision_of(api.get(BINDINGS))
        api.create(BINDINGS, binding("a"))
        api.create(BINDINGS, binding("b"))
        api.ask("DELETE", f"{BINDINGS}/a")
        before = api.ask("GET", BINDINGS)
        with api.watch(f"{BINDINGS}?watch=1&resourceVersion={begun}") as events:
            seen = take(events, 3)
    with running_api(db) as api:
        assert json.loads(before.content) == api.get(BINDINGS)
        with api.watch(f"{BINDINGS}?watch=1&resourceVersion={begun}") as events:
            assert take(events, 3) == seen
        made = api.create(BINDINGS, binding("c"))

    assert revision_of(made) > seen[-1][2]
