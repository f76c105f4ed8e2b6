"""Refusals that come from the API: devices that it assigns, and what the server says to a binding.

No kubelet has them, for none has `BindResource` (persistence-designs 1.1); the texts are ours.
"""

from __future__ import annotations

from dataclasses import dataclass

from typing_extensions import override

from simulator.core.behavior import Behavior
from simulator.core.devices import DeviceId
from simulator.core.pods import PodUid
from simulator.core.refusals import Refusal
from simulator.core.resources import ResourceName


@dataclass(frozen=True, slots=True)
class AssignedDeviceBusy(Refusal):
    """A device that the pod's spec names is in use.

    Attributes:
        holder: The pod that has it; None when an allocation under way has reserved it.
    """

    resource: ResourceName
    device: DeviceId
    holder: PodUid | None

    @override
    def text(self, behavior: Behavior) -> str:
        by = "an allocation under way" if self.holder is None else f"pod {self.holder}"
        return (
            f"device {self.device} of {self.resource}, assigned in the pod's spec, is held by {by}"
        )


@dataclass(frozen=True, slots=True)
class AssignedDeviceAbsent(Refusal):
    """A device that the pod's spec names is not one of the node's."""

    resource: ResourceName
    device: DeviceId

    @override
    def text(self, behavior: Behavior) -> str:
        return (
            f"device {self.device} of {self.resource}, assigned in the pod's spec, "
            "is not on this node"
        )


@dataclass(frozen=True, slots=True)
class AssignedDeviceUnhealthy(Refusal):
    """A device that the pod's spec names is unhealthy."""

    resource: ResourceName
    device: DeviceId

    @override
    def text(self, behavior: Behavior) -> str:
        return f"device {self.device} of {self.resource}, assigned in the pod's spec, is unhealthy"


@dataclass(frozen=True, slots=True)
class AssignedCountDiffers(Refusal):
    """The pod's spec names another number of devices than the container's limit."""

    resource: ResourceName
    assigned: int
    requested: int

    @override
    def text(self, behavior: Behavior) -> str:
        return (
            f"the pod's spec assigns {self.assigned} devices of {self.resource}, "
            f"its limit is {self.requested}"
        )


@dataclass(frozen=True, slots=True)
class DevicesNotBound(Refusal):
    """The API server refused to take the pod's devices.

    Attributes:
        message: The server's text.
    """

    message: str

    @override
    def text(self, behavior: Behavior) -> str:
        return f"the API server refused the pod's devices: {self.message}"
