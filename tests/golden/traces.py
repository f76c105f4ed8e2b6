"""Traces: a node's life step by step, replayed on the device manager."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from simulator.core.behavior import DisconnectMatch
from simulator.core.endpoints import PluginOptions
from simulator.core.instants import SECOND, Duration, after
from simulator.core.node_resources import listed_files, resets_extended_resources
from simulator.core.panics import KubeletPanic
from simulator.core.pods import ContainerName, Pod, PodUid
from simulator.core.refusals import Refusal
from simulator.core.resources import ResourceName
from simulator.core.switches import behavior_for
from tests.golden import trace_state as describe
from tests.golden.comparing import FOR_THE_READER, compare
from tests.golden.results import TraceResult
from tests.golden.trace_node import TraceNode
from tests.golden.trace_reading import Json, devices_of, instances_of, pod_of, read_steps

_REGISTRATION_SOCKET = "kubelet.sock"
_CHECKPOINT = "kubelet_internal_checkpoint"
_STOPPED = "stopped_endpoint_resource"
_PANICS = {
    "S3.14": "runtime error: invalid memory address or nil pointer dereference",
    "S3.17": "assignment to entry in nil map",
    "S7.7": "runtime error: invalid memory address or nil pointer dereference",
}
"""What Go says where the kubelet crashes, by rule."""
_CHECKED_IN_STEP = frozenset(
    {
        *("step", "op", "in", "out", "hints", "affinity", "health_updates", "state"),
        *("choices", "plugin_calls", "running_checks", "random_outcome"),
    }
)
_RECORDS_AFFINITY = ("admit", "allocate")
_NOT_ALWAYS_RECORDED = ("container_devices", _STOPPED)


def check_trace(path: Path, version: str) -> TraceResult:
    """Replay a trace and compare every step.

    Args:
        path: A `.jsonl` file: a header line, then one line for each step.
        version: The kubelet version that was recorded.
    """
    header, steps = read_steps(path)
    node = TraceNode(header, behavior_for(version))
    differences: list[str] = []
    if header.get("steps", len(steps)) != len(steps):
        differences.append(f"header: steps {header['steps']}, here {len(steps)}")
    for number, step in enumerate(steps):
        if step["step"] != number:
            differences.append(f"step {step['step']} stands in the place of step {number}")
        node.begin(step)
        found = _replay(node, step)
        differences += [
            f"step {step['step']} {step['op']}: {line}"
            for line in [*compare(_recorded(step), found), *node.differences, *_unchecked(step)]
        ]
    return TraceResult(len(steps), tuple(differences))


def _recorded(step: Json) -> Json:
    """Return what is compared of a recorded step."""
    return {
        "out": step["out"],
        "hints": step.get("hints", {}),
        "affinity": step.get("affinity", {}),
        "health_updates": [sorted(pods) for pods in step.get("health_updates", ())],
        "state": step["state"],
    }


def _unchecked(step: Json) -> Iterator[str]:
    """Name what is recorded of a step and nothing compares; a random outcome is its checks'."""
    checks = step.get("running_checks", ())
    if step.get("random_outcome", False) != any(each["random_outcome"] for each in checks):
        yield f"random_outcome: recorded {step.get('random_outcome')}, here {checks}"
    for key in step:
        if key not in _CHECKED_IN_STEP | FOR_THE_READER:
            yield f"{key}: recorded, but not checked"


def _without(recorded: Json, *keys: str) -> Json:
    return {key: value for key, value in recorded.items() if key not in keys}


def _replay(node: TraceNode, step: Json) -> Json:
    """Perform a step and describe what came of it."""
    out = _outcome(node, step)
    records = node.end()
    return {
        "out": out,
        "hints": describe.merged_hints(records),
        "affinity": {
            container: describe.hint(node.manager.affinity(pod, container))
            for pod, container in node.choices.allocated
            if step["op"] in _RECORDS_AFFINITY
        },
        "health_updates": describe.health_updates(records),
        "state": {
            **describe.state(node.manager.snapshot()),
            **describe.checkpoint(node.file, node.behavior.checkpoints_read),
            "checkpoint_writes_in_step": node.writes,
            "active_pods": list(node.facts.active_pods),
            "sources_ready": node.facts.sources_ready,
        },
    }


