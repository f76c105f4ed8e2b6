"""A device of a node is bound to one pod only, where a server sees to that."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.api.serving.running import Api, Document, running_api

PODS = "/api/v1/namespaces/default/pods"
MANY = "/apis/rebind.internal/v1alpha1/resourcebindings"
GPU = "example.com/gpu"


def make(api: Api, name: str, node: str = "n0") -> Document:
    main = {"name": "main", "resources": {"limits": {GPU: "1"}}}
    spec = {"nodeName": node, "containers": [main]}
    return api.create(PODS, {"metadata": {"name": name}, "spec": spec})


def order(pod: Document, device: str) -> Document:
    devices = [{"resourceName": GPU, "deviceIDs": [device]}]
    return {
        "metadata": {"namespace": "default"},
        "target": {"name": pod["metadata"]["name"], "uid": pod["metadata"]["uid"]},
        "containers": [{"containerName": "main", "computeDevices": devices}],
    }


def bind(api: Api, pod: Document, device: str) -> int:
    path = f"{PODS}/{pod['metadata']['name']}/resourcebinding"
    return api.ask("POST", path, order(pod, device)).code


@pytest.fixture
def api() -> Iterator[Api]:
    with running_api(unique_devices=True) as running:
        yield running


def test_another_pod_of_the_node_does_not_get_a_device_that_is_bound(api: Api) -> None:
    first, second, elsewhere = make(api, "a"), make(api, "b"), make(api, "c", "n1")

    assert bind(api, first, "g0") == 201
    refused = api.ask("POST", f"{PODS}/b/resourcebinding", order(second, "g0"))

    assert refused.code == 409
    assert 'example.com/gpu "g0" on node "n0" is held by pod default/a' in refused.object["message"]
    assert bind(api, first, "g0") == 201
    assert bind(api, elsewhere, "g0") == 201
    assert bind(api, second, "g1") == 201


def test_a_device_is_free_when_its_pod_has_gone_or_ended(api: Api) -> None:
    gone, ended, next_one, last = (make(api, name) for name in ("a", "b", "c", "d"))
    assert [bind(api, gone, "g0"), bind(api, ended, "g1")] == [201, 201]

    api.ask("DELETE", f"{PODS}/a?gracePeriodSeconds=0")
    patch = {"Content-Type": "application/merge-patch+json"}
    api.ask("PATCH", f"{PODS}/b/status", {"status": {"phase": "Failed"}}, patch)

    assert [bind(api, next_one, "g0"), bind(api, last, "g1")] == [201, 201]


def test_of_many_at_once_one_gets_a_device(api: Api) -> None:
    pods = [make(api, f"p{number}") for number in range(8)]
    codes: list[int] = []
    threads = [
        threading.Thread(target=lambda pod=pod: codes.append(bind(api, pod, "g0"))) for pod in pods
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(codes) == [201] + [409] * 7


def test_of_many_in_one_request_one_gets_a_device(api: Api) -> None:
    pods = [make(api, name) for name in ("a", "b")]

    answer = api.ask("POST", MANY, {"items": [order(pod, "g0") for pod in pods]})

    assert [each["code"] for each in answer.object["results"]] == [201, 409]


def test_who_has_what_is_known_after_a_restart(tmp_path: Path) -> None:
    db = f"sqlite:///{tmp_path / 'state.db'}"
    with running_api(db, unique_devices=True) as api:
        first, second = make(api, "a"), make(api, "b")
        assert bind(api, first, "g0") == 201
    with running_api(db, unique_devices=True) as api:
        assert bind(api, second, "g0") == 409


def test_without_being_told_to_the_server_does_not_look() -> None:
    with running_api() as api:
        assert [bind(api, make(api, name), "g0") for name in ("a", "b")] == [201, 201]
