"""Objects of the API: pods and nodes, with the fields that matter here."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from simulator.core.instants import Instant
from simulator.core.pods import Pod, PodUid
from simulator.core.resources import ResourceName
from simulator.core.transitions import DeviceBinding, NodeName
from simulator.engine.pod_requests import pod_request
from simulator.engine.spec import PodSpec

PENDING: Final = "Pending"
RUNNING: Final = "Running"
SUCCEEDED: Final = "Succeeded"
FAILED: Final = "Failed"
DELETED: Final = "Deleted"
TERMINAL_PHASES: Final = (SUCCEEDED, FAILED)

NO_NODE: Final = NodeName("")
"""Stamped on what happens to a pod that has no node."""


@dataclass(frozen=True, slots=True)
class PodStatus:
    """What a kubelet says about a pod.

    Attributes:
        waiting: Why a container does not start, e.g. `CreateContainerConfigError: <cause>`.
        taken_up: Whether its kubelet has said that it makes the pod ready (`ContainerCreating`).
        restarts: In-place container restarts.
    """

    phase: str = PENDING
    reason: str = ""
    message: str = ""
    waiting: str = ""
    restarts: int = 0
    taken_up: bool = False

    @property
    def is_terminal(self) -> bool:
        """Whether the pod has ended for good."""
        return self.phase in TERMINAL_PHASES


@dataclass(eq=False)
class ApiPod:
    """A pod object.

    Attributes:
        spec: What it was made from.
        pod: Its identity and containers.
        node: Where it is bound.
        deleting: Whether it has a deletion timestamp.
        unschedulable: Whether the scheduler found no node for it.
        status_devices: What its status says of its devices (persistence `pod-status`).
        revision: Grows with each change of the object.
        number: Its place in the order of creation.
        request: What it asks for, by resource.
    """

    spec: PodSpec
    pod: Pod
    node: NodeName | None = None
    status: PodStatus = field(default_factory=PodStatus)
    deleting: bool = False
    deleted: bool = False
    unschedulable: bool = False
    status_devices: tuple[DeviceBinding, ...] = ()
    revision: int = 0
    number: int = 0
    request: dict[ResourceName, int] = field(init=False)

    def __post_init__(self) -> None:
        """Count once what the pod asks for."""
        self.request = pod_request(self.pod)

    @property
    def is_decided(self) -> bool:
        """Whether it runs or has ended, or waits for something that it names."""
        status = self.status
        is_begun = status.phase != PENDING or bool(status.waiting)
        return self.deleted or self.unschedulable or is_begun

    @property
    def uid(self) -> PodUid:
        """The pod's uid."""
        return self.pod.uid


@dataclass(eq=False)
class ApiNode:
    """A Node object; a capacity key, once there, stays with value 0 (S2.13).

    Attributes:
        cordoned: Whether schedulers bind no pods to it (`spec.unschedulable`).
    """

    name: NodeName
    capacity: dict[ResourceName, int] = field(default_factory=dict)
    allocatable: dict[ResourceName, int] = field(default_factory=dict)
    boot_id: str = ""
    heartbeat: Instant | None = None
    cordoned: bool = False
