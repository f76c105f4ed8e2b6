"""Pods as the API server shows them: `v1` Pod objects with their status.

A status has what the kubelet reports (S9, S13): phase, reason and message, the state of each
container, and from 1.36 on the health of its devices.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, cast

from scenarios.files.documents import Plain
from simulator.core.devices import device_ids
from simulator.core.instants import Instant, after
from simulator.core.pods import Container, ContainerKind, PodUid
from simulator.core.resource_health import AllocatedResourcesStatus
from simulator.engine.api import FAILED, PENDING, RUNNING, SUCCEEDED, ApiPod
from simulator.engine.node import Node
from simulator.engine.runtime import ContainerProcess
from simulator.reports.documents import Json
from simulator.server.times import timestamp

IMAGE: Final = "registry.example.com/none:latest"
"""Stands where a manifest names no image: containers are simulated."""
_GRACE_SECONDS: Final = 30
"""What a pod has that names no grace period."""
_FAILED_CODE: Final = 1
_KILLED_CODE: Final = 137


class PodObjects:
    """Makes pod objects; keeps of each pod what its kubelet last said of its devices' health.

    A kubelet that is down says nothing new, so the status stays as it was (S9.4).
    """

    def __init__(self) -> None:
        self._health: dict[PodUid, AllocatedResourcesStatus] = {}

    def forget(self, pod: PodUid) -> None:
        """Let go of a pod that is gone."""
        self._health.pop(pod, None)

    def document(
        self,
        pod: ApiPod,
        node: Node | None,
        manifest: Mapping[str, Plain],
        *,
        version: int = 0,
        deleted_at: Instant | None = None,
    ) -> dict[str, Json]:
        """Return a pod.

        Args:
            pod: The pod.
            node: Where it is bound.
            manifest: What it was made from; empty for one that was made from no manifest.
            version: Its resourceVersion.
            deleted_at: When its deletion was asked for; None when it was not.
        """
        metadata = _metadata(pod, manifest, version)
        if deleted_at is not None:
            metadata["deletionTimestamp"] = timestamp(after(deleted_at, pod.spec.termination_grace))
        return {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": metadata,
            "spec": _spec(pod, manifest),
            "status": self._status(pod, node, manifest),
        }

    def _status(
        self, pod: ApiPod, node: Node | None, manifest: Mapping[str, Plain]
    ) -> dict[str, Json]:
        status: dict[str, Json] = {
            "phase": pod.status.phase,
            "conditions": _conditions(pod, node),
        }
        for key in ("reason", "message"):
            if text := getattr(pod.status, key):
                status[key] = text
        if pod.node is not None:
            status["startTime"] = timestamp(pod.pod.created)
        if node is not None:
            status["devices"] = _devices(pod, node)
        if node is not None and _has_containers(pod, node):
            sight = _Sight(pod, node, _images(manifest), self._device_health(pod, node))
            for key, containers in (
                ("initContainerStatuses", pod.pod.init_containers),
                ("containerStatuses", pod.pod.containers),
            ):
                if containers:
                    status[key] = [_container(sight, each) for each in containers]
        return status

    def _device_health(self, pod: ApiPod, node: Node) -> AllocatedResourcesStatus:
        """Return what the pod's kubelet last said; regular containers only (S9.3)."""
        kubelet = node.kubelet
        if not node.behavior.resource_health_in_status:
            return {}
        if kubelet is not None and kubelet.serving:
            self._health[pod.uid] = kubelet.manager.resource_health(pod.pod)
        return self._health.get(pod.uid, {})


def _devices(pod: ApiPod, node: Node) -> dict[str, Json]:
    """Return the ids that the node's kubelet has on record for a pod, by resource.

    No part of the API, where only PodResources says so; nothing while the kubelet is down.
    """
    kubelet = node.kubelet
    ids: dict[str, set[str]] = {}
    if kubelet is not None and kubelet.serving:
        for binding in kubelet.manager.bindings_of(pod.uid):
            ids.setdefault(binding.resource, set()).update(device_ids(binding.devices))
    return {resource: sorted(of_resource) for resource, of_resource in sorted(ids.items())}


@dataclass(frozen=True, slots=True)
class _Sight:
    """What the statuses of one pod's containers are put together from."""

    pod: ApiPod
    node: Node
    images: Mapping[str, str]
    health: AllocatedResourcesStatus


def _metadata(pod: ApiPod, manifest: Mapping[str, Plain], version: int) -> dict[str, Json]:
    given = manifest.get("metadata")
    metadata: dict[str, Json] = {
        "name": pod.pod.name,
        "namespace": pod.pod.namespace,
        "uid": pod.uid,
        "resourceVersion": str(version),
        "creationTimestamp": timestamp(pod.pod.created),
    }
    if isinstance(given, dict):
        for key in ("labels", "annotations"):
            if given.get(key):
                metadata[key] = cast("Json", given[key])
    return metadata


