"""What a running server answers, over its socket."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Callable, Iterator

import pytest

from simulator.cli.object_tables import Object, at, items, pod_status, text
from simulator.errors import (
    ConfigError,
    ManifestError,
    ObjectConflictError,
    ObjectNotFoundError,
)
from simulator.protocol import control_services as methods
from simulator.protocol import rebind_control_pb2 as control
from simulator.wire.control_client import ControlClient
from tests.server.running import a_client

WAIT_S = 60.0


@pytest.fixture(scope="module")
def server() -> Iterator[ControlClient]:
    """A server of two nodes; `n0` has a plugin with 8 devices."""
    with a_client() as client:
        request = control.StartPluginRequest(
            node="n0", name="gpu", kind="fake", arguments=["--count", "8"]
        )
        client.call(methods.START_PLUGIN, request)
        until(lambda: serves(client, "n0"))
        yield client


def plugin_state(server: ControlClient, node: str) -> str:
    (plugin,) = found(server, "plugins", node=node)
    return text(plugin, "status", "state")


def serves(server: ControlClient, node: str) -> bool:
    """Tell whether a node's plugin has listed devices; before that pods run without (S3.7)."""
    (plugin,) = found(server, "plugins", node=node)
    is_registered = text(plugin, "status", "state") == "Registered"
    return is_registered and at(plugin, "status", "healthy") != 0


def a_pod(name: str, count: int = 1, node: str = "n0", **container: object) -> dict[str, object]:
    limits = {"limits": {"example.com/gpu": count}}
    main = {"name": "main", "resources": limits, **container}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": {"app": name}},
        "spec": {"nodeName": node, "containers": [main]},
    }


def apply(server: ControlClient, *objects: object) -> list[str]:
    manifest = json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}).encode()
    answer = server.call(methods.APPLY, control.ApplyRequest(manifest=manifest, name="file.json"))
    return [f"{each.name} {each.outcome}" for each in answer.objects]


def found(server: ControlClient, kind: str, **request: str) -> list[Object]:
    answer = server.call(methods.GET, control.GetRequest(kind=kind, **request))
    return [json.loads(each) for each in answer.objects]


def until(condition: Callable[[], bool]) -> None:
    """Wait for what comes by itself, with a deadline."""
    deadline = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < deadline, "it did not come"
        time.sleep(0.01)


def pod(server: ControlClient, name: str) -> Object:
    return found(server, "pods", name=name)[0]


def phase(server: ControlClient, name: str) -> str:
    return text(pod(server, name), "status", "phase")


def delete(
    server: ControlClient, *names: str, kind: str = "pod", force: bool = False, wait: bool = True
) -> None:
    objects = [control.ObjectName(kind=kind, name=name) for name in names]
    request = control.DeleteRequest(objects=objects, force=force, wait=wait)
    server.call(methods.DELETE, request)


@pytest.fixture(autouse=True)
def _served(server: ControlClient) -> None:
    """Wait for the plugin, which an earlier test may have left to come back (S1.10)."""
    until(lambda: serves(server, "n0"))


NUMBERS = itertools.count()


@pytest.fixture
def running(server: ControlClient) -> Iterator[str]:
    """A pod of two devices that runs, of a new name."""
    name = f"pod-{next(NUMBERS)}"
    apply(server, a_pod(name, 2))
    until(lambda: phase(server, name) == "Running")
    yield name
    delete(server, name)


def test_a_pod_shows_the_health_of_its_devices_as_the_kubelet_reports_it(
    server: ControlClient, running: str
) -> None:
    """S9.2, S9.3."""
    (status,) = items(pod(server, running), "status", "containerStatuses")
    (resource,) = items(status, "allocatedResourcesStatus")

    assert text(resource, "name") == "example.com/gpu"
    assert [text(device, "health") for device in items(resource, "resources")] == ["Healthy"] * 2
    assert at(status, "ready") is True
    assert text(status, "containerID").startswith("rebind://n0-")


