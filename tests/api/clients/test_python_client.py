"""The official Python client works as it is, with core objects and with custom ones."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from itertools import islice
from typing import Any, TypeAlias

import pytest
from kubernetes import client, dynamic, watch

from simulator.api.serving.limits import Limits
from tests.api.serving.running import Api, Document, running_api

Client: TypeAlias = Any
"""A client whose answers are taken to have what they are to have."""

GROUP = ("rebind.internal", "v1alpha1", "default", "devicebindings")
CONTAINERS = [{"name": "main", "image": "example.com/image"}]


@pytest.fixture(scope="module")
def server() -> Iterator[Api]:
    with running_api() as api:
        yield api


@pytest.fixture
def connection(server: Api) -> Iterator[client.ApiClient]:
    for path in ("/api/v1/namespaces/default/pods", f"/apis/{GROUP[0]}/{GROUP[1]}/{GROUP[3]}"):
        server.ask("DELETE", f"{path}?gracePeriodSeconds=0")
    configuration = client.Configuration(host=server.url)
    configuration.api_key["authorization"] = "Bearer unused"
    with client.ApiClient(configuration) as opened:
        yield opened


@pytest.fixture
def core(connection: client.ApiClient) -> Client:
    return client.CoreV1Api(connection)


@pytest.fixture
def custom(connection: client.ApiClient) -> Client:
    return client.CustomObjectsApi(connection)


def pod(name: str) -> Document:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": {"app": name}},
        "spec": {"containers": CONTAINERS},
    }


def binding(name: str) -> Document:
    return {
        "apiVersion": "rebind.internal/v1alpha1",
        "kind": "DeviceBinding",
        "metadata": {"name": name, "labels": {"app": name}},
        "spec": {"podUID": "u", "nodeName": "n0", "containers": []},
    }


def test_pods_are_created_listed_and_deleted(core: Client) -> None:
    made = core.create_namespaced_pod("default", pod("a"))
    core.create_namespaced_pod("default", pod("b"))

    assert made.metadata.uid
    assert made.status.phase == "Pending"
    assert [each.metadata.name for each in core.list_namespaced_pod("default").items] == ["a", "b"]
    assert core.read_namespaced_pod("a", "default").metadata.uid == made.metadata.uid
    selected = core.list_pod_for_all_namespaces(label_selector="app=b")
    assert [each.metadata.name for each in selected.items] == ["b"]
    core.delete_namespaced_pod("a", "default")
    with pytest.raises(client.ApiException) as missing:
        core.read_namespaced_pod("a", "default")
    assert (missing.value.status, missing.value.reason) == (404, "Not Found")


def test_logs_are_refused_with_the_reason(core: Client) -> None:
    core.create_namespaced_pod("default", pod("a"))
    with pytest.raises(client.ApiException) as refused:
        core.read_namespaced_pod_log("a", "default")

    assert refused.value.status == 405
    assert "containers are simulated, they write no log" in str(refused.value.body)


def test_lists_in_pages_are_followed(core: Client) -> None:
    for name in ("a", "b", "c"):
        core.create_namespaced_pod("default", pod(name))
    seen = []
    token = None
    while True:
        page = core.list_namespaced_pod("default", limit=2, _continue=token)
        seen += [each.metadata.name for each in page.items]
        token = page.metadata._continue  # noqa: SLF001 - its name in the client
        if not token:
            break

    assert seen == ["a", "b", "c"]


def test_a_second_pod_of_a_name_and_a_stale_update_are_conflicts(core: Client) -> None:
    made = core.create_namespaced_pod("default", pod("a"))
    with pytest.raises(client.ApiException) as second:
        core.create_namespaced_pod("default", pod("a"))
    core.patch_namespaced_pod("a", "default", {"metadata": {"labels": {"x": "y"}}})
    with pytest.raises(client.ApiException) as stale:
        core.replace_namespaced_pod("a", "default", made)

    assert [second.value.status, stale.value.status] == [409, 409]
    assert '"reason":"AlreadyExists"' in str(second.value.body)
    assert '"reason":"Conflict"' in str(stale.value.body)


def test_pods_take_strategic_merge_and_json_patches(core: Client) -> None:
    core.create_namespaced_pod("default", pod("a"))
    strategic = {"spec": {"containers": [{"name": "main", "image": "example.com/other"}]}}
    operations = [{"op": "add", "path": "/metadata/labels/json", "value": "yes"}]
    first = core.patch_namespaced_pod("a", "default", strategic)
    merge = {"metadata": {"labels": {"app": None, "merge": "yes"}}}
    core.patch_namespaced_pod("a", "default", merge, _content_type="application/merge-patch+json")
    last = core.patch_namespaced_pod("a", "default", operations)

    assert first.spec.containers[0].image == "example.com/other"
    assert last.metadata.labels == {"merge": "yes", "json": "yes"}


def test_a_status_is_patched_under_its_own_path(core: Client) -> None:
    core.create_namespaced_pod("default", pod("a"))
    body = {"status": {"phase": "Running"}, "metadata": {"labels": {"ignored": "yes"}}}
    patched = core.patch_namespaced_pod_status("a", "default", body)

    assert patched.status.phase == "Running"
    assert core.read_namespaced_pod_status("a", "default").status.phase == "Running"


def test_a_scheduler_binds_pods(core: Client) -> None:
    core.create_namespaced_pod("default", pod("a"))
    body = client.V1Binding(
        metadata=client.V1ObjectMeta(name="a"),
        target=client.V1ObjectReference(kind="Node", name="node-1"),
    )
    # Kubernetes answers with a Status, which the client does not take for a Binding.
    core.create_namespaced_binding("default", body, _preload_content=False)

    assert core.read_namespaced_pod("a", "default").spec.node_name == "node-1"


def test_nodes_and_leases_are_served(core: Client, connection: client.ApiClient) -> None:
    node = core.create_node({"metadata": {"name": "n7"}, "status": {"capacity": {"cpu": "2"}}})
    leases: Client = client.CoordinationV1Api(connection)
    lease = leases.create_namespaced_lease(
        "kube-node-lease", {"metadata": {"name": "n7"}, "spec": {"holderIdentity": "n7"}}
    )

    assert node.metadata.name == lease.spec.holder_identity == "n7"
    assert core.patch_node_status("n7", {"status": {"capacity": {"cpu": "4"}}}).status.capacity == {
        "cpu": "4"
    }
    core.delete_node("n7")


def test_pods_are_watched(core: Client) -> None:
    core.create_namespaced_pod("default", pod("a"))
    listed = core.list_namespaced_pod("default")
    seen: list[tuple[str, str]] = []

    def follow() -> None:
        events = watch.Watch().stream(
            core.list_namespaced_pod,
            "default",
            resource_version=listed.metadata.resource_version,
            timeout_seconds=60,
        )
        seen.extend((event["type"], event["object"].metadata.name) for event in islice(events, 3))

    following = threading.Thread(target=follow)
    following.start()
    core.create_namespaced_pod("default", pod("b"))
    core.patch_namespaced_pod("b", "default", {"metadata": {"labels": {"x": "y"}}})
    core.delete_namespaced_pod("b", "default")
    following.join()

    assert seen == [("ADDED", "b"), ("MODIFIED", "b"), ("DELETED", "b")]


def test_a_watch_from_too_long_ago_is_told_so() -> None:
    with running_api(limits=Limits(events=2)) as server:
        core: Client = client.CoreV1Api(client.ApiClient(client.Configuration(host=server.url)))
        for name in ("a", "b", "c", "d"):
            core.create_namespaced_pod("default", pod(name))
        events = watch.Watch().stream(
            core.list_namespaced_pod, "default", resource_version="1", timeout_seconds=5
        )
        with pytest.raises(client.ApiException) as gone:
            next(iter(events))

    assert gone.value.status == 410


def test_custom_objects_are_created_listed_and_deleted(custom: Client) -> None:
    made = custom.create_namespaced_custom_object(*GROUP, binding("a"))
    assert custom.get_namespaced_custom_object(*GROUP, "a") == made
    listed = custom.list_namespaced_custom_object(*GROUP, label_selector="app=a")
    assert listed["items"] == [made]
    gone = custom.delete_namespaced_custom_object(*GROUP, "a")

    assert gone["status"] == "Success"
    assert gone["details"]["uid"] == made["metadata"]["uid"]


def test_custom_objects_take_merge_and_json_patches_and_no_strategic_ones(
    custom: Client,
) -> None:
    custom.create_namespaced_custom_object(*GROUP, binding("a"))
    merge = {"metadata": {"labels": {"app": None, "x": "y"}}}
    operations = [{"op": "replace", "path": "/spec/nodeName", "value": "n0"}]
    patched = custom.patch_namespaced_custom_object(*GROUP, "a", merge)
    again = custom.patch_namespaced_custom_object(
        *GROUP, "a", operations, _content_type="application/json-patch+json"
    )
    with pytest.raises(client.ApiException) as strategic:
        custom.patch_namespaced_custom_object(
            *GROUP, "a", merge, _content_type="application/strategic-merge-patch+json"
        )

    assert patched["metadata"]["labels"] == {"x": "y"}
    assert again["metadata"]["resourceVersion"] == patched["metadata"]["resourceVersion"]
    assert strategic.value.status == 415


def test_custom_objects_are_watched(custom: Client) -> None:
    made = custom.create_namespaced_custom_object(*GROUP, binding("a"))
    events = watch.Watch().stream(custom.list_namespaced_custom_object, *GROUP, timeout_seconds=5)
    first = next(iter(events))

    assert (first["type"], first["object"]) == ("ADDED", made)


def test_the_version_is_told_in_full(connection: client.ApiClient) -> None:
    version = client.VersionApi(connection).get_code()

    assert version.major == "1"
    assert version.git_version.startswith("v1.")


def test_the_dynamic_client_finds_kinds_by_discovery(connection: client.ApiClient) -> None:
    kinds = dynamic.DynamicClient(connection).resources
    found = kinds.get(api_version="rebind.internal/v1alpha1", kind="DeviceBinding")
    found.create(body=binding("a"), namespace="default")

    assert found.get(name="a", namespace="default").spec.nodeName == "n0"
