"""What the core asks of the API server, as values; beside the calls of `simulator.core.calls`.

Persistence strategies that keep device bindings in the API yield them. The driver sends them
through the kubelet's client, whose limiter may hold them back, and resumes the decision with the
reply. Of a request that was not answered nobody knows whether it was carried out: it is asked again
with the same content, which the server takes as done (W6 of the persistence designs).

A server answers for the pod with the `uid` that is meant: another pod of the same name is another
pod, so the one that was meant is gone (W7).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from simulator.core.transitions import DeviceBinding, NodeName, PodIdentity


@dataclass(frozen=True, slots=True)
class BindDevices:
    """`BindResource`: POST `pods/NAME/resourcebinding` (persistence-designs 1.1).

    The server copies the devices into the containers that are named; other containers of the pod
    stay as they are. Reply: `ApiStored | ApiRefused | ApiUnavailable`.

    Attributes:
        bindings: The devices of one or more containers of the pod; only ids are sent.
        bulk: Whether the client may send it in one request with others that wait for their turn
            (`bulkBind`, which is not Kubernetes).
    """

    pod: PodIdentity
    bindings: tuple[DeviceBinding, ...]
    bulk: bool = False


@dataclass(frozen=True, slots=True)
class BindManyDevices:
    """Several `BindDevices` in one request: POST `resourcebindings`, which is not Kubernetes.

    Reply: `ApiAnsweredEach | ApiUnavailable`.
    """

    requests: tuple[BindDevices, ...]


@dataclass(frozen=True, slots=True)
class AwaitEcho:
    """Wait until the kubelet's own pod watch shows a write. Reply: `ApiStored`.

    Nothing is sent. While the API server cannot be reached there is no reply.

    Attributes:
        revision: As the write was answered.
    """

    pod: PodIdentity
    revision: int


@dataclass(frozen=True, slots=True)
class PutDeviceBinding:
    """Create the pod's DeviceBinding object, or update it.

    Reply: `ApiStored | ApiRefused | ApiUnavailable`. An object of that name that is already there
    refuses a creation with `AlreadyExists`; another revision refuses an update with `Conflict`.

    Attributes:
        node: The node that holds the devices, `spec.nodeName`.
        bindings: All that the pod has; ids and NUMA nodes are sent.
        replaces: The revision that is replaced; None to create the object.
    """

    node: NodeName
    pod: PodIdentity
    bindings: tuple[DeviceBinding, ...]
    replaces: int | None = None


@dataclass(frozen=True, slots=True)
class GetDeviceBinding:
    """Read the DeviceBinding object of the pod's name, whichever pod it is of.

    Reply: `DeviceBindingsListed` with at most one object, or `ApiUnavailable`.
    """

    pod: PodIdentity


@dataclass(frozen=True, slots=True)
class RemoveDeviceBinding:
    """Delete the DeviceBinding object of the pod's name if it still has this revision.

    Reply: `ApiStored | ApiRefused | ApiUnavailable`; 404 when it is gone.
    """

    pod: PodIdentity
    revision: int


@dataclass(frozen=True, slots=True)
class ListDeviceBindings:
    """Read the DeviceBinding objects of a node. Reply: `DeviceBindingsListed | ApiUnavailable`."""

    node: NodeName


SentCall = (
    BindDevices
    | BindManyDevices
    | PutDeviceBinding
    | GetDeviceBinding
    | RemoveDeviceBinding
    | ListDeviceBindings
)
"""What the client sends."""

ApiCall = SentCall | AwaitEcho


@dataclass(frozen=True, slots=True)
class ApiStored:
    """The server has done it, now or before.

    Attributes:
        revision: The object's resourceVersion.
    """

    revision: int


_UNAUTHORIZED: Final = 401
_FORBIDDEN: Final = 403


@dataclass(frozen=True, slots=True)
class ApiRefused:
    """The server will not do it; asking again changes nothing, unless this client was forbidden to.

    Attributes:
        code: The HTTP status code.
        reason: Kubernetes' reason, e.g. `Conflict`.
        message: The server's text.
        gone: Whether the pod that was meant is not there any more: there is none of its name, or
            the one that has its name has another UID.
    """

    code: int
    reason: str
    message: str
    gone: bool = False

    @property
    def is_forbidden(self) -> bool:
        """Whether it is about who asks: it says nothing of what was asked, and may be lifted.

        A token that has run out and rules that are not there yet are usual in a cluster; no
        Kubernetes component gives up for them.
        """
        return self.code in {_UNAUTHORIZED, _FORBIDDEN}


@dataclass(frozen=True, slots=True)
class ApiUnavailable:
    """The server gave no answer; nobody knows whether it was carried out.

    Attributes:
        message: The cause.
    """

    message: str


@dataclass(frozen=True, slots=True)
class ApiAnsweredEach:
    """The answers to the requests of a `BindManyDevices`, in their order."""

    replies: tuple[ApiStored | ApiRefused, ...]


@dataclass(frozen=True, slots=True)
class BindingObject:
    """A DeviceBinding object of the API, one per pod.

    Attributes:
        pod: Whose it is: namespace and name are the object's, the uid is its `spec.podUID`.
        node: Its `spec.nodeName`.
        bindings: What it says; without the plugin's responses.
        revision: Its resourceVersion.
    """

    pod: PodIdentity
    node: NodeName
    bindings: tuple[DeviceBinding, ...]
    revision: int


@dataclass(frozen=True, slots=True)
class DeviceBindingsListed:
    """DeviceBinding objects as the server has them, in its order."""

    objects: tuple[BindingObject, ...]


ApiReply = ApiStored | ApiRefused | ApiUnavailable | ApiAnsweredEach | DeviceBindingsListed