def test_a_description_has_what_the_plugin_and_then_the_pod_gave(server: ControlClient) -> None:
    """S10.8: the plugin's settings come first."""
    apply(server, a_pod("described", env=[{"name": "OWN", "value": "1"}]))
    until(lambda: phase(server, "described") == "Running")
    answer = server.call(methods.DESCRIBE, control.DescribeRequest(kind="pod", name="described"))
    (container,) = items(json.loads(answer.document), "containers")
    (device,) = (ids for ids in (at(container, "devices", "example.com/gpu"),))
    delete(server, "described")

    assert isinstance(device, list)
    assert items(container, "startedWith", "envs") == [
        {"name": "EXAMPLE_COM_GPU", "value": device[0], "from": "plugin"},
        {"name": "OWN", "value": "1", "from": "pod"},
    ]
    assert [
        (text(each, "containerPath"), text(each, "permissions"))
        for each in items(container, "startedWith", "devices")
    ] == [(f"/dev/{device[0]}", "rw")]


def test_what_is_there_already_is_unchanged_and_a_changed_manifest_is_refused(
    server: ControlClient, running: str
) -> None:
    assert apply(server, a_pod(running, 2)) == [f"pod/{running} unchanged"]
    with pytest.raises(ObjectConflictError, match=rf"pod/{running} is there already .*delete it"):
        apply(server, a_pod(running, 1))


def test_a_file_with_one_bad_object_creates_nothing(server: ControlClient) -> None:
    bad = a_pod("bad", node="nowhere")

    with pytest.raises(ManifestError, match=r'file\.json:.*the node "nowhere".*there are: n0, n1'):
        apply(server, a_pod("good"), bad)
    with pytest.raises(ManifestError, match='unknown key "limit"; did you mean "limits"'):
        apply(server, a_pod("good"), a_pod("x", resources={"limit": {}}))

    assert [
        each for each in found(server, "pods") if text(each, "metadata", "name") == "good"
    ] == []


def test_what_is_not_there_is_named_with_what_is(server: ControlClient) -> None:
    with pytest.raises(ObjectNotFoundError, match=r'pods "nobody" not found; there are: '):
        found(server, "pods", name="nobody")
    with pytest.raises(ObjectNotFoundError, match=r'node "n7" not found; there are: n0, n1'):
        server.call(methods.REBOOT_NODE, control.RebootNodeRequest(node="n7"))
    with pytest.raises(ConfigError, match='"secrets" is no kind of object here; there are: pods'):
        found(server, "secrets")


def test_labels_and_nodes_narrow_what_is_shown(server: ControlClient, running: str) -> None:
    assert len(found(server, "pods", selector=f"app={running}")) == 1
    assert found(server, "pods", selector=f"app={running},other=x") == []
    assert found(server, "pods", node="n1") == []
    with pytest.raises(ConfigError, match="is not a label selector"):
        found(server, "pods", selector="==")


def test_a_watch_tells_what_is_there_and_then_every_change(server: ControlClient) -> None:
    events = server.stream(methods.WATCH, control.GetRequest(kind="pods", name="watched"))

    assert next(events).type == "BOOKMARK"
    apply(server, a_pod("watched"))
    seen: list[str] = []
    while not seen or seen[-1] != "Running":
        event = next(events)
        seen.append(text(json.loads(event.object), "status", "phase"))
        assert event.type == ("ADDED" if len(seen) == 1 else "MODIFIED")
    delete(server, "watched")
    while (event := next(events)).type != "DELETED":
        pass
    assert seen[0] == "Pending"
    assert text(json.loads(event.object), "metadata", "name") == "watched"


def test_a_workload_replaces_its_pods_until_it_is_deleted(server: ControlClient) -> None:
    template = {"spec": {"containers": [{"name": "main"}]}}
    web = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web"},
        "spec": {"replicas": 2, "template": template},
    }

    def names() -> set[str]:
        pods = found(server, "pods")
        return {name for each in pods if (name := text(each, "metadata", "name"))[:3] == "web"}

    assert apply(server, web) == ["deployment.apps/web created"]
    assert apply(server, web) == ["deployment.apps/web unchanged"]
    assert names() == {"web-0", "web-1"}
    delete(server, "web-0", force=True)
    until(lambda: names() == {"web-0-1", "web-1"})
    delete(server, "web", kind="deployment")
    assert names() == set()
    with pytest.raises(ObjectNotFoundError, match=r'deployment\.apps "web" not found'):
        delete(server, "web", kind="deploy")


