"""Pods and containers, reduced to what the device manager looks at."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import NewType

from simulator.core.devices import DeviceId
from simulator.core.instants import Instant
from simulator.core.resources import ResourceName

PodUid = NewType("PodUid", str)
"""A pod's UID: what the kubelet and the checkpoint know a pod by."""

ContainerName = NewType("ContainerName", str)
"""A container's name, unique within its pod."""


ComputeDevices = tuple[tuple[ResourceName, tuple[DeviceId, ...]], ...]
"""Ids by resource, as a container's spec names them: `ComputeDevice` of persistence-designs 1.1."""


class ContainerKind(Enum):
    """How a container's devices are shared with the others of its pod (S3.2, S3.3)."""

    INIT = "init"
    SIDECAR = "sidecar"
    REGULAR = "regular"


@dataclass(frozen=True, slots=True)
class Container:
    """One container.

    Attributes:
        name: Unique within the pod.
        limits: Whole numbers by resource, in the order of the manifest. The device manager looks at
            limits only (S3.5).
        kind: Plain init container, restartable init container (sidecar), or regular.
        claimed_resources: Resources that a DRA claim serves instead (S3.6).
        compute_devices: The devices that the pod's spec in the API binds to it; a resource once
            bound keeps its devices.
    """

    name: ContainerName
    limits: tuple[tuple[ResourceName, int], ...] = ()
    kind: ContainerKind = ContainerKind.REGULAR
    claimed_resources: frozenset[ResourceName] = frozenset()
    compute_devices: ComputeDevices = ()

    def bound_to(self, resource: ResourceName) -> tuple[DeviceId, ...] | None:
        """Return the devices that the spec binds to it; None when it says nothing."""
        return next((ids for name, ids in self.compute_devices if name == resource), None)


@dataclass(frozen=True, slots=True)
class Pod:
    """One pod.

    Attributes:
        uid: Identity across restarts.
        init_containers: In spec order; kinds INIT and SIDECAR.
        containers: In spec order; kind REGULAR.
        created: Creation time; the first batch after a start is sorted by it (S5.7).
        static: Whether it stands in a file on its node (S5.3): nothing can be written into it, and
            what the API has of it is a mirror.
    """

    uid: PodUid
    name: str
    namespace: str = "default"
    init_containers: tuple[Container, ...] = ()
    containers: tuple[Container, ...] = ()
    created: Instant = field(default=Instant(0), compare=False)
    static: bool = False

    def all_containers(self) -> Iterator[Container]:
        """Iterate in the order of admission: init containers, then regular ones (S3.1)."""
        yield from self.init_containers
        yield from self.containers

    def container_named(self, name: ContainerName) -> Container:
        """Return the container with this name, init containers first (S3.2).

        Raises:
            KeyError: The pod has no such container.
        """
        for container in self.all_containers():
            if container.name == name:
                return container
        message = f"pod {self.uid} has no container {name!r}"
        raise KeyError(message)
