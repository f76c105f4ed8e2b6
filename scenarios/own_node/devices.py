"""The device plugins that a checkpoint implies: one for each resource, with what is known of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from scenarios.files.documents import Plain
from scenarios.files.phrases import some_of
from simulator.core.checkpoint.bindings import BindingsRead
from simulator.core.checkpoint.values import Checkpoint
from simulator.core.devices import DeviceId, NumaNode
from simulator.core.resources import ResourceName
from simulator.core.transitions import DeviceBinding

_NOT_IN_NAMES: Final = re.compile(r"[^a-z0-9-]+")


def plugins_of(
    checkpoint: Checkpoint, read: BindingsRead
) -> tuple[list[dict[str, Plain]], tuple[str, ...]]:
    """Return the plugins, and what was assumed of them, in sentences.

    The file lists the devices that were healthy when it was written (S4.4). A device that a pod
    holds and that is not listed was unhealthy then, or gone; it is reported as Unhealthy. With no
    device of a resource listed its plugin was away, and what pods hold is taken for healthy.
    """
    registered = {name: ids or () for name, ids in (checkpoint.registered or {}).items()}
    numa = _numa_nodes(read.bindings)
    resources = sorted({*registered, *(binding.resource for binding in read.bindings)})
    plugins: list[dict[str, Plain]] = []
    notes = []
    names: list[str] = []
    for resource in resources:
        held = dict.fromkeys(device for name, device in numa if name == resource)
        listed = dict.fromkeys(registered.get(resource, ()))
        unhealthy = [device for device in held if device not in listed] if listed else []
        if unhealthy:
            notes.append(
                f"{resource}: held, but not among the healthy devices of the checkpoint, so taken "
                f"for unhealthy: {some_of(unhealthy)}"
            )
        if not listed:
            notes.append(
                f"{resource}: the checkpoint lists no healthy device, so the plugin was away; "
                "it is taken to have the devices that pods hold, healthy"
            )
        names.append(_name(resource, names))
        devices = sorted({*listed, *held})
        plugins.append(
            {
                "name": names[-1],
                "resourceName": resource,
                "devices": _device_list(resource, devices, numa, unhealthy),
            }
        )
    return plugins, tuple(notes)


def _name(resource: ResourceName, taken: Sequence[str]) -> str:
    part = _NOT_IN_NAMES.sub("-", resource.rpartition("/")[2].lower()).strip("-")
    name = part or "plugin"
    return name if name not in taken else f"{name}-{len(taken) + 1}"


def _numa_nodes(
    bindings: Sequence[DeviceBinding],
) -> dict[tuple[ResourceName, DeviceId], list[NumaNode]]:
    """Return the NUMA nodes of every held device; none for one without topology."""
    nodes: dict[tuple[ResourceName, DeviceId], list[NumaNode]] = {}
    for binding in bindings:
        for node in sorted(binding.devices):
            for device in binding.devices[node]:
                known = nodes.setdefault((binding.resource, device), [])
                if node >= 0 and node not in known:
                    known.append(node)
    return nodes


def _device_list(
    resource: ResourceName,
    devices: Sequence[DeviceId],
    numa: dict[tuple[ResourceName, DeviceId], list[NumaNode]],
    unhealthy: Sequence[DeviceId],
) -> Plain:
    listed: dict[str, Plain] = {}
    if any(numa.get((resource, device)) for device in devices):
        listed["each"] = [_device(device, numa.get((resource, device))) for device in devices]
    else:
        listed["ids"] = list(devices)
    if unhealthy:
        listed["unhealthy"] = list(unhealthy)
    return listed


def _device(device: DeviceId, nodes: Sequence[NumaNode] | None) -> Plain:
    return {"id": device, "numa": list(nodes)} if nodes else {"id": device}
