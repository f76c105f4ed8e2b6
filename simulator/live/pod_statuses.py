"""Pod statuses as the API has them: written as a kubelet does, and read back.

A status has what the kubelet reports (S9, S13): phase, reason and message, the state of each
container, and from 1.36 on the health of its devices. One home for what `rebind get` shows and what
a node tells a real API server.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from simulator.api.dialect.documents import Json, Object, items, mapping, text, timestamp, whole
from simulator.core.devices import NO_NUMA_NODE, DeviceId, device_ids
from simulator.core.pods import Container, ContainerKind, ContainerName, PodUid
from simulator.core.resource_health import AllocatedResourcesStatus
from simulator.core.resources import ResourceName
from simulator.core.transitions import DeviceBinding
from simulator.engine.api_objects import FAILED, PENDING, RUNNING, SUCCEEDED, ApiPod, PodStatus
from simulator.engine.node import Node
from simulator.engine.runtime import ContainerProcess
from simulator.live.pod_specs import IMAGE

_FAILED_CODE: Final = 1
_KILLED_CODE: Final = 137
_CREATING: Final = "ContainerCreating"
_INITIALIZING: Final = "PodInitializing"
_UNKNOWN_HEALTH: Final = "Unknown"
_REASON: Final = re.compile(r"[A-Z][A-Za-z]*")
_STATUSES: Final = ("initContainerStatuses", "containerStatuses")


@dataclass(frozen=True, slots=True)
class PodSight:
    """What a pod's status is put together from.

    Attributes:
        pod: The pod.
        status: What its kubelet says.
        node: Where it is bound; None when that node is not known here.
        images: By container, where the manifest names one.
        health: Of its devices.
        devices: The bindings that ride in the status (persistence `pod-status`).
    """

    pod: ApiPod
    status: PodStatus
    node: Node | None = None
    images: Mapping[str, str] = field(default_factory=dict)
    health: AllocatedResourcesStatus = field(default_factory=dict)
    devices: Sequence[DeviceBinding] = ()


def pod_status(sight: PodSight) -> Object:
    """Return the `status` of a pod."""
    pod, said = sight.pod, sight.status
    status: Object = {"phase": said.phase, "conditions": _conditions(sight)}
    if said.reason:
        status["reason"] = said.reason
    if said.message:
        status["message"] = said.message
    if pod.node is not None:
        status["startTime"] = timestamp(pod.pod.created)
    if sight.node is not None and (said.taken_up or _has_containers(pod, sight.node)):
        runtime = sight.node.runtime
        listed = (pod.pod.init_containers, pod.pod.containers)
        for key, containers in zip(_STATUSES, listed, strict=True):
            if containers:
                status[key] = [
                    _container(sight, each, runtime.instances(pod.uid, each.name))
                    for each in containers
                ]
    return status


def _conditions(sight: PodSight) -> list[Json]:
    pod, node = sight.pod, sight.node
    scheduled: Object = {"type": "PodScheduled", "status": "True"}
    if pod.node is None:
        scheduled["status"] = "False"
        if pod.unschedulable:
            scheduled |= {"reason": "Unschedulable", "message": "no node has room for it"}
    ready = node is not None and sight.status.phase == RUNNING and _all_run(pod, node)
    return [scheduled, {"type": "Ready", "status": "True" if ready else "False"}]


def _has_containers(pod: ApiPod, node: Node) -> bool:
    """Tell whether the node has begun with a pod; a refused one has no statuses (S13.1)."""
    runtime = node.runtime
    listed = (runtime.current(pod.uid, each.name) for each in pod.pod.all_containers())
    return runtime.has_sandbox(pod.uid) or any(each is not None for each in listed)


def _all_run(pod: ApiPod, node: Node) -> bool:
    newest = [node.runtime.current(pod.uid, each.name) for each in pod.pod.containers]
    return all(process is not None and process.running for process in newest)


def _container(
    sight: PodSight, container: Container, instances: Sequence[ContainerProcess]
) -> Object:
    newest = instances[0] if instances else None
    running = newest is not None and newest.running
    done = newest is not None and not newest.running and newest.succeeded
    status: Object = {
        "name": container.name,
        "image": sight.images.get(container.name, IMAGE),
        "imageID": "",
        "ready": running or (container.kind is ContainerKind.INIT and done),
        "started": running,
        "restartCount": newest.restarts if newest is not None else 0,
        "state": _state(newest, sight),
    }
    if newest is not None:
        status["containerID"] = f"rebind://{newest.container_id}"
    if len(instances) > 1:
        status["lastState"] = _state(instances[1], sight, is_last=True)
    devices = _device_statuses(sight, container.name)
    if devices:
        status["allocatedResourcesStatus"] = devices
    return status


def _device_statuses(sight: PodSight, container: ContainerName) -> list[Json]:
    """Return the devices of a container with their health, as far as it is told (S9.3)."""
    told = {
        each.name: dict[DeviceId, str](each.resources) for each in sight.health.get(container, ())
    }
    for binding in sight.devices:
        if binding.container == container:
            shown = told.setdefault(binding.resource, {})
            for device in device_ids(binding.devices):
                shown.setdefault(device, _UNKNOWN_HEALTH)
    return [
        {
            "name": resource,
            "resources": [{"resourceID": device, "health": state} for device, state in of.items()],
        }
        for resource, of in told.items()
    ]


def _state(process: ContainerProcess | None, sight: PodSight, *, is_last: bool = False) -> Object:
    """Return a container's state; one that waits says why, if that is known."""
    status = sight.status
    waiting = "" if is_last else status.waiting
    if process is not None and process.running:
        started: Object = {}
        if process.started is not None:
            started["startedAt"] = timestamp(process.started)
        return {"running": started}
    if process is not None and (not waiting or status.phase in {SUCCEEDED, FAILED}):
        code = 0 if process.succeeded else _KILLED_CODE if sight.pod.deleting else _FAILED_CODE
        ended: Object = {
            "exitCode": code,
            "reason": "Completed" if process.succeeded else "Error",
        }
        for key, at in (("startedAt", process.started), ("finishedAt", process.ended)):
            if at is not None:
                ended[key] = timestamp(at)
        return {"terminated": ended}
    return {"waiting": _told(waiting, status.phase)}


