"""Devices in the containers of a pod's document: as values, back again, and what is wrong of them.

The rules are those of `simulator.core.resource_bindings`; here are the fields and the words.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from simulator.api.dialect.documents import (
    CONTAINER_FIELDS,
    Json,
    Object,
    containers_of,
    items,
    mapping,
    text,
    texts,
)
from simulator.api.dialect.statuses import Cause, duplicate, invalid_value, required
from simulator.core import resource_bindings
from simulator.core.devices import DeviceId
from simulator.core.pods import ComputeDevices, Container, ContainerKind, ContainerName, Pod, PodUid
from simulator.core.quantities import parse_quantity
from simulator.core.resource_bindings import DeviceFault, FaultKind
from simulator.core.resource_requests import LIMITS
from simulator.core.resources import ResourceName

COMPUTE_DEVICES: Final = "computeDevices"


def compute_devices(container: Object) -> ComputeDevices:
    """Return the devices that a container, or an item of a binding, names."""
    return tuple(
        (ResourceName(text(one, "resourceName")), tuple(map(DeviceId, texts(one, "deviceIDs"))))
        for one in items(container, COMPUTE_DEVICES)
    )


def compute_devices_document(devices: ComputeDevices) -> list[Json]:
    """Return devices as a container, or an item of a binding, names them."""
    return [{"resourceName": resource, "deviceIDs": [*ids]} for resource, ids in devices]


def kind_of(container: Object, field: str) -> ContainerKind:
    """Return how a container under `initContainers` or `containers` shares its devices."""
    if field != "initContainers":
        return ContainerKind.REGULAR
    always = text(container, "restartPolicy") == "Always"
    return ContainerKind.SIDECAR if always else ContainerKind.INIT


def pod_value(pod: Object) -> Pod:
    """Return a pod as far as the rules of devices look at it: limits are those of whole numbers."""
    init_containers, containers = (
        tuple(_container(one, field) for one in items(pod, "spec", field))
        for field in CONTAINER_FIELDS
    )
    return Pod(
        PodUid(text(pod, "metadata", "uid")),
        text(pod, "metadata", "name"),
        text(pod, "metadata", "namespace"),
        init_containers,
        containers,
    )


def device_faults(pod: Object) -> Iterator[Cause]:
    """Iterate over what is wrong about the devices that a pod's spec names."""
    if any(one.get(COMPUTE_DEVICES) for one in containers_of(pod)):
        value = pod_value(pod)
        for fault in resource_bindings.device_faults(value):
            yield cause_of(value, fault)


def cause_of(pod: Pod, fault: DeviceFault) -> Cause:
    """Return a fault as Kubernetes tells it, with the field of the pod."""
    resource, ids = fault.resource, fault.ids
    at = f"{_field(pod, fault.place)}.{COMPUTE_DEVICES}[{fault.entry}]"
    device = f"{at}.deviceIDs[{fault.device}]"
    match fault.kind:
        case FaultKind.NO_RESOURCE:
            return required(f"{at}.resourceName")
        case FaultKind.RESOURCE_TWICE:
            return duplicate(f"{at}.resourceName", resource)
        case FaultKind.NO_LIMIT:
            why = f'container "{fault.container.name}" has no limit of {resource}'
            return invalid_value(f"{at}.resourceName", resource, why)
        case FaultKind.OTHER_COUNT:
            limit = dict(fault.container.limits)[resource]
            why = f"{len(ids)} devices, must be equal to {resource} limit of {limit}"
            return invalid_value(f"{at}.deviceIDs", [*ids], why)
        case FaultKind.NO_DEVICE:
            return required(device)
        case FaultKind.DEVICE_TWICE:
            return duplicate(device, ids[fault.device])


def named_devices(pod: Object) -> Iterator[tuple[str, str]]:
    """Iterate over the resources and ids of the devices that a pod's spec names."""
    for container in containers_of(pod):
        for resource, ids in compute_devices(container):
            for each in ids:
                yield resource, each


def _container(found: Object, field: str) -> Container:
    quantities = {
        name: parse_quantity(limit)
        for name, limit in mapping(found, "resources", LIMITS).items()
        if isinstance(limit, str)
    }
    return Container(
        ContainerName(text(found, "name")),
        tuple(
            (ResourceName(name), int(quantity))
            for name, quantity in quantities.items()
            if quantity.denominator == 1
        ),
        kind_of(found, field),
        compute_devices=compute_devices(found),
    )


def _field(pod: Pod, place: int) -> str:
    before = len(pod.init_containers)
    if place < before:
        return f"spec.initContainers[{place}]"
    return f"spec.containers[{place - before}]"
