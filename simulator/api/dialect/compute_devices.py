"""The rules of devices that are named in a pod's spec (persistence-designs 1.1).

A container names devices of a resource that is in its limits, as many as the limit says, and no
device stands twice in a pod, but that an init container which is done leaves its devices to those
after it (S3.2). Devices may be added once; they are never taken away or exchanged.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from simulator.api.dialect.documents import Json, Object, containers_of, items, mapping, text, texts
from simulator.api.dialect.statuses import Cause, duplicate, invalid_value, required
from simulator.core.quantities import parse_quantity

COMPUTE_DEVICES: Final = "computeDevices"


def device_faults(pod: Object) -> Iterator[Cause]:
    """Iterate over what is wrong about the devices that a pod's spec names."""
    seen: set[tuple[str, str]] = set()
    for field in ("initContainers", "containers"):
        for index, container in enumerate(items(pod, "spec", field)):
            if container.get(COMPUTE_DEVICES):
                where = f"spec.{field}[{index}].{COMPUTE_DEVICES}"
                ends_first = field == "initContainers" and not text(container, "restartPolicy")
                held = set(seen) if ends_first else seen
                yield from _of_container(container, where, held)


def _of_container(container: Object, where: str, seen: set[tuple[str, str]]) -> Iterator[Cause]:
    limits = mapping(container, "resources", "limits")
    named: set[str] = set()
    for index, device in enumerate(items(container, COMPUTE_DEVICES)):
        at = f"{where}[{index}]"
        resource, ids = text(device, "resourceName"), texts(device, "deviceIDs")
        if not resource:
            yield required(f"{at}.resourceName")
            continue
        if resource in named:
            yield duplicate(f"{at}.resourceName", resource)
            continue
        named.add(resource)
        yield from _count_fault(text(container, "name"), resource, ids, limits.get(resource), at)
        for place, each in enumerate(ids):
            if (resource, each) in seen:
                yield duplicate(f"{at}.deviceIDs[{place}]", each)
            seen.add((resource, each))
            if not each:
                yield required(f"{at}.deviceIDs[{place}]")


def _count_fault(
    container: str, resource: str, ids: list[str], limit: Json, at: str
) -> Iterator[Cause]:
    if not isinstance(limit, str):
        why = f'container "{container}" has no limit of {resource}'
        yield invalid_value(f"{at}.resourceName", resource, why)
        return
    count = parse_quantity(limit)
    if count != len(ids):
        why = f"{len(ids)} devices, must be equal to {resource} limit of {count}"
        yield invalid_value(f"{at}.deviceIDs", list(ids), why)


def named_devices(pod: Object) -> Iterator[tuple[str, str]]:
    """Iterate over the resources and ids of the devices that a pod's spec names."""
    for container in containers_of(pod):
        for device in items(container, COMPUTE_DEVICES):
            for each in texts(device, "deviceIDs"):
                yield text(device, "resourceName"), each
