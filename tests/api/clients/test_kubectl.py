"""kubectl works as it is: it is Debian's 1.20 or any later one, whichever is installed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.api.serving.running import DEADLINE_S, Api, Document, running_api

KUBECTL = shutil.which("kubectl")
REQUIRED = "KUBECTL_REQUIRED"
"""Set where kubectl has to be there: in `.ci/run`."""

POD = """
apiVersion: v1
kind: Pod
metadata: {name: web, labels: {app: web}}
spec: {containers: [{name: main, image: example.com/image}]}
"""
BINDING = """
apiVersion: rebind.internal/v1alpha1
kind: DeviceBinding
metadata: {name: web}
spec:
  podUID: 5b1c
  nodeName: n0
  containers:
  - {name: main, devices: [{resourceName: example.com/gpu, deviceIDs: [gpu-0, gpu-1]}]}
"""


class Kubectl:
    """kubectl with a home of its own, for a server."""

    def __init__(self, api: Api, home: Path) -> None:
        self.api = api
        self.home = home
        self.environment = {
            "HOME": str(home),
            "PATH": os.environ["PATH"],
            "KUBECONFIG": str(home / "none"),
        }

    def command(self, *arguments: str) -> list[str]:
        assert KUBECTL is not None
        return [KUBECTL, "--server", self.api.url, *arguments]

    def run(self, *arguments: str, given: str = "", fails: bool = False) -> str:
        """Return what it prints; an error instead of it if it is to fail."""
        finished = subprocess.run(  # noqa: S603 - a program that the test is about
            self.command(*arguments),
            env=self.environment,
            input=given,
            capture_output=True,
            text=True,
            timeout=DEADLINE_S,
            check=False,
        )
        assert (finished.returncode != 0) == fails, finished.stdout + finished.stderr
        return finished.stderr if fails else finished.stdout

    def json(self, *arguments: str) -> Document:
        return json.loads(self.run(*arguments, "-o", "json"))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kubectl]:
    if KUBECTL is None:
        reason = "kubectl is not installed; on Debian: apt-get install kubernetes-client"
        assert not os.environ.get(REQUIRED), reason
        pytest.skip(reason)
    with running_api() as api:
        yield Kubectl(api, tmp_path_factory.mktemp("home"))


@pytest.fixture
def kubectl(server: Kubectl) -> Kubectl:
    for path in ("/api/v1", "/apis/rebind.internal/v1alpha1"):
        plural = "pods" if path == "/api/v1" else "devicebindings"
        server.api.ask("DELETE", f"{path}/namespaces/default/{plural}?gracePeriodSeconds=0")
    return server


def rows(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines()]


def test_pods_are_applied_shown_and_deleted(kubectl: Kubectl) -> None:
    assert "pod/web created" in kubectl.run("apply", "-f", "-", given=POD)
    assert "pod/web unchanged" in kubectl.run("apply", "-f", "-", given=POD)
    changed = POD.replace("image: example.com/image", "image: example.com/other")
    assert "pod/web configured" in kubectl.run("apply", "-f", "-", given=changed)
    shown = rows(kubectl.run("get", "pods"))

    assert shown[0] == ["NAME", "READY", "STATUS", "RESTARTS", "AGE"]
    assert shown[1][:4] == ["web", "0/1", "Pending", "0"]
    assert rows(kubectl.run("get", "pods", "-o", "wide"))[0][6] == "NODE"
    assert rows(kubectl.run("get", "pods", "-A"))[1][:2] == ["default", "web"]
    image = kubectl.json("get", "pod", "web")["spec"]["containers"][0]["image"]
    assert image == "example.com/other"
    assert 'pod "web" deleted' in kubectl.run("delete", "pod", "web")
    assert "(NotFound)" in kubectl.run("get", "pod", "web", fails=True)


def test_device_bindings_are_created_applied_and_described(kubectl: Kubectl) -> None:
    assert "created" in kubectl.run("create", "-f", "-", given=BINDING)
    assert "(AlreadyExists)" in kubectl.run("create", "-f", "-", given=BINDING, fails=True)
    changed = BINDING.replace("metadata: {", "metadata: {labels: {tier: gold}, ")
    assert "configured" in kubectl.run("apply", "-f", "-", given=changed)
    described = kubectl.run("describe", "devicebindings", "web")

    assert kubectl.run("get", "devb", "-l", "tier=gold", "-o", "name").endswith("/web\n")
    assert "gpu-0" in described
    assert "deleted" in kubectl.run("delete", "devb", "--all")


def test_labels_annotations_and_the_three_patches(kubectl: Kubectl) -> None:
    kubectl.run("create", "-f", "-", given=POD)
    kubectl.run("label", "pod", "web", "tier=gold", "app-")
    kubectl.run("annotate", "pod", "web", "note=yes")
    strategic = {"spec": {"containers": [{"name": "main", "image": "example.com/s"}]}}
    kubectl.run("patch", "pod", "web", "-p", json.dumps(strategic))
    merge = {"metadata": {"labels": {"merge": "yes"}}}
    kubectl.run("patch", "pod", "web", "--type", "merge", "-p", json.dumps(merge))
    operations = [{"op": "remove", "path": "/metadata/labels/tier"}]
    kubectl.run("patch", "pod", "web", "--type", "json", "-p", json.dumps(operations))
    found = kubectl.json("get", "pod", "web")

    assert found["metadata"]["labels"] == {"merge": "yes"}
    assert found["metadata"]["annotations"]["note"] == "yes"
    assert found["spec"]["containers"][0]["image"] == "example.com/s"
    again = kubectl.run("patch", "pod", "web", "--type", "merge", "-p", json.dumps(merge))
    assert "(no change)" in again


def test_pods_and_nodes_are_described_with_their_events(kubectl: Kubectl) -> None:
    kubectl.run("create", "-f", "-", given=POD)
    uid = kubectl.json("get", "pod", "web")["metadata"]["uid"]
    event = {
        "metadata": {"name": "web.1"},
        "involvedObject": {"kind": "Pod", "name": "web", "namespace": "default", "uid": uid},
        "reason": "Scheduled",
        "message": "it was given a node",
        "type": "Normal",
    }
    kubectl.api.create("/api/v1/namespaces/default/events", event)
    kubectl.api.create("/api/v1/nodes", {"metadata": {"name": "n0"}})

    assert "it was given a node" in kubectl.run("describe", "pod", "web")
    assert "Name:               n0" in kubectl.run("describe", "node", "n0")
    assert rows(kubectl.run("get", "nodes"))[1][0] == "n0"
    assert "Scheduled" in kubectl.run("get", "events")
    kubectl.run("delete", "node", "n0")


def test_a_watch_shows_what_happens(kubectl: Kubectl) -> None:
    kubectl.run("create", "-f", "-", given=POD)
    command = kubectl.command("get", "pods", "--watch", "-o", "name")
    with subprocess.Popen(  # noqa: S603 - a program that the test is about
        command, env=kubectl.environment, stdout=subprocess.PIPE, text=True
    ) as watching:
        assert watching.stdout is not None
        assert watching.stdout.readline() == "pod/web\n"
        until(lambda: "longrunning_requests 1.0" in metrics(kubectl.api))
        kubectl.run("create", "-f", "-", given=POD.replace("name: web,", "name: other,"))
        assert watching.stdout.readline() == "pod/other\n"
        watching.terminate()


def test_it_waits_for_what_is_so(kubectl: Kubectl) -> None:
    kubectl.run("create", "-f", "-", given=POD)
    status = {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}
    headers = {"Content-Type": "application/merge-patch+json"}
    kubectl.api.ask("PATCH", "/api/v1/namespaces/default/pods/web/status", status, headers)

    waited = kubectl.run("wait", "--for=condition=Ready", "pod/web", "--timeout=30s")
    assert "condition met" in waited


def test_what_is_not_served_is_refused_with_the_reason(kubectl: Kubectl) -> None:
    kubectl.run("create", "-f", "-", given=POD)
    simulated = "is not served here: containers are simulated"

    assert f'pods "web": log {simulated}' in kubectl.run("logs", "web", fails=True)
    assert f'pods "web": log {simulated}' in kubectl.run("logs", "-f", "web", fails=True)
    assert f'pods "web": exec {simulated}' in kubectl.run("exec", "web", "--", "ls", fails=True)
    refused = kubectl.run("get", "deploy", fails=True)
    assert refused.endswith('error: the server doesn\'t have a resource type "deploy"\n')


def test_the_server_applies_and_says_which_change_it_does_not_make(kubectl: Kubectl) -> None:
    apply = ("apply", "-f", "-")
    assert "pod/web created" in kubectl.run(*apply, given=POD)
    other = POD.replace("image: example.com/image", "image: example.com/other")
    assert "serverside-applied" in kubectl.run(*apply, "--server-side", given=other)
    assert kubectl.json("get", "pod", "web")["spec"]["containers"][0]["image"].endswith("/other")
    fixed = POD.replace("spec: {", "spec: {hostname: other, ")
    refused = kubectl.run(*apply, given=fixed, fails=True)
    assert refused.endswith("changed: hostname\n")


def test_namespaces_come_and_go(kubectl: Kubectl) -> None:
    kubectl.run("create", "namespace", "lab")
    kubectl.run("create", "-n", "lab", "-f", "-", given=BINDING)

    assert "Active" in kubectl.run("get", "namespace", "lab")
    assert 'namespace "lab" deleted' in kubectl.run("delete", "namespace", "lab")


def test_it_finds_kinds_pages_and_dry_runs(kubectl: Kubectl) -> None:
    for name in ("a", "b", "c"):
        kubectl.run("create", "-f", "-", given=BINDING.replace("name: web", f"name: {name}"))
    listed = rows(kubectl.run("get", "devicebindings", "--chunk-size=1"))
    assert [each[0] for each in listed[1:]] == ["a", "b", "c"]
    resources = kubectl.run("api-resources")
    for plural in ("pods", "nodes", "namespaces", "events", "leases", "devicebindings"):
        assert f"{plural} " in resources
    tried = kubectl.run("create", "-f", "-", "--dry-run=client", given=POD)
    assert "dry run" in tried
    assert rows(kubectl.run("get", "all"))[:1] in ([], [["NAME", "READY", "STATUS"]])


def metrics(api: Api) -> str:
    return api.ask("GET", "/metrics").content.decode()


def until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.01)
