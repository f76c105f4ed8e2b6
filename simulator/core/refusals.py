"""Why a container or pod is not admitted: values that know the kubelet's words for themselves.

The texts are the kubelet's own, since users and operators match on them (S3, S13); `refused` is the
one place where a refusal becomes the answer to a pod. The same values are what a container start
fails with (S3.25).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Final

from typing_extensions import override

from simulator.config import CHECKPOINT_FILE_NAME
from simulator.core.behavior import Behavior
from simulator.core.pods import ContainerName, PodUid
from simulator.core.resources import ResourceName

UNEXPECTED_ADMISSION_ERROR: Final = "UnexpectedAdmissionError"
TOPOLOGY_AFFINITY_ERROR: Final = "TopologyAffinityError"


@dataclass(frozen=True, slots=True)
class Admission:
    """The answer to a pod (PodAdmitResult).

    Attributes:
        admitted: Whether the pod may start.
        reason: The kubelet's reason, e.g. `UnexpectedAdmissionError`; empty when admitted.
        message: The kubelet's message without the status prefix; empty when admitted.
        retry: Whether the driver asks again: when the plugin reports devices, only under
            `readmission: wait`, which no kubelet does (S13.5); or later, when the API server has
            not said whether the pod may start.
    """

    admitted: bool
    reason: str = ""
    message: str = ""
    retry: bool = False


ADMITTED: Final = Admission(admitted=True)


class Refusal(ABC):
    """Why a container does not get its devices."""

    __slots__ = ()

    @abstractmethod
    def text(self, behavior: Behavior) -> str:
        """Return the kubelet's words for it."""


@dataclass(frozen=True, slots=True)
class RequestChanged(Refusal):
    """The container has a record with another number of devices (step A)."""

    pod: PodUid
    container: ContainerName
    resource: ResourceName
    recorded: int
    requested: int

    @override
    def text(self, behavior: Behavior) -> str:
        return (
            f'pod "{self.pod}" container "{self.container}" changed request for resource '
            f'"{self.resource}" from {self.recorded} to {self.requested}'
        )


@dataclass(frozen=True, slots=True)
class ResourceUnregistered(Refusal):
    """Pods hold devices of the resource, but it has no device list (step C)."""

    resource: ResourceName

    @override
    def text(self, behavior: Behavior) -> str:
        cannot = "can't" if behavior.contracted_unregistered_text else "cannot"
        return f"{cannot} allocate unregistered device {self.resource}"


@dataclass(frozen=True, slots=True)
class NoHealthyDevices(Refusal):
    """The resource has no healthy device at all (step D)."""

    resource: ResourceName

    @override
    def text(self, behavior: Behavior) -> str:
        return f"no healthy devices present; cannot allocate unhealthy devices {self.resource}"


@dataclass(frozen=True, slots=True)
class RecordedDevicesUnhealthy(Refusal):
    """A device that the container already has is unhealthy or gone (step E)."""

    resource: ResourceName

    @override
    def text(self, behavior: Behavior) -> str:
        return (
            "previously allocated devices are no longer healthy; "
            f"cannot allocate unhealthy devices {self.resource}"
        )


@dataclass(frozen=True, slots=True)
class DevicesUnavailable(Refusal):
    """Too few devices are free (step I).

    Attributes:
        requested: What is still needed, not the whole request.
    """

    resource: ResourceName
    requested: int
    available: int

    @override
    def text(self, behavior: Behavior) -> str:
        return (
            f"requested number of devices unavailable for {self.resource}. "
            f"Requested: {self.requested}, Available: {self.available}"
        )


@dataclass(frozen=True, slots=True)
class AllocatedTooFew(Refusal):
    """All groups were exhausted, although enough devices had been counted (steps K, L)."""

    requested: int
    allocated: int

    @override
    def text(self, behavior: Behavior) -> str:
        return (
            "unexpectedly allocated less resources than required. "
            f"Requested: {self.requested}, Got: {self.allocated}"
        )


@dataclass(frozen=True, slots=True)
class EndpointUnknown(Refusal):
    """The resource has devices but no endpoint (S3.10)."""

    resource: ResourceName

    @override
    def text(self, behavior: Behavior) -> str:
        return f"unknown Device Plugin {self.resource}"


@dataclass(frozen=True, slots=True)
class EndpointNotCached(Refusal):
    """An optional call cannot be made, since the resource has no endpoint (S3.18, S3.22.1)."""

    resource: ResourceName

    @override
    def text(self, behavior: Behavior) -> str:
        return f"endpoint not found in cache for a registered resource: {self.resource}"