def _told(waiting: str, phase: str) -> Object:
    """Return why a container waits: a reason is one word, and what is none is the message."""
    reason, _, message = waiting.partition(": ")
    if waiting and not _REASON.fullmatch(reason):
        reason, message = "", waiting
    told: Object = {"reason": reason or _usual_reason(phase)}
    if message:
        told["message"] = message
    return told


def _usual_reason(phase: str) -> str:
    return _CREATING if phase in {PENDING, RUNNING} else _INITIALIZING


# Reading


def read_status(pod: Object) -> PodStatus:
    """Return what a pod's status says, as far as a kubelet of Rebind says it."""
    status = mapping(pod, "status")
    containers = [one for key in _STATUSES for one in items(status, key)]
    return PodStatus(
        phase=text(status, "phase") or PENDING,
        reason=text(status, "reason"),
        message=text(status, "message"),
        waiting=next(_waits(containers), ""),
        restarts=sum(whole(one, "restartCount") or 0 for one in containers),
        taken_up=bool(containers),
    )


def _waits(containers: Sequence[Object]) -> Iterator[str]:
    for container in containers:
        waiting = mapping(container, "state", "waiting")
        reason, message = text(waiting, "reason"), text(waiting, "message")
        if reason in {"", _CREATING, _INITIALIZING}:
            reason = ""
        told = ": ".join(part for part in (reason, message) if part)
        if told:
            yield told


def read_status_devices(uid: PodUid, pod: Object) -> tuple[DeviceBinding, ...]:
    """Return the devices that a pod's status names; it says nothing of NUMA nodes."""
    return tuple(
        DeviceBinding(
            uid,
            ContainerName(text(container, "name")),
            ResourceName(text(resource, "name")),
            {
                NO_NUMA_NODE: tuple(
                    DeviceId(text(one, "resourceID")) for one in items(resource, "resources")
                )
            },
            None,
        )
        for key in _STATUSES
        for container in items(pod, "status", key)
        for resource in items(container, "allocatedResourcesStatus")
    )
