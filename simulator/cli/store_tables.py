"""How nodes, devices, pods and holdings of a database are shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from simulator.cli.output import Column, JsonValue, Table
from simulator.core.instants import Instant
from simulator.core.transitions import PodIdentity
from simulator.ports import DeviceSummary, Holding, NodeSummary, PodSummary, ResourceSummary
from simulator.reports.store_text import instant_text, pod_text, short_instant_text

NOTHING: Final = "-"


@dataclass(frozen=True, slots=True)
class NodeRow:
    """A node and one of its resources, or none."""

    node: NodeSummary
    resource: ResourceSummary | None


def node_rows(nodes: Sequence[NodeSummary]) -> list[NodeRow]:
    """Return one row for each resource, and one for a node without resources."""
    return [NodeRow(node, resource) for node in nodes for resource in node.resources or (None,)]


def pod_document(pod: PodIdentity) -> dict[str, JsonValue]:
    """Return a pod's identity."""
    return {"uid": pod.uid, "namespace": pod.namespace, "name": pod.name}


def _count(row: NodeRow, name: str) -> int | str:
    return NOTHING if row.resource is None else int(getattr(row.resource, name))


def _endpoint(resource: ResourceSummary | None) -> str:
    return "registered" if resource is not None and resource.registered else NOTHING


def _node_document(row: NodeRow) -> dict[str, JsonValue]:
    document: dict[str, JsonValue] = {
        "node": row.node.node,
        "revision": row.node.revision,
        "bootID": row.node.boot_id,
        "pods": row.node.pods,
    }
    if row.resource is not None:
        document |= {
            "resourceName": row.resource.resource,
            "capacity": row.resource.devices,
            "allocatable": row.resource.healthy,
            "allocated": row.resource.held,
            "registered": row.resource.registered,
        }
    return document


NODES: Final[Table[NodeRow]] = Table(
    kind="Node",
    columns=(
        Column("NODE", lambda row: row.node.node),
        Column("RESOURCE", lambda row: row.resource.resource if row.resource else NOTHING),
        Column("CAPACITY", lambda row: _count(row, "devices")),
        Column("ALLOCATABLE", lambda row: _count(row, "healthy")),
        Column("ALLOCATED", lambda row: _count(row, "held")),
        Column("ENDPOINT", lambda row: _endpoint(row.resource)),
        Column("PODS", lambda row: row.node.pods),
        Column("BOOT", lambda row: row.node.boot_id or NOTHING, wide=True),
        Column("REVISION", lambda row: row.node.revision, wide=True),
    ),
    name=lambda row: f"node/{row.node.node}",
    document=_node_document,
    nothing="no nodes",
)


def _health(device: DeviceSummary) -> str:
    if not device.listed:
        return "Gone" if device.health is not None else "Unknown"
    return device.health or "Unknown"


def _device_document(device: DeviceSummary) -> dict[str, JsonValue]:
    return {
        "node": device.node,
        "resourceName": device.resource,
        "device": device.device,
        "listed": device.listed,
        "health": device.health,
        "numaNodes": None if device.numa_nodes is None else list(device.numa_nodes),
        "holders": [pod_document(pod) for pod in device.holders],
    }


DEVICES: Final[Table[DeviceSummary]] = Table(
    kind="Device",
    columns=(
        Column("NODE", lambda device: device.node),
        Column("RESOURCE", lambda device: device.resource),
        Column("DEVICE", lambda device: device.device),
        Column("HEALTH", _health),
        Column("NUMA", lambda device: ",".join(map(str, device.numa_nodes or ())) or NOTHING),
        Column("POD", lambda device: ",".join(map(pod_text, device.holders)) or NOTHING),
        Column("UID", lambda device: ",".join(p.uid for p in device.holders) or NOTHING, wide=True),
    ),
    name=lambda device: f"device/{device.node}/{device.resource}/{device.device}",
    document=_device_document,
    nothing="no devices",
)


def _pod_summary_document(pod: PodSummary) -> dict[str, JsonValue]:
    return {
        "node": pod.node,
        "pod": pod_document(pod.pod),
        "standing": pod.standing.value,
        "reason": pod.reason,
        "message": pod.message,
        "devices": dict(pod.devices),
    }


PODS: Final[Table[PodSummary]] = Table(
    kind="Pod",
    columns=(
        Column("NODE", lambda pod: pod.node),
        Column("POD", lambda pod: pod_text(pod.pod)),
        Column("STANDING", lambda pod: pod.standing.value),
        Column("DEVICES", lambda pod: sum(count for _, count in pod.devices)),
        Column("REASON", lambda pod: pod.reason or NOTHING),
        Column("UID", lambda pod: pod.pod.uid, wide=True),
        Column("MESSAGE", lambda pod: pod.message or NOTHING, wide=True),
    ),
    name=lambda pod: f"pod/{pod_text(pod.pod)}",
    document=_pod_summary_document,
    nothing="no pods",
)


def _holding_document(holding: Holding) -> dict[str, JsonValue]:
    return {
        "node": holding.node,
        "resourceName": holding.resource,
        "device": holding.device,
        "pod": pod_document(holding.pod),
        "containers": list(holding.containers),
        "since": {"revision": holding.since_revision, "at": instant_text(holding.since)},
        "until": None
        if holding.until_revision is None
        else {"revision": holding.until_revision, "at": _end(holding, instant_text)},
        "bootID": holding.boot_id,
        "disputed": holding.disputed,
    }


def _end(holding: Holding, text: Callable[[Instant], str]) -> str:
    return NOTHING if holding.until is None else text(holding.until)


HOLDINGS: Final[Table[Holding]] = Table(
    kind="Holding",
    columns=(
        Column("NODE", lambda holding: holding.node),
        Column("RESOURCE", lambda holding: holding.resource),
        Column("DEVICE", lambda holding: holding.device),
        Column("POD", lambda holding: pod_text(holding.pod)),
        Column("CONTAINERS", lambda holding: ",".join(holding.containers)),
        Column(
            "SINCE",
            lambda holding: instant_text(holding.since),
            short=lambda holding: short_instant_text(holding.since),
        ),
        Column(
            "UNTIL",
            lambda holding: _end(holding, instant_text),
            short=lambda holding: _end(holding, short_instant_text),
            if_any=True,
        ),
        Column("DISPUTED", lambda holding: "yes" if holding.disputed else NOTHING, if_any=True),
        Column("UID", lambda holding: holding.pod.uid, wide=True),
        Column("BOOT", lambda holding: holding.boot_id or NOTHING, wide=True),
        Column("REVISION", lambda holding: holding.since_revision, wide=True),
        Column("UNTIL-REVISION", lambda holding: holding.until_revision or NOTHING, wide=True),
    ),
    name=lambda holding: f"device/{holding.node}/{holding.resource}/{holding.device}",
    document=_holding_document,
    nothing="nobody holds it",
)
