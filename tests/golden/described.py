"""Checkpoints described in the words of the recordings."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from pathlib import Path

from simulator.core import allocate_response
from simulator.core.behavior import Behavior, CheckpointFormat
from simulator.core.checkpoint.values import Checkpoint, CheckpointEntry, DeviceIdList
from simulator.core.devices import device_ids
from simulator.core.transitions import DeviceBinding

Described = Mapping[str, object]


def load_object(path: Path) -> Described:
    """Read a file that holds one JSON object."""
    content = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(content, dict):
        message = f"{path}: expected a JSON object"
        raise TypeError(message)
    return content


def entry(recorded: CheckpointEntry, behavior: Behavior) -> Described:
    """Describe an entry as its version's recordings do; V1 recordings do not decode responses."""
    response, devices = recorded.response, recorded.devices
    head = {
        "pod_uid": recorded.pod,
        "container": recorded.container,
        "resource": recorded.resource,
    }
    tail = {"alloc_resp_base64": None if response is None else b64encode(response).decode()}
    if behavior.checkpoint_written is CheckpointFormat.V1:
        ids = None if devices is None else list(devices)
        return {**head, "device_ids_in_file_order": ids, **tail}
    groups = {} if devices is None or isinstance(devices, tuple) else devices
    described: Described = {
        **head,
        "device_ids_by_numa": {str(node): _ids(ids) for node, ids in groups.items()},
        "devices": sorted({each for ids in groups.values() for each in ids or ()}),
        "alloc_resp": None if response is None else answer(response, behavior),
        **tail,
    }
    return {**described, "device_ids_null": True} if devices is None else described


def answer(response: bytes, behavior: Behavior) -> Described:
    """Describe a decoded response."""
    decoded = allocate_response.decode(
        response,
        lenient=behavior.lenient_allocate_responses,
        cdi_devices=behavior.cdi_devices_known,
    )
    return {
        "envs": dict(decoded.envs),
        "mounts": [
            {
                "container_path": mount.container_path,
                "host_path": mount.host_path,
                "read_only": mount.read_only,
            }
            for mount in decoded.mounts
        ],
        "devices": [
            {
                "container_path": device.container_path,
                "host_path": device.host_path,
                "permissions": device.permissions,
            }
            for device in decoded.devices
        ],
        "annotations": dict(decoded.annotations),
        "cdi_devices": list(decoded.cdi_devices),
    }


def registered(checkpoint: Checkpoint) -> Mapping[str, object] | None:
    """Describe the registered devices."""
    if checkpoint.registered is None:
        return None
    return {name: _ids(ids) for name, ids in checkpoint.registered.items()}


def allocated(bindings: Sequence[DeviceBinding]) -> Mapping[str, object]:
    """Describe the union of all bindings by resource; a binding without devices counts too."""
    union: dict[str, set[str]] = {}
    for binding in bindings:
        union.setdefault(binding.resource, set()).update(device_ids(binding.devices))
    return {resource: sorted(ids) for resource, ids in union.items()}


def bindings(held: Sequence[DeviceBinding]) -> Mapping[str, Sequence[str]]:
    """Describe bindings by `pod|container|resource`."""
    return {
        f"{binding.pod}|{binding.container}|{binding.resource}": list(device_ids(binding.devices))
        for binding in held
    }


def bindings_by_node(held: Sequence[DeviceBinding]) -> Mapping[str, object]:
    """Describe bindings by `pod|container|resource`, ids by NUMA node."""
    return {
        f"{binding.pod}|{binding.container}|{binding.resource}": {
            str(node): sorted(ids) for node, ids in binding.devices.items()
        }
        for binding in held
    }


def _ids(ids: DeviceIdList) -> list[str] | None:
    return None if ids is None else list(ids)
