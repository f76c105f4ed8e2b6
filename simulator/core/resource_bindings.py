"""What an API server accepts of devices in a pod's spec (persistence-designs 1.1, details 28).

A container names devices of a resource that is in its limits, as many as the limit says, and no two
containers name the same. Devices are bound once: the same content is accepted again, other content
never, and nothing takes a device away from a container or exchanges it.

What is wrong is said in values, from which each server makes its own words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum

from simulator.core.devices import DeviceId
from simulator.core.pods import ComputeDevices, Container, ContainerKind, ContainerName, Pod
from simulator.core.resources import ResourceName

BoundKey = tuple[ContainerName, ResourceName]
"""What devices are bound to."""

BoundDevices = Mapping[ContainerName, ComputeDevices]
"""Devices of a pod's containers, as a ResourceBinding names them."""

HolderOf = Callable[[ResourceName, DeviceId], "str | None"]
"""Returns the pod (`namespace/name`) on the same node that a device is bound to."""


class FaultKind(Enum):
    """What can be wrong about devices that a container names."""

    NO_RESOURCE = "no resource is named"
    RESOURCE_TWICE = "a resource is named twice"
    NO_LIMIT = "the resource is not in the container's limits"
    OTHER_COUNT = "there are more or fewer devices than the limit"
    NO_DEVICE = "a device has no id"
    DEVICE_TWICE = "a device is given twice"


@dataclass(frozen=True, slots=True)
class DeviceFault:
    """One thing that is wrong about the devices that a pod's spec names.

    Attributes:
        kind: What it is.
        place: Of the container among all of the pod, init containers first.
        container: That container.
        entry: Of the resource among those that the container names.
        device: Of the device among those of the entry; 0 where no single one is at fault.
        other: The container that has the device already.
    """

    kind: FaultKind
    place: int
    container: Container
    entry: int
    device: int = 0
    other: ContainerName | None = None

    @property
    def resource(self) -> ResourceName:
        """The resource of the entry."""
        return self.container.compute_devices[self.entry][0]

    @property
    def ids(self) -> tuple[DeviceId, ...]:
        """The devices of the entry."""
        return self.container.compute_devices[self.entry][1]


@dataclass(frozen=True, slots=True)
class ContainersMissing:
    """A binding is for containers that the pod does not have.

    Attributes:
        names: In the order of the binding.
    """

    names: tuple[ContainerName, ...]


@dataclass(frozen=True, slots=True)
class OthersBound:
    """A container has other devices already.

    Attributes:
        ids: Those that it has, sorted.
    """

    container: ContainerName
    resource: ResourceName
    ids: tuple[DeviceId, ...]


@dataclass(frozen=True, slots=True)
class DevicesUnfit:
    """The pod cannot have these devices.

    Attributes:
        faults: At least one.
    """

    faults: tuple[DeviceFault, ...]


@dataclass(frozen=True, slots=True)
class DeviceHeld:
    """A device is another pod's.

    Attributes:
        holder: `namespace/name`.
    """

    resource: ResourceName
    device: DeviceId
    holder: str


BindingRefused = ContainersMissing | OthersBound | DevicesUnfit | DeviceHeld
"""Why a binding is refused; it changed nothing."""


def bound_devices(pairs: Iterable[tuple[BoundKey, tuple[DeviceId, ...]]]) -> BoundDevices:
    """Return devices by container, in the order given."""
    found: dict[ContainerName, ComputeDevices] = {}
    for (container, resource), ids in pairs:
        found[container] = (*found.get(container, ()), (resource, ids))
    return found


def bind(pod: Pod, asked: BoundDevices, holder_of: HolderOf | None = None) -> Pod | BindingRefused:
    """Return the pod with its devices bound, after those it has; itself when they are bound.

    Args:
        pod: The pod with its limits, and what is bound already.
        asked: What is to be bound.
        holder_of: Refuses devices that another pod has; None if nobody looks.
    """
    there = {each.name for each in pod.all_containers()}
    missing = tuple(name for name in asked if name not in there)
    if missing:
        return ContainersMissing(missing)
    for container in pod.all_containers():
        for resource, ids in asked.get(container.name, ()):
            bound = container.bound_to(resource)
            if bound is not None and sorted(bound) != sorted(ids):
                return OthersBound(container.name, resource, tuple(sorted(bound)))
    result = replace(
        pod,
        init_containers=tuple(_with(each, asked) for each in pod.init_containers),
        containers=tuple(_with(each, asked) for each in pod.containers),
    )
    if result == pod:
        return pod
    faults = tuple(device_faults(result))
    if faults:
        return DevicesUnfit(faults)
    return _held(pod, asked, holder_of) or result


