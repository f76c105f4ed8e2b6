"""Parts of checkpoints as short texts and as documents."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import Final

from simulator.cli.output import JsonValue
from simulator.core.allocate_response import AllocateResponse, decode
from simulator.core.behavior import CheckpointFormat
from simulator.core.checkpoint.values import DeviceIdList, EntryDevices, entry_device_ids
from simulator.errors import MalformedReplyError

FORMAT_TEXTS: Final = {
    CheckpointFormat.BARE: "bare (kubelet 1.9 and before)",
    CheckpointFormat.V1: "V1 (kubelet 1.10 to 1.19)",
    CheckpointFormat.V2: "V2 (kubelet 1.20 and later)",
}
NOTHING: Final = "-"
_SHORT_ITEMS_MAX: Final = 3
_SHORT_ITEM_MAX: Final = 64
"""Longer than the id of a MIG partition, the longest that plugins use."""


def listed(items: Sequence[str], *, short: bool) -> str:
    """Join items with commas; a short list names the first few, cut, and counts the rest."""
    if not items:
        return NOTHING
    if not short:
        return ",".join(items)
    first = ",".join(map(_cut, items[:_SHORT_ITEMS_MAX]))
    more = len(items) - _SHORT_ITEMS_MAX
    return f"{first} +{more}" if more > 0 else first


def _cut(item: str) -> str:
    """Cut an item such as a variable that lists the ids of a whole node."""
    return item if len(item) <= _SHORT_ITEM_MAX else f"{item[: _SHORT_ITEM_MAX - 1]}…"


def numa_text(devices: EntryDevices) -> str:
    """Name the NUMA nodes of an entry; `-` for no topology and for formats without nodes."""
    if devices is None or isinstance(devices, tuple):
        return NOTHING
    return listed([str(node) for node in sorted(devices) if node >= 0], short=False)


def devices_text(devices: EntryDevices, *, short: bool) -> str:
    """Name the devices of an entry, with their nodes in the long form."""
    if short or devices is None or isinstance(devices, tuple):
        return listed(entry_device_ids(devices), short=short)
    groups = [f"{node}:{listed(devices[node] or (), short=False)}" for node in sorted(devices)]
    return " ".join(groups) or NOTHING


def decoded(response: bytes | None) -> AllocateResponse | None:
    """Decode a response as leniently as any kubelet does; None when none can."""
    for lenient in (True, False):
        try:
            return decode(response or b"", lenient=lenient)
        except MalformedReplyError:
            continue
    return None


def response_texts(response: bytes | None, *, short: bool) -> Mapping[str, str]:
    """Return the columns of a response: `env`, `mounts`, `nodes`, `cdi`, `annotations`."""
    answer = decoded(response)
    if answer is None:
        return dict.fromkeys(("env", "mounts", "nodes", "cdi", "annotations"), "undecodable")
    columns: Mapping[str, Sequence[str]] = {
        "env": [f"{name}={value}" for name, value in answer.envs.items()],
        "mounts": [
            f"{mount.host_path}:{mount.container_path}{':ro' if mount.read_only else ''}"
            for mount in answer.mounts
        ],
        "nodes": [
            f"{device.host_path}:{device.container_path}:{device.permissions}"
            for device in answer.devices
        ],
        "cdi": answer.cdi_devices,
        "annotations": [f"{name}={value}" for name, value in answer.annotations.items()],
    }
    return {name: listed(items, short=short) for name, items in columns.items()}


def devices_document(devices: EntryDevices) -> JsonValue:
    """Return the devices of an entry as the file has them, null kept."""
    if devices is None or isinstance(devices, tuple):
        return ids_document(devices)
    return {str(node): ids_document(ids) for node, ids in devices.items()}


def ids_document(ids: DeviceIdList) -> JsonValue:
    """Return a list of ids, null kept."""
    return None if ids is None else list(ids)


def response_document(response: bytes | None) -> JsonValue:
    """Return a response decoded and as base64; null when the file says null."""
    if response is None:
        return None
    answer = decoded(response)
    encoded: dict[str, JsonValue] = {"base64": b64encode(response).decode("ascii")}
    if answer is None:
        return {**encoded, "decodable": False}
    return {
        "envs": dict(answer.envs),
        "mounts": [
            {
                "containerPath": mount.container_path,
                "hostPath": mount.host_path,
                "readOnly": mount.read_only,
            }
            for mount in answer.mounts
        ],
        "devices": [
            {
                "containerPath": device.container_path,
                "hostPath": device.host_path,
                "permissions": device.permissions,
            }
            for device in answer.devices
        ],
        "annotations": dict(answer.annotations),
        "cdiDevices": list(answer.cdi_devices),
        **encoded,
    }
