"""What a kubelet sends to a real API server, as documents, and what it reads of the answers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from simulator.api.client.http import revision_of
from simulator.api.dialect.compute_devices import COMPUTE_DEVICES
from simulator.api.dialect.documents import (
    Json,
    Object,
    items,
    mapping,
    micro_timestamp,
    text,
    texts,
)
from simulator.api.dialect.kinds import BULK_RESOURCE_BINDINGS, DEVICE_BINDINGS, LEASES
from simulator.core.api_calls import BindDevices, BindingObject
from simulator.core.devices import NO_NUMA_NODE, DeviceId, NumaNode, device_ids
from simulator.core.instants import Duration, Instant
from simulator.core.pods import ContainerName, PodUid
from simulator.core.resources import ResourceName
from simulator.core.transitions import DeviceBinding, NodeName, PodIdentity
from simulator.engine.api_requests import PatchNodeStatus
from simulator.live import node_statuses
from simulator.live.remote.settings import Taint

NO_DELAY: Final = Duration(0)
"""Between a watch and its kubelet: the way from the server takes its real time."""
LEASE_NAMESPACE: Final = "kube-node-lease"
LEASE_SECONDS: Final = 40
"""How long a lease is valid (S12.6)."""


def deletion(uid: str = "", *, grace: int | None = 0, revision: int = 0) -> Object:
    """Return the options of a deletion: of whom, and how soon."""
    options: Object = {"apiVersion": "v1", "kind": "DeleteOptions"}
    if grace is not None:
        options["gracePeriodSeconds"] = grace
    preconditions: Object = {"uid": uid} if uid else {}
    if revision:
        preconditions["resourceVersion"] = str(revision)
    if preconditions:
        options["preconditions"] = preconditions
    return options


def binding(pod: PodIdentity, node: NodeName) -> Object:
    """Return a Binding of a pod to a node, which must be that pod."""
    return {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"name": pod.name, "namespace": pod.namespace, "uid": pod.uid},
        "target": {"apiVersion": "v1", "kind": "Node", "name": node},
    }


def unscheduled(uid: PodUid, why: str) -> Object:
    """Return the patch that says why a pod is on no node."""
    condition: Object = {
        "type": "PodScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "message": why,
    }
    return {"metadata": {"uid": uid}, "status": {"conditions": [condition]}}


def resource_binding(call: BindDevices) -> Object:
    """Return a ResourceBinding (details 28)."""
    containers: dict[ContainerName, list[Json]] = {}
    for each in call.bindings:
        ids: list[Json] = [*device_ids(each.devices)]
        device: Object = {"resourceName": each.resource, "deviceIDs": ids}
        containers.setdefault(each.container, []).append(device)
    return {
        "apiVersion": "v1",
        "kind": "ResourceBinding",
        "metadata": {"name": call.pod.name, "namespace": call.pod.namespace},
        "target": {"name": call.pod.name, "uid": call.pod.uid},
        "containers": [
            {"containerName": name, COMPUTE_DEVICES: devices}
            for name, devices in containers.items()
        ],
    }


def bulk_binding(calls: Iterable[BindDevices]) -> Object:
    """Return many ResourceBindings in one document, which is not Kubernetes."""
    return {
        "apiVersion": BULK_RESOURCE_BINDINGS.api_version,
        "kind": BULK_RESOURCE_BINDINGS.kind,
        "items": [resource_binding(call) for call in calls],
    }


def device_binding(
    node: NodeName, pod: PodIdentity, bindings: Iterable[DeviceBinding], replaces: int | None
) -> Object:
    """Return a DeviceBinding (details 27): devices of one NUMA node each."""
    metadata: Object = {"name": pod.name, "namespace": pod.namespace}
    if replaces is not None:
        metadata["resourceVersion"] = str(replaces)
    containers: dict[ContainerName, list[Json]] = {}
    for each in bindings:
        for numa_node, ids in sorted(each.devices.items()):
            listed: list[Json] = [*ids]
            devices: Object = {"resourceName": each.resource, "deviceIDs": listed}
            if numa_node != NO_NUMA_NODE:
                devices["numaNodes"] = [int(numa_node)]
            containers.setdefault(each.container, []).append(devices)
    return {
        "apiVersion": DEVICE_BINDINGS.api_version,
        "kind": DEVICE_BINDINGS.kind,
        "metadata": metadata,
        "spec": {
            "podUID": pod.uid,
            "nodeName": node,
            "containers": [
                {"name": name, "devices": devices} for name, devices in containers.items()
            ],
        },
    }


def read_device_binding(found: Object) -> BindingObject:
    """Return what a DeviceBinding says."""
    uid = PodUid(text(found, "spec", "podUID"))
    bindings = tuple(
        _binding(uid, ContainerName(text(container, "name")), resource, container)
        for container in items(found, "spec", "containers")
        for resource in dict.fromkeys(
            ResourceName(text(one, "resourceName")) for one in items(container, "devices")
        )
    )
    pod = PodIdentity(uid, text(found, "metadata", "namespace"), text(found, "metadata", "name"))
    return BindingObject(
        pod, NodeName(text(found, "spec", "nodeName")), bindings, revision_of(found)
    )


def _binding(
    uid: PodUid, container: ContainerName, resource: ResourceName, found: Object
) -> DeviceBinding:
    devices: dict[NumaNode, tuple[DeviceId, ...]] = {}
    for one in items(found, "devices"):
        if text(one, "resourceName") == resource:
            ids = tuple(map(DeviceId, texts(one, "deviceIDs")))
            for numa_node in _numa_nodes(one):
                devices[numa_node] = (*devices.get(numa_node, ()), *ids)
    return DeviceBinding(uid, container, resource, devices, None)


def _numa_nodes(devices: Object) -> list[NumaNode]:
    listed = devices.get("numaNodes")
    numbers = listed if isinstance(listed, list) else []
    return [NumaNode(one) for one in numbers if type(one) is int] or [NO_NUMA_NODE]


def node_document(name: NodeName, taints: Iterable[Taint] = ()) -> Object:
    """Return a Node that registers itself."""
    document: Object = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {**node_statuses.node_labels(name)}},
    }
    listed: list[Json] = [
        {"key": taint.key, "value": taint.value, "effect": taint.effect} for taint in taints
    ]
    return {**document, "spec": {"taints": listed}} if listed else document


def is_own_node(node: Object) -> bool:
    """Tell whether a Node is one of Rebind, or one that no kubelet has taken up yet."""
    info = mapping(node, "status", "nodeInfo")
    is_own = text(info, "containerRuntimeVersion") == node_statuses.RUNTIME
    return is_own or not text(info, "kubeletVersion")


def node_status(request: PatchNodeStatus, version: str, now: Instant, since: Instant) -> Object:
    """Return the patch of a node's status (S2.13).

    Args:
        request: What its kubelet reports.
        version: Of that kubelet.
        now: When it reports.
        since: Since when it has been ready.
    """
    name = request.node
    return {
        "status": {
            "capacity": {**node_statuses.capacity(request.capacity)},
            "allocatable": {**node_statuses.allocatable(request.allocatable)},
            "conditions": [{**one} for one in node_statuses.ready_conditions(now, since)],
            "addresses": [{**one} for one in node_statuses.addresses(name)],
            "nodeInfo": {**node_statuses.node_info(name, boot_id=request.boot_id, version=version)},
        }
    }


def lease_document(
    name: NodeName, now: Instant, found: Object | None = None, owner_uid: str = ""
) -> Object:
    """Return a node's lease, renewed.

    Args:
        name: The node.
        now: When it is renewed.
        found: The lease as the server has it, of which the rest is kept; None for a new one.
        owner_uid: Of the Node object, with which the lease is to go; empty when it is not known.
    """
    lease: Object = {
        "apiVersion": LEASES.api_version,
        "kind": LEASES.kind,
        **(found or {"metadata": {"name": name, "namespace": LEASE_NAMESPACE}}),
    }
    metadata = {**mapping(lease, "metadata")}
    if owner_uid and not items(metadata, "ownerReferences"):
        owner: Object = {"apiVersion": "v1", "kind": "Node", "name": name, "uid": owner_uid}
        metadata["ownerReferences"] = [owner]
    spec: Object = {
        **mapping(lease, "spec"),
        "holderIdentity": name,
        "leaseDurationSeconds": LEASE_SECONDS,
        "renewTime": micro_timestamp(now),
    }
    return {**lease, "metadata": metadata, "spec": spec}
