"""What reaches a live run from outside, as values: with it, a run can be done again.

Everything else of a run follows: which device, which pod, which record. So a recording holds,
beside the records, each answer of a plugin or of the disk and each command, at its instant.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from pydantic import TypeAdapter
from pydantic.alias_generators import to_snake

from simulator.core.devices import Device
from simulator.core.records import ListTooLarge, Record


@dataclass(frozen=True, slots=True)
class SocketsOpened(Record):
    """A kubelet's sockets were opened, or could not be.

    Attributes:
        kubelet: The number of the kubelet process on its node.
        error: Why not; empty when they were.
    """

    kubelet: int
    error: str


@dataclass(frozen=True, slots=True)
class PluginCame(Record):
    """A plugin has registered.

    Attributes:
        kubelet: With which kubelet process of the node.
        stream: The number of this registration on the node.
        watched: Whether it was found in `plugins_registry`.
    """

    kubelet: int
    stream: int
    resource_name: str
    version: str
    endpoint: str
    pre_start_required: bool
    preferred_allocation: bool
    watched: bool


@dataclass(frozen=True, slots=True)
class PluginDialed(Record):
    """A plugin was connected to, or could not be; its options, if they were asked for."""

    stream: int
    error: str
    pre_start_required: bool
    preferred_allocation: bool


@dataclass(frozen=True, slots=True)
class PluginListed(Record):
    """A ListAndWatch message has come."""

    stream: int
    devices: tuple[Device, ...]


@dataclass(frozen=True, slots=True)
class PluginLeft(Record):
    """A ListAndWatch stream has ended, perhaps by a list that was too large."""

    stream: int
    too_large: ListTooLarge | None = None


@dataclass(frozen=True, slots=True)
class ResourceDeregistered(Record):
    """A plugin's socket has left `plugins_registry`."""

    kubelet: int
    resource_name: str


@dataclass(frozen=True, slots=True)
class CallAnswered(Record):
    """A plugin has answered a call, or the call has failed.

    Attributes:
        call: The number of the call on the node.
        error: Why it failed; empty when it did not.
        response: The ContainerAllocateResponse in base64; None without one.
        devices: The preferred devices.
    """

    call: int
    rpc: str
    error: str
    response: str | None
    devices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StoreAnswered(Record):
    """The disk or the database has answered.

    Attributes:
        call: The number of the call on the node.
        error: Why it failed; empty when it did not.
    """

    call: int
    error: str


@dataclass(frozen=True, slots=True)
class PodWanted(Record):
    """A pod was created; `pod` is all about it, as JSON."""

    name: str
    pod: str


@dataclass(frozen=True, slots=True)
class PodUnwanted(Record):
    """A pod was deleted.

    Attributes:
        force: Whether it left the API at once.
        grace_ns: How long its containers take to end.
        replaced: Whether a controller may replace it.
    """

    uid: str
    force: bool
    grace_ns: int
    replaced: bool


@dataclass(frozen=True, slots=True)
class KubeletRestartWanted(Record):
    """A kubelet was to be restarted; `version` is empty for the one that ran."""

    step: str
    down_ns: int
    version: str


@dataclass(frozen=True, slots=True)
class RebootWanted(Record):
    """A node was to be rebooted."""

    step: str
    down_ns: int


STOPPED: Final = "server stopped"
"""Why a kubelet ends with its server."""


@dataclass(frozen=True, slots=True)
class ServerStopped(Record):
    """The server was told to end, and with it the kubelet of a node."""


Input = (
    SocketsOpened
    | PluginCame
    | PluginDialed
    | PluginListed
    | PluginLeft
    | ResourceDeregistered
    | CallAnswered
    | StoreAnswered
    | PodWanted
    | PodUnwanted
    | KubeletRestartWanted
    | RebootWanted
    | ServerStopped
)

INPUTS: Final[dict[str, type[Input]]] = {
    kind.__name__: kind
    for kind in (
        SocketsOpened,
        PluginCame,
        PluginDialed,
        PluginListed,
        PluginLeft,
        ResourceDeregistered,
        CallAnswered,
        StoreAnswered,
        PodWanted,
        PodUnwanted,
        KubeletRestartWanted,
        RebootWanted,
        ServerStopped,
    )
}
"""The types of inputs."""

_PLACE: Final = re.compile(r"t|node|type")


def read_input(line: dict[str, object]) -> Input | None:
    """Return the input that a line of a recording is; None for a record.

    Raises:
        ValueError: It is an input, but not a whole one.
    """
    kind = INPUTS.get(str(line.get("type")))
    if kind is None:
        return None
    fields = {to_snake(key): value for key, value in line.items() if not _PLACE.fullmatch(key)}
    adapter: TypeAdapter[Input] = TypeAdapter(kind)
    return adapter.validate_python(fields)
