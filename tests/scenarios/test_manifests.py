"""Plain Kubernetes manifests (conventions 1.4), with the API server's wording of faults."""

from __future__ import annotations

import pytest

from scenarios.files.documents import read_documents
from scenarios.kubernetes.manifests import ManifestPod, read_manifest
from simulator.core.instants import SECOND
from simulator.core.pods import ContainerKind
from simulator.engine.spec import Controller
from simulator.errors import ManifestError

POD = """\
apiVersion: v1
kind: Pod
metadata: {name: trainer, labels: {app: x}, annotations: {any.example.com/key: value}}
spec:
  nodeName: node-a
  restartPolicy: OnFailure
  terminationGracePeriodSeconds: 5
  initContainers:
  - {name: fetch, resources: {limits: {example.com/gpu: "1"}}}
  - {name: proxy, restartPolicy: Always, image: example.com/proxy}
  containers:
  - name: main
    image: example.com/trainer:1
    livenessProbe: {exec: {command: [anything, goes: here]}}
    resources:
      limits: {cpu: 500m, memory: 64Gi, example.com/gpu: 2, hugepages-2Mi: 4Mi}
      requests: {cpu: 250m, example.com/gpu: 2}
  volumes:
  - {name: any, emptyDir: {medium: Memory}}
"""


def read(text: str) -> list[ManifestPod]:
    [document] = read_documents(text.encode(), "pod.yaml", error=ManifestError)
    return read_manifest(document)


def error(text: str) -> str:
    with pytest.raises(ManifestError) as caught:
        read(text)
    return str(caught.value)


def test_a_pod_is_read_with_all_that_the_device_manager_looks_at() -> None:
    [found] = read(POD)

    containers = [
        (container.name, container.kind, dict(container.limits))
        for container in found.pod.all_containers()
    ]
    assert containers == [
        ("fetch", ContainerKind.INIT, {"example.com/gpu": 1}),
        ("proxy", ContainerKind.SIDECAR, {}),
        ("main", ContainerKind.REGULAR, {"example.com/gpu": 2}),
    ]
    assert (found.pod.name, found.pod.namespace, found.node) == ("trainer", "default", "node-a")
    assert (found.restart_policy, found.termination_grace) == ("OnFailure", 5 * SECOND)
    assert found.controller is Controller.NONE


@pytest.mark.parametrize(
    ("kind", "key", "controller", "names"),
    [
        (("apps/v1", "Deployment"), "replicas: 2", Controller.REPLICA_SET, ["web-0", "web-1"]),
        (("apps/v1", "ReplicaSet"), "paused: false", Controller.REPLICA_SET, ["web"]),
        (("batch/v1", "Job"), "parallelism: 2", Controller.JOB, ["web-0", "web-1"]),
    ],
)
def test_a_template_makes_the_pods_of_its_replicas(
    kind: tuple[str, str], key: str, controller: Controller, names: list[str]
) -> None:
    version, name = kind
    found = read(
        f"apiVersion: {version}\nkind: {name}\nmetadata: {{name: web}}\nspec:\n  {key}\n"
        "  template: {metadata: {labels: {a: b}}, spec: {containers: [{name: main}]}}\n"
    )

    assert [pod.pod.name for pod in found] == names
    assert {pod.controller for pod in found} == {controller}
    assert found[0].restart_policy == ("Never" if name == "Job" else "Always")


def test_a_list_is_read_item_by_item() -> None:
    item = "{apiVersion: v1, kind: Pod, metadata: {name: %s}, spec: {containers: [{name: c}]}}"
    found = read(f"{{apiVersion: v1, kind: List, items: [{item % 'a'}, {item % 'b'}]}}")

    assert [pod.pod.name for pod in found] == ["a", "b"]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            "example.com/gpu: 2, huge",
            "example.com/gpu: 0.5, huge",
            (
                "pod.yaml:16:58: spec.containers[0].resources.limits[example.com/gpu]: "
                'Invalid value: "500m": must be an integer'
            ),
        ),
        (
            "example.com/gpu: 2}\n",
            "example.com/gpu: 1}\n",
            (
                "pod.yaml:17:46: spec.containers[0].resources.requests: "
                'Invalid value: "1": must be equal to example.com/gpu limit of 2'
            ),
        ),
        (
            "example.com/gpu: 2, huge",
            "huge",
            (
                "pod.yaml:17:46: spec.containers[0].resources.limits: Required value: "
                "Limit must be set for non overcommitable resources"
            ),
        ),
        (
            "example.com/gpu: 2, huge",
            "example.com/gpu: -2, huge",
            (
                "pod.yaml:16:58: spec.containers[0].resources.limits[example.com/gpu]: "
                'Invalid value: "-2": must be greater than or equal to 0'
            ),
        ),
        (
            "cpu: 500m",
            "cpu: half",
            (
                "pod.yaml:16:21: spec.containers[0].resources.limits[cpu]: "
                'Invalid value: "half": quantities must match the regular expression '
                "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
            ),
        ),
        (
            "example.com/gpu: 2, huge",
            "Example.com/gpu: 2, huge",
            (
                "pod.yaml:16:41: spec.containers[0].resources.limits[Example.com/gpu]: "
                'Invalid value: "Example.com/gpu": must be an extended resource name'
            ),
        ),
        (
            "      limits:",
            "      limit:",
            (
                'pod.yaml:16:7: unknown key "limit"; did you mean "limits"? '
                "Allowed: claims, limits, requests"
            ),
        ),
        (
            "  - name: main",
            "  - name: fetch",
            'pod.yaml:5:3: spec.containers: Duplicate value: "fetch"',
        ),
        (
            "name: trainer,",
            "name: Trainer,",
            'pod.yaml:3:18: metadata.name: Invalid value: "Trainer": must be a DNS-1123 name',
        ),
        (
            "kind: Pod",
            "kind: Node",
            (
                "pod.yaml:2:7: v1 Node is not a manifest with pods; allowed: v1 Pod, "
                "apps/v1 Deployment, apps/v1 ReplicaSet, batch/v1 Job, v1 List"
            ),
        ),
        (
            "OnFailure",
            "onFailure",
            (
                'pod.yaml:6:18: spec.restartPolicy: "onFailure" is not allowed; '
                'did you mean "OnFailure"? Allowed: Always, OnFailure, Never'
            ),
        ),
        (
            "Seconds: 5",
            "Seconds: soon",
            (
                "pod.yaml:7:34: spec.terminationGracePeriodSeconds wants a whole number "
                'from 0 to 86400, found "soon"'
            ),
        ),
    ],
)
def test_what_the_api_server_refuses_is_refused_in_its_words(
    old: str, new: str, expected: str
) -> None:
    assert POD.count(old) == 1

    assert error(POD.replace(old, new)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("7", "pod.yaml:1:1: the document wants a map, found the number 7"),
        ("{kind: Pod}", 'pod.yaml:1:1: the key "apiVersion" is missing'),
        (
            "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {}}",
            "pod.yaml:1:56: spec.containers: Required value",
        ),
        (
            "{apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: List, items: []}]}",
            (
                "pod.yaml:1:61: v1 List is not a manifest with pods; allowed: v1 Pod, "
                "apps/v1 Deployment, apps/v1 ReplicaSet, batch/v1 Job, v1 List"
            ),
        ),
        (
            "{apiVersion: v1, kind: List, items: {}}",
            "pod.yaml:1:37: items wants a list, found a map",
        ),
    ],
)
def test_what_is_no_manifest_is_refused(text: str, expected: str) -> None:
    assert error(text) == expected
