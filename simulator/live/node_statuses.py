"""Node objects as kubelets report them: what is so of devices, what is made up of the machine.

A node's devices are counted by its device manager (S2.13). Its machine is simulated, and each has
the same: clients and schedulers expect of every node cpu, memory, storage and room for pods, what
it is made of, and conditions. One home for what `rebind get` shows and what a node tells a real
API server.

Not reported: an IP address. Nobody could be reached there, and an API server that tried to would
wait; the name of a host that does not exist is refused at once.
"""

from __future__ import annotations

import platform
import uuid
from collections.abc import Mapping
from typing import Final, TypeAlias

from simulator.api.dialect.documents import timestamp
from simulator.core.instants import Instant
from simulator.core.resources import ResourceName
from simulator.core.transitions import NodeName

Part: TypeAlias = "dict[str, str]"
"""A part of a status whose fields are texts."""

RUNTIME: Final = "rebind://simulated"
"""The container runtime of Rebind's nodes, by which they are told from others."""
_CAPACITY: Final[Mapping[str, str]] = {
    "cpu": "64",
    "ephemeral-storage": "1073741824Ki",
    "hugepages-1Gi": "0",
    "hugepages-2Mi": "0",
    "memory": "268435456Ki",
    "pods": "110",
}
_ALLOCATABLE: Final[Mapping[str, str]] = {
    **_CAPACITY,
    "ephemeral-storage": "989560464998",
    "memory": "268333056Ki",
}
"""Without what a kubelet keeps back by default: a tenth of the disk, and 100Mi of memory."""
_PRESSURES: Final = (
    ("MemoryPressure", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    ("DiskPressure", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    ("PIDPressure", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
)


def node_labels(name: NodeName) -> dict[str, str]:
    """Return the labels with which a kubelet registers its node."""
    return {
        "kubernetes.io/arch": _architecture(),
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
    }


def capacity(devices: Mapping[ResourceName, int]) -> dict[str, str]:
    """Return what a node has: its machine, and its devices."""
    return {**_CAPACITY, **{name: str(count) for name, count in sorted(devices.items())}}


def allocatable(devices: Mapping[ResourceName, int]) -> dict[str, str]:
    """Return what pods may have of it."""
    return {**_ALLOCATABLE, **{name: str(count) for name, count in sorted(devices.items())}}


def addresses(name: NodeName) -> list[Part]:
    """Return where a node is."""
    return [{"type": "Hostname", "address": name}]


def ready_conditions(heartbeat: Instant, since: Instant | None = None) -> list[Part]:
    """Return the conditions of a node whose kubelet reports.

    Args:
        heartbeat: When it did so last.
        since: Since when it has been so, where that is known.
    """
    times = {"lastHeartbeatTime": timestamp(heartbeat)}
    if since is not None:
        times["lastTransitionTime"] = timestamp(since)
    ready = ("Ready", "KubeletReady", "kubelet is posting ready status")
    return [
        _condition(kind, "True" if kind == "Ready" else "False", reason, message) | times
        for kind, reason, message in (*_PRESSURES, ready)
    ]


def unknown_conditions(heartbeat: Instant | None) -> list[Part]:
    """Return the conditions of a node that is not heard of, as the node controller writes them."""
    heard: Part = {} if heartbeat is None else {"lastHeartbeatTime": timestamp(heartbeat)}
    why = ("NodeStatusUnknown", "Kubelet stopped posting node status.")
    kinds = (*(kind for kind, _, _ in _PRESSURES), "Ready")
    return [_condition(kind, "Unknown", *why) | heard for kind in kinds]


def _condition(kind: str, status: str, reason: str, message: str) -> Part:
    return {"type": kind, "status": status, "reason": reason, "message": message}


def node_info(name: NodeName, *, boot_id: str, version: str) -> dict[str, str]:
    """Return what a node is made of; all fields, since official clients insist on them."""
    machine = uuid.uuid5(uuid.NAMESPACE_DNS, f"{name}.node.rebind.internal")
    return {
        "architecture": _architecture(),
        "bootID": boot_id,
        "containerRuntimeVersion": RUNTIME,
        "kernelVersion": platform.release(),
        "kubeProxyVersion": "",
        "kubeletVersion": f"v{version}",
        "machineID": machine.hex,
        "operatingSystem": "linux",
        "osImage": "Rebind (simulated)",
        "systemUUID": str(machine),
    }


def _architecture() -> str:
    """Return the architecture by the name that Go has for it."""
    machine = platform.machine()
    return {"x86_64": "amd64", "aarch64": "arm64"}.get(machine, machine)
