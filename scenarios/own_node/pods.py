"""Pods of a running node as a scenario writes them: what the device manager looks at, no more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Final

from scenarios.files.documents import Plain
from scenarios.kubernetes.node_pods import NodePod
from simulator.core.pods import Container, ContainerKind, PodUid
from simulator.engine.spec import ContainerStart, ContainerState

_NAME_MAX: Final = 253
"""Longest name of a pod in a scenario."""


def wants_devices(pod: NodePod) -> bool:
    """Tell whether a pod asks for extended resources."""
    return any(container.limits for container in pod.manifest.pod.all_containers())


def pod_names(pods: Sequence[NodePod]) -> dict[PodUid, str]:
    """Return a name for each pod; with the namespace where the name alone is not unique.

    One that is too long then, or still not unique, ends in a number: of two pods of one name, one
    is from an earlier look at the node.
    """
    count = Counter(pod.manifest.pod.name for pod in pods)
    taken = {name for name, times in count.items() if times == 1}
    names: dict[PodUid, str] = {}
    for pod in pods:
        own = pod.manifest.pod
        name = own.name
        if count[name] > 1:
            name = _free(f"{own.namespace}.{name}", taken)
            taken.add(name)
        names[pod.uid] = name
    return names


def _free(name: str, taken: AbstractSet[str]) -> str:
    """Return a name that is free: this one, or its beginning with a number."""
    free, number = name, 1
    while len(free) > _NAME_MAX or free in taken:
        number += 1
        ending = f"-{number}"
        free = name[: _NAME_MAX - len(ending)].rstrip("-.") + ending
    return free


def known_pod(pod: NodePod, name: str) -> Plain:
    """Return the entry of a pod in a scenario's node, by the name that the scenario gives it."""
    own = pod.manifest.pod
    spec: dict[str, Plain] = {}
    if pod.manifest.restart_policy != "Always":
        spec["restartPolicy"] = pod.manifest.restart_policy
    if own.init_containers:
        spec["initContainers"] = [_container(one) for one in own.init_containers]
    spec["containers"] = [_container(one) for one in own.containers]
    return {
        "name": name,
        "uid": pod.uid,
        "manifest": {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": own.name, "namespace": own.namespace},
            "spec": spec,
            "status": _status(pod),
        },
    }


def _container(container: Container) -> Plain:
    written: dict[str, Plain] = {"name": container.name}
    if container.kind is ContainerKind.SIDECAR:
        written["restartPolicy"] = "Always"
    if container.limits:
        limits: dict[str, Plain] = dict(container.limits)
        written["resources"] = {"limits": limits}
    return written


def _status(pod: NodePod) -> Plain:
    start, own = pod.start, pod.manifest.pod
    status: dict[str, Plain] = {"phase": start.phase}
    if start.reason:
        status["reason"] = start.reason
    if start.message:
        status["message"] = start.message
    for key, containers in (
        ("initContainerStatuses", own.init_containers),
        ("containerStatuses", own.containers),
    ):
        stated: list[Plain] = [
            _container_status(container, start.containers[container.name])
            for container in containers
            if container.name in start.containers
        ]
        if stated:
            status[key] = stated
    return status


def _container_status(container: Container, start: ContainerStart) -> Plain:
    states: dict[ContainerState, dict[str, Plain]] = {
        ContainerState.RUNNING: {"running": {}},
        ContainerState.WAITING: {"waiting": {}},
        ContainerState.SUCCEEDED: {"terminated": {"exitCode": 0}},
        ContainerState.FAILED: {"terminated": {"exitCode": 1}},
    }
    return {
        "name": container.name,
        "restartCount": start.restarts,
        "state": states[start.state],
    }