def test_of_several_objects_all_are_deleted_or_none(server: ControlClient) -> None:
    apply(server, a_pod("one"), a_pod("two"))
    with pytest.raises(ObjectNotFoundError, match='pod "three" not found'):
        delete(server, "one", "three", "two")
    there = [text(each, "metadata", "name") for each in found(server, "pods")]
    delete(server, "one", "two")

    assert {"one", "two"} <= set(there)
    with pytest.raises(ObjectNotFoundError):
        pod(server, "one")


def test_a_workload_can_be_made_anew_while_pods_of_the_old_one_end(server: ControlClient) -> None:
    notes = {"annotations": {"rebind.internal/termination-time": "1h"}}
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "slow"},
        "spec": {
            "template": {
                "metadata": notes,
                "spec": {
                    "nodeName": "n0",
                    "containers": [{"name": "main"}],
                    "terminationGracePeriodSeconds": 3600,
                },
            }
        },
    }
    apply(server, job)
    until(lambda: phase(server, "slow") == "Running")
    delete(server, "slow", kind="job", wait=False)
    apply(server, job)
    ending = pod(server, "slow")
    delete(server, "slow", kind="job", force=True)

    assert text(ending, "metadata", "deletionTimestamp")
    assert pod_status(ending) == "Terminating"


def test_a_kubelet_restart_leaves_a_pod_its_devices_and_may_change_the_version(
    server: ControlClient, running: str
) -> None:
    before = at(pod(server, running), "status", "devices")
    request = control.RestartKubeletRequest(node="n0", down_ns=10**9, kubelet_version="1.35.4")
    answer = server.call(methods.RESTART_KUBELET, request)
    back = control.RestartKubeletRequest(node="n0", kubelet_version="1.36.2")

    assert answer.kubelet_version == "1.35.4"
    assert at(pod(server, running), "status", "devices") == before
    assert server.call(methods.RESTART_KUBELET, back).kubelet_version == "1.36.2"


def test_events_are_counted_and_name_their_object(server: ControlClient) -> None:
    apply(server, a_pod("greedy", 99))
    until(lambda: phase(server, "greedy") == "Failed")
    (event,) = (
        each for each in found(server, "events") if text(each, "involvedObject", "name") == "greedy"
    )
    delete(server, "greedy")

    assert text(event, "reason") == "UnexpectedAdmissionError"
    assert text(event, "type") == "Warning"
    assert at(event, "count") == 1
    assert "Requested: 99, Available: " in text(event, "message")


def test_a_stopped_plugin_can_be_started_again_by_its_name(server: ControlClient) -> None:
    start = control.StartPluginRequest(
        node="n1", name="nic", kind="fake", arguments=["--resource-name=example.com/nic"]
    )
    name = control.StopPluginRequest(node="n1", name="nic")

    server.call(methods.START_PLUGIN, start)
    with pytest.raises(ObjectConflictError, match='a plugin "nic" runs on n1'):
        server.call(methods.START_PLUGIN, start)
    until(lambda: serves(server, "n1"))
    server.call(methods.STOP_PLUGIN, name)
    until(lambda: plugin_state(server, "n1") == "Stopped")
    with pytest.raises(ObjectNotFoundError, match='"nic" of n1 does not run'):
        server.call(methods.STOP_PLUGIN, name)
    server.call(methods.START_PLUGIN, control.StartPluginRequest(node="n1", name="nic"))
    until(lambda: serves(server, "n1"))
    server.call(methods.STOP_PLUGIN, name)
    with pytest.raises(ConfigError, match="no option 'cuont'; did you mean count"):
        server.call(
            methods.START_PLUGIN,
            control.StartPluginRequest(node="n1", kind="fake", arguments=["--cuont", "1"]),
        )
