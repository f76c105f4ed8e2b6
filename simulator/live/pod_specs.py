"""Containers of a pod's spec as the API has them, written from what a node makes of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from simulator.api.dialect.documents import Json, Object
from simulator.core.pods import Container, ContainerKind, Pod
from simulator.core.resource_requests import LIMITS, REQUESTS

IMAGE: Final = "registry.example.com/none:latest"
"""Stands where a manifest names no image: containers are simulated."""


def containers_spec(pod: Pod) -> Object:
    """Return `containers` and `initContainers`; those without init containers have no such key."""
    spec: Object = {"containers": _listed(pod.containers)}
    if pod.init_containers:
        spec["initContainers"] = _listed(pod.init_containers)
    return spec


def _listed(containers: Iterable[Container]) -> list[Json]:
    return [_container(each) for each in containers]


def _container(container: Container) -> Object:
    document: Object = {"name": container.name, "image": IMAGE}
    if container.limits:
        limits: Object = {name: str(count) for name, count in container.limits}
        document["resources"] = {LIMITS: limits, REQUESTS: dict(limits)}
    if container.kind is ContainerKind.SIDECAR:
        document["restartPolicy"] = "Always"
    return document