def device_faults(pod: Pod) -> Iterator[DeviceFault]:
    """Iterate over what is wrong about the devices that a pod's spec names.

    Init containers may name what others do: their devices are handed on (S3.2). So may sidecars,
    since up to 1.28 the kubelet hands on theirs too, and the server does not know its version.
    """
    seen: dict[tuple[ResourceName, DeviceId], ContainerName] = {}
    for place, container in enumerate(pod.all_containers()):
        if container.compute_devices:
            held = seen if container.kind is ContainerKind.REGULAR else {}
            yield from _of_container(place, container, held)


def told(pod: Pod, refused: BindingRefused) -> str:
    """Return why a binding is refused, in one sentence."""
    match refused:
        case ContainersMissing(names):
            known = ", ".join(each.name for each in pod.all_containers())
            return f'pod "{pod.name}" has no container "{names[0]}"; it has: {known}'
        case OthersBound(container, resource, ids):
            return (
                f'container "{container}" of pod "{pod.name}" is bound to other devices of '
                f"{resource}: {', '.join(ids)}; devices are neither removed nor exchanged"
            )
        case DevicesUnfit(faults):
            return _fault_told(faults[0])
    return f"device {refused.device} of {refused.resource} is bound to pod {refused.holder}"


def _with(container: Container, asked: BoundDevices) -> Container:
    added = tuple(
        (resource, ids)
        for resource, ids in asked.get(container.name, ())
        if container.bound_to(resource) is None
    )
    if not added:
        return container
    return replace(container, compute_devices=(*container.compute_devices, *added))


def _of_container(
    place: int, container: Container, seen: dict[tuple[ResourceName, DeviceId], ContainerName]
) -> Iterator[DeviceFault]:
    limits = dict(container.limits)
    named: set[ResourceName] = set()
    for entry, (resource, ids) in enumerate(container.compute_devices):
        if not resource:
            yield DeviceFault(FaultKind.NO_RESOURCE, place, container, entry)
            continue
        if resource in named:
            yield DeviceFault(FaultKind.RESOURCE_TWICE, place, container, entry)
            continue
        named.add(resource)
        if resource not in limits:
            yield DeviceFault(FaultKind.NO_LIMIT, place, container, entry)
        elif limits[resource] != len(ids):
            yield DeviceFault(FaultKind.OTHER_COUNT, place, container, entry)
        for device, each in enumerate(ids):
            other = seen.get((resource, each))
            if other is None:
                seen[resource, each] = container.name
            else:
                yield DeviceFault(
                    FaultKind.DEVICE_TWICE, place, container, entry, device=device, other=other
                )
            if not each:
                yield DeviceFault(FaultKind.NO_DEVICE, place, container, entry, device=device)


def _fault_told(fault: DeviceFault) -> str:
    name, resource, ids = fault.container.name, fault.resource, fault.ids
    match fault.kind:
        case FaultKind.NO_RESOURCE | FaultKind.RESOURCE_TWICE | FaultKind.NO_DEVICE:
            named = resource or "no resource"
            return f'container "{name}" is given devices of {named}: {fault.kind.value}'
        case FaultKind.NO_LIMIT:
            return f'container "{name}" has no limit of {resource}'
        case FaultKind.OTHER_COUNT:
            limit = dict(fault.container.limits)[resource]
            return (
                f'container "{name}" is limited to {limit} {resource}, '
                f"but {len(ids)} device IDs are given"
            )
        case _ if fault.other == name:
            return f'container "{name}" is given a device of {resource} twice'
    return f'device {ids[fault.device]} of {resource} is given to "{fault.other}" and "{name}"'


def _held(pod: Pod, asked: BoundDevices, holder_of: HolderOf | None) -> DeviceHeld | None:
    if holder_of is None:
        return None
    own = f"{pod.namespace}/{pod.name}"
    for resource, ids in (entry for entries in asked.values() for entry in entries):
        for device in ids:
            holder = holder_of(resource, device)
            if holder not in {None, own}:
                return DeviceHeld(resource, device, str(holder))
    return None
