"""What `describe` shows: an object with its events, and what its containers were started with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from scenarios.files.documents import Plain
from simulator.core.pods import Container, ContainerKind
from simulator.core.run_options import Conflict, DeviceRunContainerOptions
from simulator.core.transitions import NodeName
from simulator.engine.api_objects import ApiPod
from simulator.engine.node import Node
from simulator.engine.runtime import ContainerProcess
from simulator.reports.documents import Json
from simulator.server.event_log import LoggedEvent
from simulator.server.node_objects import resource_lines


def describe_pod(
    pod: ApiPod,
    node: Node | None,
    document: dict[str, Json],
    manifest: Mapping[str, Plain],
    events: Sequence[LoggedEvent],
) -> dict[str, Json]:
    """Return a pod, its containers with their merged run options (S10), and its events."""
    return {
        "kind": "PodDescription",
        "pod": document,
        "containers": [_container(pod, node, each, manifest) for each in pod.pod.all_containers()],
        "events": [
            event.document()
            for event in events
            if event.pod is not None and event.pod.uid == pod.uid
        ],
    }


def describe_node(  # noqa: PLR0913 - all that is shown
    node: Node,
    document: dict[str, Json],
    pods: Sequence[ApiPod],
    events: Sequence[LoggedEvent],
    paths: Mapping[str, str],
    *,
    retired: Sequence[Mapping[str, Json]] = (),
) -> dict[str, Json]:
    """Return a node, its resources, those that are retired, its pods and its events."""
    name: NodeName = node.name
    return {
        "kind": "NodeDescription",
        "node": document,
        "paths": dict(paths),
        "resources": [dict(line) for line in (*resource_lines(node), *retired)],
        "pods": [
            {
                "namespace": pod.pod.namespace,
                "name": pod.pod.name,
                "phase": pod.status.phase,
                "requests": dict(sorted(pod.request.items())),
            }
            for pod in pods
            if pod.node == name
        ],
        "events": [
            event.document() for event in events if event.pod is None and event.node == name
        ],
    }


def _container(
    pod: ApiPod, node: Node | None, container: Container, manifest: Mapping[str, Plain]
) -> dict[str, Json]:
    process = None if node is None else node.runtime.current(pod.uid, container.name)
    described: dict[str, Json] = {
        "name": container.name,
        "kind": container.kind.value,
        "limits": dict(container.limits),
        "devices": {resource: list(ids) for resource, ids in process.devices} if process else {},
        "containerID": process.container_id if process else "",
        "startedWith": _started_with(process, _own(manifest, container)),
    }
    if process is not None and process.given is not None:
        described["conflicts"] = [_conflict(each) for each in process.given.conflicts]
    return described


def _started_with(
    process: ContainerProcess | None, own: Mapping[str, Plain]
) -> dict[str, Json] | None:
    """Return what the runtime was given: the plugins' settings, then the pod's own (S10.8)."""
    if process is None:
        return None
    given = process.given.options if process.given is not None else None
    options = given or DeviceRunContainerOptions({}, (), (), {}, ())
    envs: list[Json] = [
        {"name": name, "value": value, "from": "plugin"} for name, value in options.envs.items()
    ]
    envs += [
        {"name": str(each.get("name")), "value": _value(each), "from": "pod"}
        for each in _items(own, "env")
    ]
    mounts: list[Json] = [
        {
            "containerPath": mount.container_path,
            "hostPath": mount.host_path,
            "readOnly": mount.read_only,
            "from": "plugin",
        }
        for mount in options.mounts
    ]
    mounts += [
        {
            "containerPath": str(each.get("mountPath")),
            "hostPath": f"volume {each.get('name')}",
            "readOnly": bool(each.get("readOnly")),
            "from": "pod",
        }
        for each in _items(own, "volumeMounts")
    ]
    return {
        "envs": envs,
        "mounts": mounts,
        "devices": [
            {
                "containerPath": device.container_path,
                "hostPath": device.host_path,
                "permissions": device.permissions,
            }
            for device in options.devices
        ],
        "annotations": dict(options.annotations),
        "cdiDevices": list(options.cdi_devices),
    }


def _value(env: Mapping[str, Json]) -> str:
    return "<set by its source>" if "valueFrom" in env else str(env.get("value") or "")


def _own(manifest: Mapping[str, Plain], container: Container) -> Mapping[str, Plain]:
    """Return what the manifest says of a container."""
    spec = manifest.get("spec")
    regular = container.kind is ContainerKind.REGULAR
    listed = (
        spec.get("containers" if regular else "initContainers") if isinstance(spec, dict) else ()
    )
    for each in listed if isinstance(listed, list) else ():
        if isinstance(each, dict) and each.get("name") == container.name:
            return each
    return {}


def _items(own: Mapping[str, Plain], key: str) -> list[dict[str, Json]]:
    listed = own.get(key)
    items = listed if isinstance(listed, list) else []
    return [cast("dict[str, Json]", each) for each in items if isinstance(each, dict)]


def _conflict(conflict: Conflict) -> Json:
    return {
        "message": conflict.setting.value,
        "key": conflict.key,
        "kept": conflict.kept,
        "dropped": conflict.dropped,
        "resourceName": conflict.resource,
    }
