"""Refusals that come from the API: devices that it assigns, and what the server says to a binding.

No kubelet has them, for none has `BindResource` (persistence-designs 1.1); the texts are ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from typing_extensions import override

from simulator.core.behavior import Behavior
from simulator.core.devices import DeviceId
from simulator.core.pods import PodUid
from simulator.core.refusals import Refusal
from simulator.core.resources import ResourceName

ABSENT: Final = "is not on this node"
UNHEALTHY: Final = "is unhealthy"


def held_by(pod: PodUid | None) -> str:
    """Return that a device is in use; by no pod when an allocation under way has reserved it."""
    return "is held by " + ("an allocation under way" if pod is None else f"pod {pod}")


@dataclass(frozen=True, slots=True)
class AssignedDeviceUnfit(Refusal):
    """A device that the pod's spec names cannot be given to it.

    Attributes:
        why: `ABSENT`, `UNHEALTHY`, or who has it (`held_by`).
    """

    resource: ResourceName
    device: DeviceId
    why: str

    @override
    def text(self, behavior: Behavior) -> str:
        return f"device {self.device} of {self.resource}, assigned in the pod's spec, {self.why}"


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
