"""A pod as the API shows it, reduced to what a diagnosis looks at."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from simulator.core.pods import ContainerKind, ContainerName, PodUid
from simulator.core.resources import ResourceName


@dataclass(frozen=True, slots=True)
class ShownDevice:
    """A device in a container's status (allocatedResourcesStatus, S9.2)."""

    resource: ResourceName
    device: str
    health: str


@dataclass(frozen=True, slots=True)
class ObservedContainer:
    """One container.

    Attributes:
        limits: Extended resources only.
        state: `waiting`, `running` or `terminated`; empty when the status does not say.
        reason, message: Of the state.
        last_reason, last_message: Of how its instance before ended, which a waiting one waits for.
        exit_code: Of a terminated one; None for others.
        has_begun: Whether it ever had an instance.
        devices: What the status says that it holds; only since 1.36, and not of init containers.
    """

    name: ContainerName
    kind: ContainerKind = ContainerKind.REGULAR
    limits: tuple[tuple[ResourceName, int], ...] = ()
    state: str = ""
    reason: str = ""
    message: str = ""
    last_reason: str = ""
    last_message: str = ""
    exit_code: int | None = None
    restarts: int = 0
    has_begun: bool = False
    devices: tuple[ShownDevice, ...] = ()


@dataclass(frozen=True, slots=True)
class ObservedPod:
    """One pod.

    Attributes:
        node: Empty while it is not scheduled.
        phase, reason, message: Of the status.
        owner: The controller, e.g. `ReplicaSet trainer-5d8f`; empty for a bare pod.
        started: When a kubelet first took it up, as the status writes it; empty if it does not.
        deleting: Whether it has a deletion timestamp.
        unscheduled: What the scheduler says about it; empty when it is scheduled.
        resize_pending: Why a change of its resources waits (S13.6); empty when none does.
        containers: Init containers first, in spec order.
    """

    uid: PodUid
    name: str
    namespace: str = "default"
    node: str = ""
    phase: str = ""
    reason: str = ""
    message: str = ""
    owner: str = ""
    started: str = ""
    deleting: bool = False
    unscheduled: str = ""
    resize_pending: str = ""
    containers: tuple[ObservedContainer, ...] = ()

    def requests(self) -> Iterator[tuple[ObservedContainer, ResourceName, int]]:
        """Iterate over what its containers want of extended resources, limits of 0 included."""
        for container in self.containers:
            for resource, count in container.limits:
                yield container, resource, count

    def wants_devices(self) -> bool:
        """Tell whether any container has a limit of an extended resource that is not 0."""
        return any(count for _, _, count in self.requests())

    def has_begun(self) -> bool:
        """Tell whether any container ever had an instance."""
        return any(container.has_begun for container in self.containers)


@dataclass(frozen=True, slots=True)
class ObservedEvent:
    """An event.

    Attributes:
        severity: `Normal` or `Warning`; empty when the text does not say.
        subject: Uid, else name, of what it is about; empty when the text does not say.
    """

    severity: str
    reason: str
    message: str
    subject: str = ""
