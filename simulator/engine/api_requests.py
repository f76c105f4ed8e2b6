"""What a kubelet asks of its API server, as values, and the answers.

A persistence strategy's own requests are values of the core (`simulator.core.api_calls`); these are
the kubelet's others. A transport (`simulator.engine.ports.ApiTransport`) carries both kinds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from simulator.core.api_calls import (
    ApiReply,
    BindDevices,
    BindManyDevices,
    GetDeviceBinding,
    ListDeviceBindings,
    PutDeviceBinding,
    RemoveDeviceBinding,
    SentCall,
)
from simulator.core.records import EventEmitted
from simulator.core.resources import ResourceName
from simulator.core.transitions import DeviceBinding, NodeName, PodIdentity
from simulator.engine.api_objects import PodStatus


@dataclass(frozen=True, slots=True)
class GetPod:
    """Read a pod (S12.4). Reply: `PodRead | ApiUnavailable`."""

    pod: PodIdentity


@dataclass(frozen=True, slots=True)
class PatchPodStatus:
    """Patch a pod's status; the patch carries the UID (S12.4). Reply: an `ApiReply`.

    Attributes:
        devices: The device bindings that ride in the status (persistence `pod-status`).
    """

    pod: PodIdentity
    status: PodStatus
    devices: tuple[DeviceBinding, ...] = ()


@dataclass(frozen=True, slots=True)
class DeletePod:
    """Delete a pod for good: grace 0 and a UID precondition (S12.4). Reply: an `ApiReply`."""

    pod: PodIdentity


@dataclass(frozen=True, slots=True)
class PatchNodeStatus:
    """Report the node (S2.13, S12.6). Reply: an `ApiReply`."""

    node: NodeName
    capacity: dict[ResourceName, int]
    allocatable: dict[ResourceName, int]
    boot_id: str


@dataclass(frozen=True, slots=True)
class RenewLease:
    """Renew the node's lease (S12.6). Reply: an `ApiReply`."""

    node: NodeName


@dataclass(frozen=True, slots=True)
class CreateEvent:
    """Post an event (S12.8). Reply: an `ApiReply`."""

    node: NodeName
    event: EventEmitted


@dataclass(frozen=True, slots=True)
class PodRead:
    """The answer to `GetPod`.

    Attributes:
        status: None when there is no such pod, or one of another UID has its name.
        devices: The device bindings that the status carries.
    """

    status: PodStatus | None
    devices: tuple[DeviceBinding, ...] = ()


ApiRequest = (
    GetPod | PatchPodStatus | DeletePod | PatchNodeStatus | RenewLease | CreateEvent | SentCall
)
RequestReply = ApiReply | PodRead


def of_persistence(reply: RequestReply) -> ApiReply:
    """Return the answer to a request of a persistence strategy.

    Raises:
        TypeError: The transport answered as to another request.
    """
    if isinstance(reply, PodRead):
        message = f"a request of the persistence cannot be answered with {reply}"
        raise TypeError(message)
    return reply


_CALLED: Final[dict[type[object], str]] = {
    GetPod: "GET pods",
    PatchPodStatus: "PATCH pods/status",
    DeletePod: "DELETE pods",
    PatchNodeStatus: "PATCH nodes/status",
    RenewLease: "PUT leases",
    CreateEvent: "POST events",
    BindDevices: "POST pods/resourcebinding",
    BindManyDevices: "POST resourcebindings",
    PutDeviceBinding: "PUT devicebindings",
    GetDeviceBinding: "GET devicebindings",
    RemoveDeviceBinding: "DELETE devicebindings",
    ListDeviceBindings: "LIST devicebindings",
}


def name_of(request: ApiRequest) -> str:
    """Return a request's verb and kind, as calls are counted: `PATCH pods/status`."""
    return _CALLED[type(request)]
