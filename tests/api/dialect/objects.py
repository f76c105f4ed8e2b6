"""Objects that the tests of the dialect write."""

from __future__ import annotations

from simulator.api.dialect.documents import Json, Object
from simulator.api.dialect.kinds import DEVICE_BINDINGS, PODS, Kind
from simulator.api.dialect.routes import Route
from simulator.api.dialect.writing import Fresh, created
from simulator.core.instants import SECOND, Instant

NOW = Instant(1_700_000_000 * SECOND)
"""2023-11-14T22:13:20Z."""
FRESH = Fresh(NOW, uid="11111111-2222-3333-4444-555555555555", suffix="x7k2q")
GPU = "example.com/gpu"
POD = Route(PODS, "default", "trainer")
BINDING = Route(DEVICE_BINDINGS, "default", "trainer")


def pod_body(name: str = "trainer", gpus: int = 2, spec: Object | None = None) -> Object:
    """Return a pod as a user sends it."""
    container: Object = {"name": "main", "image": "registry.example.com/train:1"}
    if gpus:
        container["resources"] = {"limits": {GPU: gpus}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": {"containers": [container], **(spec or {})},
    }


def stored(kind: Kind, body: Object, *, revision: int = 7, namespace: str = "default") -> Object:
    """Return an object as the store has it after it was created."""
    route = Route(kind, namespace if kind.namespaced else "")
    made = created(route, body, FRESH).object
    metadata = made["metadata"]
    assert isinstance(metadata, dict)
    metadata["resourceVersion"] = str(revision)
    return made


def stored_pod(gpus: int = 2, spec: Object | None = None) -> Object:
    """Return a pod as the store has it."""
    return stored(PODS, pod_body(gpus=gpus, spec=spec))


def binding_body(**spec: Json) -> Object:
    """Return a DeviceBinding as a kubelet sends it (details 27)."""
    return {
        "apiVersion": "rebind.internal/v1alpha1",
        "kind": "DeviceBinding",
        "metadata": {"name": "trainer"},
        "spec": {
            "podUID": FRESH.uid,
            "nodeName": "node-1",
            "containers": [
                {
                    "name": "main",
                    "devices": [
                        {"resourceName": GPU, "deviceIDs": ["gpu-0", "gpu-1"], "numaNodes": [0]}
                    ],
                }
            ],
            **spec,
        },
    }