def _outcome(node: TraceNode, step: Json) -> Json:
    """Perform a step; one whose function the version does not have has no effect."""
    if step["out"].get("not_available"):
        return {"not_available": True}
    try:
        out = _OPERATIONS[step["op"]](node, step["in"])
    except KubeletPanic as panic:
        return {"panic": _PANICS[panic.record.rule]}
    return _without(out, *(key for key in _NOT_ALWAYS_RECORDED if key not in step["out"]))


def _said(text: str) -> Json:
    """Return the resource of the stopped endpoint that an error is about, if it is about one."""
    resource = describe.stopped_resource(text)
    return {} if resource is None else {_STOPPED: resource}


def _start(node: TraceNode, given: Json) -> Json:
    node.facts.sources_ready = given["sources_ready"]
    restored = node.start(instances_of(given["containers"]), given.get("checkpoint_file_content"))
    out: dict[str, object] = {"error": None}
    if "checkpoint_file_content" in given:
        out["read_checkpoint_error"] = restored.error or None
    return out


def _register(node: TraceNode, given: Json) -> Json:
    options = PluginOptions(
        given["pre_start_required"], given["get_preferred_allocation_available"]
    )
    node.manager.register(ResourceName(given["resource"]), options)
    return {"error": None}


def _devices(node: TraceNode, given: Json) -> Json:
    devices = devices_of(given["devices"])
    node.run(node.manager.report_devices(ResourceName(given["resource"]), devices))
    return {}


def _disconnect(node: TraceNode, given: Json) -> Json:
    resource = ResourceName(given["resource"])
    is_live = node.manager.snapshot().endpoints.get(resource) == "running"
    node.manager.disconnect(resource)
    by_stream = node.behavior.disconnect_match is DisconnectMatch.OWN_ENDPOINT
    return {"no_live_stream": True} if by_stream and not is_live else {}


def _advance_clock(node: TraceNode, given: Json) -> Json:
    node.facts.now = after(node.facts.now, Duration(int(given["seconds"] * SECOND)))
    return {}


def _set_sources_ready(node: TraceNode, given: Json) -> Json:
    node.facts.sources_ready = given["value"]
    return {}


def _admit(node: TraceNode, given: Json) -> Json:
    pod = _meet(node, given["pod"])
    if pod.uid not in node.facts.active_pods:
        node.facts.active_pods.add(pod)
    admission = node.run(node.manager.admit(pod))
    if not admission.admitted:
        del node.facts.active_pods[pod.uid]
    return {
        "admit": admission.admitted,
        "reason": admission.reason,
        "message": describe.text(admission.message) or "",
        **_said(admission.message),
    }


def _allocate(node: TraceNode, given: Json) -> Json:
    pod, container = node.pods[given["pod"]], ContainerName(given["container"])
    error = node.run(node.manager.allocate(pod, container))
    return {"error": describe.text(error), **_said(error)}


def _remove_pod(node: TraceNode, given: Json) -> Json:
    node.facts.active_pods.pop(PodUid(given["pod"]), None)
    return {}


def _set_active(node: TraceNode, given: Json) -> Json:
    node.facts.active_pods.clear()
    for recorded in given["pods"]:
        node.facts.active_pods.add(_meet(node, recorded))
    return {}


def _update_allocated_devices(node: TraceNode, given: Json) -> Json:
    del given
    node.run(node.manager.release_inactive())
    return {}


def _get_capacity(node: TraceNode, given: Json) -> Json:
    del given
    capacity = node.manager.capacity()
    removed = node.run(node.manager.expire_endpoints())
    if removed != capacity.removed:
        node.differences.append(f"removed {removed}, although capacity said {capacity.removed}")
    return {
        "capacity": dict(capacity.total),
        "allocatable": dict(capacity.allocatable),
        "deleted": list(removed),
    }


