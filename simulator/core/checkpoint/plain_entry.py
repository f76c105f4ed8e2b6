"""A quick way through entries that look as a kubelet writes them.

A file of thousands of entries is read at every kubelet start, and nearly all of them have the same
form: all fields, in order, nothing null. Whatever looks otherwise is left to `decode`.
"""

from __future__ import annotations

from typing import Final

from simulator.core.checkpoint.go_strings import from_base64
from simulator.core.checkpoint.json_values import JsonValue
from simulator.core.checkpoint.values import CheckpointEntry, DeviceIdList
from simulator.core.devices import DeviceId, NumaNode
from simulator.core.pods import ContainerName, PodUid
from simulator.core.resources import ResourceName

_FIELDS: Final = 5
_NODES: Final = {str(node): NumaNode(node) for node in range(-1, 64)}


def plain_entry(value: JsonValue) -> CheckpointEntry | None:
    """Decode an entry of format V2 in its usual form; None for any other form."""
    if not isinstance(value, tuple) or len(value) != _FIELDS:
        return None
    (name_1, pod), (name_2, container), (name_3, resource), (name_4, groups), (name_5, text) = value
    if (
        name_1 == "PodUID"
        and name_2 == "ContainerName"
        and name_3 == "ResourceName"
        and name_4 == "DeviceIDs"
        and name_5 == "AllocResp"
        and isinstance(pod, str)
        and isinstance(container, str)
        and isinstance(resource, str)
        and isinstance(groups, tuple)
        and isinstance(text, str)
    ):
        devices = _devices(groups)
        response = _response(text)
        if devices is not None and response is not None:
            return CheckpointEntry(
                PodUid(pod), ContainerName(container), ResourceName(resource), devices, response
            )
    return None


def _devices(groups: tuple[tuple[str, JsonValue], ...]) -> dict[NumaNode, DeviceIdList] | None:
    devices: dict[NumaNode, DeviceIdList] = {}
    for name, ids in groups:
        if name not in _NODES or not isinstance(ids, list):
            return None
        texts = [DeviceId(each) for each in ids if isinstance(each, str)]
        if len(texts) != len(ids):
            return None
        devices[_NODES[name]] = tuple(texts)
    return devices


def _response(text: str) -> bytes | None:
    try:
        return from_base64(text)
    except ValueError:
        return None
