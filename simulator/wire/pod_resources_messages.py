"""Values of `simulator.core.pod_resources` as messages (S8.4, S8.5)."""

from __future__ import annotations

from collections.abc import Sequence

from simulator.core.pod_resources import (
    V1,
    ContainerDevices,
    ContainerResources,
    PodResources,
)
from simulator.protocol import rebind_podresources_v1_pb2 as v1
from simulator.protocol import rebind_podresources_v1alpha1_pb2 as v1alpha1


class EntryEncoder:
    """Encodes the answers to List; an entry that is the same object keeps its bytes."""

    def __init__(self, version: str) -> None:
        self._encode = _v1_part if version == V1 else _v1alpha1_part
        self._kept: dict[int, tuple[PodResources, bytes]] = {}

    def encode(self, entries: Sequence[PodResources]) -> bytes:
        """Return a whole response: messages written one after the other are one message."""
        kept = {}
        for entry in entries:
            known = self._kept.get(id(entry))
            kept[id(entry)] = known or (entry, self._encode(entry))
        self._kept = kept
        return b"".join([kept[id(entry)][1] for entry in entries])


def allocatable_bytes(devices: Sequence[ContainerDevices]) -> bytes:
    """Return an AllocatableResourcesResponse."""
    response = v1.AllocatableResourcesResponse(devices=[_devices(entry) for entry in devices])
    return response.SerializeToString()


def pod_bytes(pod: PodResources) -> bytes:
    """Return a GetPodResourcesResponse."""
    return v1.GetPodResourcesResponse(pod_resources=_pod(pod)).SerializeToString()


def _v1_part(pod: PodResources) -> bytes:
    return v1.ListPodResourcesResponse(pod_resources=[_pod(pod)]).SerializeToString()


def _v1alpha1_part(pod: PodResources) -> bytes:
    message = v1alpha1.PodResources(
        name=pod.name,
        namespace=pod.namespace,
        containers=[
            v1alpha1.ContainerResources(
                name=container.name,
                devices=[
                    v1alpha1.ContainerDevices(resource_name=entry.resource, device_ids=entry.ids)
                    for entry in container.devices
                ],
            )
            for container in pod.containers
        ],
    )
    return v1alpha1.ListPodResourcesResponse(pod_resources=[message]).SerializeToString()


def _pod(pod: PodResources) -> v1.PodResources:
    return v1.PodResources(
        name=pod.name,
        namespace=pod.namespace,
        containers=[_container(container) for container in pod.containers],
    )


def _container(container: ContainerResources) -> v1.ContainerResources:
    return v1.ContainerResources(
        name=container.name, devices=[_devices(entry) for entry in container.devices]
    )


def _devices(entry: ContainerDevices) -> v1.ContainerDevices:
    if entry.numa_nodes is None:
        return v1.ContainerDevices(resource_name=entry.resource, device_ids=entry.ids)
    nodes = [v1.NUMANode(ID=node) for node in entry.numa_nodes]
    return v1.ContainerDevices(
        resource_name=entry.resource,
        device_ids=entry.ids,
        topology=v1.TopologyInfo(nodes=nodes),
    )