def _run_container_options(node: TraceNode, given: Json) -> Json:
    pod, container = node.pods[given["pod"]], ContainerName(given["container"])
    result = node.run(node.manager.run_options(pod, container))
    return {
        "error": describe.text(result.error),
        "options": describe.run_options(result.options),
        **_said(result.error),
    }


def _update_plugin_resources(node: TraceNode, given: Json) -> Json:
    pod = node.pods[given["pod"]]
    return {
        "error": None,
        "node_allocatable": node.manager.raise_allocatable(pod, given["node_allocatable"]),
    }


def _get_devices(node: TraceNode, given: Json) -> Json:
    found = node.manager.devices_of(PodUid(given["pod"]), ContainerName(given["container"]))
    return {
        "devices": {
            resource: {
                device: None if nodes is None else list(nodes) for device, nodes in devices.items()
            }
            for resource, devices in found.items()
        }
        or None,
        "container_devices": sorted(
            f"{each.resource}|{numa_node}|{','.join(sorted(ids))}"
            for each in node.manager.bindings_of(PodUid(given["pod"]))
            if each.container == given["container"]
            for numa_node, ids in each.devices.items()
        ),
    }


def _get_allocatable_devices(node: TraceNode, given: Json) -> Json:
    del given
    return {
        "devices": {
            resource: {
                device.id: None if device.topology is None else list(device.topology)
                for device in listed.values()
            }
            for resource, listed in node.manager.allocatable_devices().items()
        }
    }


def _update_allocated_resources_status(node: TraceNode, given: Json) -> Json:
    pod = node.pods[given["pod"]]
    status = node.manager.resource_health(pod)
    return {
        "status": {
            container.name: {
                each.name: dict(each.resources) for each in status.get(container.name, ())
            }
            for container in pod.containers
        }
    }


def _topology_hints(node: TraceNode, given: Json) -> Json:
    pod = _meet(node, given["pod"])
    found = node.run(node.manager.topology_hints(pod, ContainerName(given["container"])))
    for_pod = node.run(node.manager.pod_topology_hints(pod))
    if isinstance(found, Refusal) or isinstance(for_pod, Refusal):
        return {"error": [found, for_pod]}
    return {"hints": describe.hints(found), "pod_hints": describe.hints(for_pod)}


def _should_reset(node: TraceNode, given: Json) -> Json:
    """Answer as the kubelet does: a file in the directory means that nothing is reset (S2.16)."""
    del given
    listed = listed_files([_REGISTRATION_SOCKET, *([] if node.file is None else [_CHECKPOINT])])
    reset = node.behavior.extended_resource_reset
    return {"files_listed": listed, "value": resets_extended_resources(reset, listed)}


def _checkpoint_write_fault(node: TraceNode, given: Json) -> Json:
    node.write_fault = given["error"] or ""
    return {}


def _delete_checkpoint(node: TraceNode, given: Json) -> Json:
    del given
    node.file = None
    return {}


def _nothing(node: TraceNode, given: Json) -> Json:
    """Perform a step that concerns the recorder's fake plugins only."""
    del node, given
    return {}


def _meet(node: TraceNode, recorded: Json) -> Pod:
    pod = pod_of(recorded)
    node.pods[pod.uid] = pod
    return pod


_OPERATIONS: dict[str, Callable[[TraceNode, Json], Json]] = {
    "start": _start,
    "register": _register,
    "devices": _devices,
    "disconnect": _disconnect,
    "advance_clock": _advance_clock,
    "set_sources_ready": _set_sources_ready,
    "admit": _admit,
    "allocate": _allocate,
    "remove_pod": _remove_pod,
    "set_active": _set_active,
    "update_allocated_devices": _update_allocated_devices,
    "get_capacity": _get_capacity,
    "run_container_options": _run_container_options,
    "update_plugin_resources": _update_plugin_resources,
    "get_devices": _get_devices,
    "get_allocatable_devices": _get_allocatable_devices,
    "update_allocated_resources_status": _update_allocated_resources_status,
    "topology_hints": _topology_hints,
    "should_reset_extended_resource_capacity": _should_reset,
    "plugin_behavior": _nothing,
    "checkpoint_write_fault": _checkpoint_write_fault,
    "delete_checkpoint": _delete_checkpoint,
}
