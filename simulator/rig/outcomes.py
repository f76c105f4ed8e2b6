"""What came of asking a node for something: a started container, a refusal, or nothing in time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from simulator.core.allocate_response import DeviceSpec, Mount
from simulator.core.devices import DeviceId
from simulator.core.pods import PodUid
from simulator.core.resources import ResourceName
from simulator.errors import RebindError


@dataclass(frozen=True, slots=True)
class StartedContainer:
    """What a container was started with.

    Attributes:
        pod: The pod's name, for `delete`.
        devices: The ids that it has, by resource, in the kubelet's order.
        envs, mounts, device_nodes, annotations, cdi_devices: What the plugins asked for, merged as
            the kubelet merges it (S10).
    """

    pod: str
    uid: PodUid
    container: str
    devices: Mapping[ResourceName, tuple[DeviceId, ...]] = field(default_factory=dict)
    envs: Mapping[str, str] = field(default_factory=dict)
    mounts: tuple[Mount, ...] = ()
    device_nodes: tuple[DeviceSpec, ...] = ()
    annotations: Mapping[str, str] = field(default_factory=dict)
    cdi_devices: tuple[str, ...] = ()


class PodRefusedError(RebindError):
    """The kubelet refused a pod, or could not start its container.

    Attributes:
        pod: The pod's name.
        reason: The kubelet's reason, e.g. `UnexpectedAdmissionError`.
        message: The kubelet's message.
    """

    def __init__(self, pod: str, reason: str, message: str) -> None:
        super().__init__(f"pod {pod} was refused: {reason}: {message}")
        self.pod = pod
        self.reason = reason
        self.message = message


class KubeletPanickedError(RebindError):
    """The kubelet of this version crashes over what a plugin did (S3.14, S7.7)."""


class NotInTimeError(RebindError, TimeoutError):
    """Something that was waited for did not happen in time; the message says what did."""
