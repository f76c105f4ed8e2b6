"""Nodes as the API server shows them, and the plugins that their kubelets know."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from simulator.core.resources import ResourceName
from simulator.core.snapshot import ManagerSnapshot
from simulator.core.transitions import NodeName
from simulator.engine.api import ApiServer
from simulator.engine.node import Node
from simulator.live import node_statuses
from simulator.reports.documents import Json

STATES: Final = {"running": "Registered", "stopped": "Disconnected", "expired": "Expired"}
"""The device manager's word for an endpoint to what is shown of it."""
RETIRED: Final = "Retired"
"""What is shown of the endpoint of a resource that the device manager does not know any more."""


def node_document(
    node: Node, api: ApiServer, *, version: int = 0, persistence: str = ""
) -> dict[str, Json]:
    """Return a node as a `v1` Node object.

    `status.deviceManager` is no part of the API: what the node's kubelet knows of each resource
    right now, while `capacity` and `allocatable` follow up to 10 s later (S2.15).
    """
    shown = api.node(node.name)
    is_ready = shown in api.ready_nodes()
    heard = shown.heartbeat
    conditions = (
        node_statuses.ready_conditions(heard)
        if is_ready and heard is not None
        else node_statuses.unknown_conditions(heard)
    )
    boot_id, kubelet = shown.boot_id or node.boot_id, node.behavior.version
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": node.name,
            "resourceVersion": str(version),
            "labels": {**node_statuses.node_labels(node.name)},
            "annotations": {
                "rebind.internal/persistence": persistence,
                "rebind.internal/topology-manager": (
                    f"{node.spec.topology_manager_policy}, {node.spec.topology_manager_scope}"
                ),
                "rebind.internal/numa-nodes": str(node.spec.numa_nodes),
            },
        },
        "status": {
            "capacity": {**node_statuses.capacity(shown.capacity)},
            "allocatable": {**node_statuses.allocatable(shown.allocatable)},
            "conditions": [{**one} for one in conditions],
            "addresses": [{**one} for one in node_statuses.addresses(node.name)],
            "nodeInfo": {
                **node_statuses.node_info(node.name, boot_id=boot_id, version=str(kubelet))
            },
            "deviceManager": [dict(line) for line in resource_lines(node)],
        },
    }


def resource_lines(node: Node) -> list[dict[str, Json]]:
    """Return what a node's device manager knows of each resource; nothing while it is down."""
    kubelet = node.kubelet
    if kubelet is None or not kubelet.serving:
        return []
    kubelet.driver.refresh()
    known = kubelet.manager.snapshot()
    capacity = kubelet.manager.capacity()
    resources = sorted({*known.endpoints, *capacity.total, *held(known)})
    return [
        {
            "resourceName": resource,
            "capacity": capacity.total.get(resource, 0),
            "allocatable": capacity.allocatable.get(resource, 0),
            "allocated": held(known).get(resource, 0),
            "healthy": len(known.healthy.get(resource, ())),
            "endpoint": STATES.get(known.endpoints.get(resource, ""), "Unknown"),
        }
        for resource in resources
    ]


def retired_lines(node: Node, api: ApiServer) -> list[dict[str, Json]]:
    """Return the resources that the Node object alone knows, at 0 of 0.

    Their plugins have been away for longer than the grace period, or have another name now; the
    key stays until somebody removes it (S2.13, S2.14). That is no fault.
    """
    known = {line["resourceName"] for line in resource_lines(node)}
    if node.kubelet is None or not node.kubelet.serving:
        return []
    return [
        {
            "resourceName": resource,
            "capacity": 0,
            "allocatable": 0,
            "allocated": 0,
            "healthy": 0,
            "endpoint": RETIRED,
        }
        for resource, count in sorted(api.node(node.name).capacity.items())
        if not count and resource not in known
    ]


@dataclass(frozen=True, slots=True)
class BuiltIn:
    """A plugin that the server runs, or has run."""

    kind: str
    resources: tuple[ResourceName, ...]
    runs: bool


def plugin_documents(node: Node, built_in: Mapping[str, BuiltIn]) -> list[dict[str, Json]]:
    """Return the plugins of a node: those of the server, and all others that are registered.

    Args:
        node: The node.
        built_in: The server's, by name.
    """
    lines = {str(line["resourceName"]): line for line in resource_lines(node)}
    documents = []
    for name, plugin in built_in.items():
        for resource in plugin.resources:
            line = lines.pop(resource, {})
            documents.append(_plugin(node.name, resource, name, plugin.kind, line))
            if not plugin.runs:
                documents[-1]["status"] = {"state": "Stopped"}
    for other, line in lines.items():
        documents.append(_plugin(node.name, other, other, "external", line))
    return documents


def _plugin(
    node: NodeName, resource: str, name: str, kind: str, line: Mapping[str, Json], /
) -> dict[str, Json]:
    return {
        "kind": "Plugin",
        "metadata": {"name": name},
        "spec": {"nodeName": node, "resourceName": resource, "kind": kind},
        "status": {
            "state": line.get("endpoint", "NotRegistered"),
            "devices": line.get("capacity", 0),
            "healthy": line.get("healthy", 0),
            "allocated": line.get("allocated", 0),
        },
    }


def held(known: ManagerSnapshot) -> dict[ResourceName, int]:
    """Return the number of distinct devices that pods hold, by resource."""
    ids: dict[ResourceName, set[str]] = {}
    for binding in known.bindings:
        of_resource = ids.setdefault(binding.resource, set())
        for devices in binding.devices.values():
            of_resource.update(devices)
    return {resource: len(of_resource) for resource, of_resource in ids.items()}
