"""What an API server accepts as a ResourceBinding (persistence-designs 1.1, details 28).

Devices are bound once: the same content is accepted again, other content never, and nothing takes
a device away from a container or exchanges it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from simulator.core.devices import DeviceId
from simulator.core.pods import Container, ContainerKind, ContainerName, Pod, PodUid
from simulator.core.resources import ResourceName

BoundKey = tuple[ContainerName, ResourceName]
"""What devices are bound to."""

BoundDevices = Mapping[BoundKey, tuple[DeviceId, ...]]
"""Devices of a pod's containers, as a ResourceBinding names them."""

HolderOf = Callable[[ResourceName, DeviceId], PodUid | None]
"""Returns the pod on the same node that a device is bound to."""


@dataclass(frozen=True, slots=True)
class BindingRefused:
    """Why a binding is refused; it changed nothing.

    Attributes:
        code: 422 for content that no pod like this can have, 409 for devices that are taken.
        reason: Kubernetes' reason for that code.
    """

    code: int
    reason: str
    message: str


def bind(pod: Pod, asked: BoundDevices, holder_of: HolderOf | None = None) -> Pod | BindingRefused:
    """Return the pod with its devices bound; itself when they are bound already.

    Args:
        pod: The pod with its limits, and what is bound already.
        asked: What is to be bound, by container and resource.
        holder_of: Refuses devices that another pod has; None if nobody looks.
    """
    for (container, resource), ids in asked.items():
        message = _unfit(pod, container, resource, ids)
        if message:
            return BindingRefused(422, "Invalid", message)
    for (container, resource), ids in asked.items():
        bound = pod.container_named(container).bound_to(resource)
        if bound is not None and sorted(bound) != sorted(ids):
            message = (
                f'container "{container}" of pod "{pod.name}" is bound to other devices of '
                f"{resource}: {', '.join(sorted(bound))}; devices are neither removed nor exchanged"
            )
            return BindingRefused(409, "Conflict", message)
    added = {
        (container, resource): ids
        for (container, resource), ids in asked.items()
        if pod.container_named(container).bound_to(resource) is None
    }
    if not added:
        return pod
    bound_pod = _with(pod, added)
    message = _shared(bound_pod)
    if message:
        return BindingRefused(422, "Invalid", message)
    for (_, resource), ids in added.items():
        for device in ids:
            holder = holder_of(resource, device) if holder_of is not None else None
            if holder not in {None, pod.uid}:
                message = f"device {device} of {resource} is bound to pod {holder}"
                return BindingRefused(409, "Conflict", message)
    return bound_pod


def _unfit(
    pod: Pod, container: ContainerName, resource: ResourceName, ids: tuple[DeviceId, ...]
) -> str:
    """Return why a container cannot have these devices; empty when it can."""
    found = next((each for each in pod.all_containers() if each.name == container), None)
    if found is None:
        names = ", ".join(each.name for each in pod.all_containers())
        return f'pod "{pod.name}" has no container "{container}"; it has: {names}'
    limit = dict(found.limits).get(resource, 0)
    if not limit:
        return f'container "{container}" has no limit of {resource}'
    if len(ids) != limit:
        return (
            f'container "{container}" is limited to {limit} {resource}, '
            f"but {len(ids)} device IDs are given"
        )
    if len(set(ids)) != len(ids):
        return f'container "{container}" is given a device of {resource} twice'
    return ""


def _with(pod: Pod, added: BoundDevices) -> Pod:
    def bound(container: Container) -> Container:
        own = tuple((key[1], ids) for key, ids in added.items() if key[0] == container.name)
        if not own:
            return container
        return replace(container, compute_devices=(*container.compute_devices, *own))

    return replace(
        pod,
        init_containers=tuple(map(bound, pod.init_containers)),
        containers=tuple(map(bound, pod.containers)),
    )


def _shared(pod: Pod) -> str:
    """Return which device stands under two containers; init containers may share (S3.2).

    Up to 1.28 the kubelet hands on what a sidecar has, and the server does not know its version.
    """
    seen: dict[tuple[ResourceName, DeviceId], ContainerName] = {}
    for container in pod.all_containers():
        if container.kind is not ContainerKind.REGULAR:
            continue
        for resource, ids in container.compute_devices:
            for device in ids:
                other = seen.setdefault((resource, device), container.name)
                if other != container.name:
                    both = f'"{other}" and "{container.name}"'
                    return f"device {device} of {resource} is given to {both}"
    return ""