def _spec(pod: ApiPod, manifest: Mapping[str, Plain]) -> dict[str, Json]:
    given = manifest.get("spec")
    if isinstance(given, dict):
        spec = dict(cast("dict[str, Json]", given))
    else:
        spec = {
            "containers": [_container_spec(each) for each in pod.pod.containers],
        }
        if pod.pod.init_containers:
            spec["initContainers"] = [_container_spec(each) for each in pod.pod.init_containers]
    spec.setdefault("restartPolicy", pod.spec.restart_policy)
    spec.setdefault("terminationGracePeriodSeconds", _GRACE_SECONDS)
    if pod.node is not None:
        spec["nodeName"] = pod.node
    return spec


def _container_spec(container: Container) -> dict[str, Json]:
    limits: dict[str, Json] = {name: str(count) for name, count in container.limits}
    spec: dict[str, Json] = {"name": container.name, "image": IMAGE}
    if limits:
        spec["resources"] = {"limits": limits, "requests": limits}
    if container.kind is ContainerKind.SIDECAR:
        spec["restartPolicy"] = "Always"
    return spec


def _images(manifest: Mapping[str, Plain]) -> dict[str, str]:
    spec = manifest.get("spec")
    images: dict[str, str] = {}
    for key in ("initContainers", "containers"):
        containers = spec.get(key) if isinstance(spec, dict) else None
        for container in containers if isinstance(containers, list) else ():
            if isinstance(container, dict) and container.get("image"):
                images[str(container.get("name"))] = str(container["image"])
    return images


def _conditions(pod: ApiPod, node: Node | None) -> list[Json]:
    scheduled: dict[str, Json] = {"type": "PodScheduled", "status": "True"}
    if pod.node is None:
        scheduled["status"] = "False"
        if pod.unschedulable:
            scheduled |= {"reason": "Unschedulable", "message": "no node has room for it"}
    ready = node is not None and pod.status.phase == RUNNING and _all_run(pod, node)
    return [scheduled, {"type": "Ready", "status": "True" if ready else "False"}]


def _has_containers(pod: ApiPod, node: Node) -> bool:
    """Tell whether the node has begun with a pod; a refused one has no statuses (S13.1)."""
    runtime = node.runtime
    listed = (runtime.current(pod.uid, each.name) for each in pod.pod.all_containers())
    return runtime.has_sandbox(pod.uid) or any(each is not None for each in listed)


def _all_run(pod: ApiPod, node: Node) -> bool:
    newest = [node.runtime.current(pod.uid, each.name) for each in pod.pod.containers]
    return all(process is not None and process.running for process in newest)


def _container(sight: _Sight, container: Container) -> dict[str, Json]:
    instances = sight.node.runtime.instances(sight.pod.uid, container.name)
    newest = instances[0] if instances else None
    running = newest is not None and newest.running
    done = newest is not None and not newest.running and newest.succeeded
    status: dict[str, Json] = {
        "name": container.name,
        "image": sight.images.get(container.name, IMAGE),
        "ready": running or (container.kind is ContainerKind.INIT and done),
        "started": running,
        "restartCount": newest.restarts if newest is not None else 0,
        "state": _state(newest, sight.pod, sight.pod.status.waiting),
    }
    if newest is not None:
        status["containerID"] = f"rebind://{newest.container_id}"
    if len(instances) > 1:
        status["lastState"] = _state(instances[1], sight.pod, "")
    if container.name in sight.health:
        status["allocatedResourcesStatus"] = [
            {
                "name": resource.name,
                "resources": [
                    {"resourceID": device, "health": state} for device, state in resource.resources
                ],
            }
            for resource in sight.health[container.name]
        ]
    return status


def _state(process: ContainerProcess | None, pod: ApiPod, waiting: str) -> dict[str, Json]:
    """Return a container's state; one that waits says why, if that is known."""
    if process is not None and process.running:
        started: dict[str, Json] = {}
        if process.started is not None:
            started["startedAt"] = timestamp(process.started)
        return {"running": started}
    if process is not None and (not waiting or pod.status.phase in {SUCCEEDED, FAILED}):
        code = 0 if process.succeeded else _KILLED_CODE if pod.deleting else _FAILED_CODE
        ended: dict[str, Json] = {
            "exitCode": code,
            "reason": "Completed" if process.succeeded else "Error",
        }
        for key, at in (("startedAt", process.started), ("finishedAt", process.ended)):
            if at is not None:
                ended[key] = timestamp(at)
        return {"terminated": ended}
    reason, _, message = waiting.partition(": ")
    told: dict[str, Json] = {"reason": reason or _waiting_reason(pod)}
    if message:
        told["message"] = message
    return {"waiting": told}


def _waiting_reason(pod: ApiPod) -> str:
    return "ContainerCreating" if pod.status.phase in {PENDING, RUNNING} else "PodInitializing"