@dataclass(frozen=True, slots=True)
class AllocateFailed(Refusal):
    """The plugin's Allocate failed; the text is the call's own (S3.12)."""

    message: str

    @override
    def text(self, behavior: Behavior) -> str:
        return self.message


@dataclass(frozen=True, slots=True)
class PreferredAllocationFailed(Refusal):
    """The plugin's GetPreferredAllocation failed (steps K, L)."""

    message: str

    @override
    def text(self, behavior: Behavior) -> str:
        return f"device plugin GetPreferredAllocation rpc failed with err: {self.message}"


@dataclass(frozen=True, slots=True)
class PreStartFailed(Refusal):
    """The plugin's PreStartContainer failed (S3.22.1)."""

    message: str

    @override
    def text(self, behavior: Behavior) -> str:
        return f"device plugin PreStartContainer rpc failed with err: {self.message}"


@dataclass(frozen=True, slots=True)
class EmptyAllocateResponse(Refusal):
    """The plugin's answer to Allocate has no container responses (S3.13).

    Go's gogo messages print themselves although they are empty, google's print nothing.
    """

    @override
    def text(self, behavior: Behavior) -> str:
        dump = (
            "&AllocateResponse{ContainerResponses:[]*ContainerAllocateResponse{},}"
            if behavior.dumped_empty_response
            else ""
        )
        return f"no containers return in allocation response {dump}"


@dataclass(frozen=True, slots=True)
class NoRecordedDevices(Refusal):
    """PreStartContainer is due for a container without a record (S3.22.1)."""

    pod: PodUid
    container: ContainerName
    resource: ResourceName

    @override
    def text(self, behavior: Behavior) -> str:
        return (
            f"no devices found allocated in local cache for pod {self.pod}, "
            f"container {self.container}, resource {self.resource}"
        )


@dataclass(frozen=True, slots=True)
class CheckpointNotWritten(Refusal):
    """The checkpoint file could not be replaced (S3.15)."""

    cause: str

    @override
    def text(self, behavior: Behavior) -> str:
        return f'failed to write checkpoint file "{CHECKPOINT_FILE_NAME}": {self.cause}'


@dataclass(frozen=True, slots=True)
class StateNotCommitted(Refusal):
    """The database did not commit; no kubelet has this refusal."""

    cause: str

    @override
    def text(self, behavior: Behavior) -> str:
        return f"failed to commit device bindings to the database: {self.cause}"


@dataclass(frozen=True, slots=True)
class HeldByOtherPod(Refusal):
    """The database refused a second holder; the text is the store's."""

    message: str

    @override
    def text(self, behavior: Behavior) -> str:
        return self.message


@dataclass(frozen=True, slots=True)
class NoTopologyLocality(Refusal):
    """The topology manager's policy does not admit the merged hint (S13.2)."""

    @override
    def text(self, behavior: Behavior) -> str:
        return "Resources cannot be allocated with Topology locality"


NOT_KEPT: Final = (StateNotCommitted, HeldByOtherPod)
"""Refusals by the database; no kubelet has them."""

PLUGIN_AWAY: Final = (ResourceUnregistered, NoHealthyDevices, RecordedDevicesUnhealthy)
"""Refusals that can end by themselves when the plugin reports its devices (steps C, D, E)."""


def refused(refusal: Refusal, behavior: Behavior, *, retry: bool = False) -> Admission:
    """Return the kubelet's answer to a pod that is refused for this cause (S13.1, S13.2).

    Kubelet: GetPodAdmitResult (topologymanager).
    """
    text = refusal.text(behavior)
    if isinstance(refusal, NoTopologyLocality):
        return Admission(admitted=False, reason=TOPOLOGY_AFFINITY_ERROR, message=text)
    if behavior.allocation_by_predicates:
        message = f"Update plugin resources failed due to {text}, which is unexpected."
    else:
        message = f"Allocate failed due to {text}, which is unexpected"
    return Admission(
        admitted=False,
        reason=UNEXPECTED_ADMISSION_ERROR,
        message=message,
        retry=retry,
    )


def stopped_endpoint_text(resource: ResourceName) -> str:
    """Return what a call to a stopped endpoint fails with (S1.27).

    Differs: the kubelet prints a dump of the endpoint where the resource stands here.
    """
    return f"endpoint &{{{resource}}} has been stopped"
