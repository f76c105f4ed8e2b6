"""What the core asks of the outside, as values.

A decision is a generator: it yields a `PluginCall`, a `StoreCall` or an `ApiCall`
(`simulator.core.api_calls`) where the kubelet would make an RPC, write its state or ask the API
server, and is resumed with the reply (`generator.send(reply)`). The engine answers after virtual
latency or with a fault, the live driver after the real RPC, write or request; the decision cannot
tell them apart.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import ClassVar, TypeVar

from simulator.core.api_calls import ApiCall, ApiReply
from simulator.core.checkpoint.exporting import NodeFile
from simulator.core.devices import DeviceId
from simulator.core.pods import ContainerName, PodUid
from simulator.core.resources import ResourceName
from simulator.core.transitions import NodeState, Transition


@dataclass(frozen=True, slots=True)
class AllocateCall:
    """`Allocate` for one container and resource (S1.24). Reply: `AllocateReply | CallFailed`.

    Attributes:
        rpc: The call's name in the API (S1.3).
    """

    rpc: ClassVar[str] = "Allocate"

    resource: ResourceName
    devices: tuple[DeviceId, ...]
    pod: PodUid
    container: ContainerName


@dataclass(frozen=True, slots=True)
class PreferredAllocationCall:
    """`GetPreferredAllocation` (S1.25). Reply: `PreferredAllocationReply | CallFailed`.

    Attributes:
        available: Candidates, the already chosen ones included; sorted.
        must_include: The already chosen ones; sorted.
        size: The whole request, not the remainder.
        rpc: The call's name in the API (S1.3).
    """

    rpc: ClassVar[str] = "GetPreferredAllocation"

    resource: ResourceName
    available: tuple[DeviceId, ...]
    must_include: tuple[DeviceId, ...]
    size: int
    pod: PodUid
    container: ContainerName


@dataclass(frozen=True, slots=True)
class PreStartContainerCall:
    """`PreStartContainer` (S1.26). Reply: `PreStartContainerReply | CallFailed`.

    Attributes:
        rpc: The call's name in the API (S1.3).
    """

    rpc: ClassVar[str] = "PreStartContainer"

    resource: ResourceName
    devices: tuple[DeviceId, ...]
    pod: PodUid
    container: ContainerName


PluginCall = AllocateCall | PreferredAllocationCall | PreStartContainerCall


@dataclass(frozen=True, slots=True)
class AllocateReply:
    """The plugin's answer to Allocate.

    Attributes:
        response: The serialized `ContainerAllocateResponse` of the first container, or None when
            the answer held no container responses (S3.13).
    """

    response: bytes | None


@dataclass(frozen=True, slots=True)
class PreferredAllocationReply:
    """The ids that the plugin prefers, in its order; empty for no preference."""

    devices: tuple[DeviceId, ...]


@dataclass(frozen=True, slots=True)
class PreStartContainerReply:
    """PreStartContainer succeeded."""


@dataclass(frozen=True, slots=True)
class CallFailed:
    """The call did not succeed.

    Attributes:
        message: The error text as the kubelet sees it, e.g.
            `rpc error: code = Unknown desc = out of memory` (S3.12).
    """

    message: str


PluginReply = AllocateReply | PreferredAllocationReply | PreStartContainerReply | CallFailed


@dataclass(frozen=True, slots=True)
class ReadCheckpoint:
    """Read the checkpoint file. Reply: `CheckpointContent | Missing | StoreFailed`."""


@dataclass(frozen=True, slots=True)
class WriteCheckpoint:
    """Replace the checkpoint file, as S4.9 says. Reply: `Stored | StoreFailed`.

    Attributes:
        content: The whole file.
        cause: Why it is written, for the records: `devices`, `allocation` or `removal` (S4.10).
        directory_synced: Whether the directory is fsynced too, which the kubelet does not do.
    """

    content: bytes
    cause: str
    directory_synced: bool = False


@dataclass(frozen=True, slots=True)
class SetCheckpointAside:
    """Give the checkpoint file a name under which no kubelet finds it; no file is no error.

    The new name is durable with the reply. It is not in the plugin directory, which older kubelets
    empty (S1.9). Reply: `Stored | StoreFailed`.
    """


@dataclass(frozen=True, slots=True)
class Commit:
    """Commit transitions to the database. Reply: `Stored | Conflict | StoreFailed`.

    They become durable together, or none does (`StoreFailed`). A store refuses transition by
    transition, though: beside a refused one the others are applied. So at most one of them, the
    last, is of a kind that can be refused (`PodAdmitted`), and the others may be told again, which
    changes nothing.
    """

    transitions: tuple[Transition, ...]


@dataclass(frozen=True, slots=True)
class LoadState:
    """Load the node's state from the database. Reply: `StateLoaded | StoreFailed`.

    Attributes:
        with_file: Whether what a file of it needs is wanted too.
    """

    with_file: bool = False


StoreCall = ReadCheckpoint | WriteCheckpoint | SetCheckpointAside | Commit | LoadState


@dataclass(frozen=True, slots=True)
class CheckpointContent:
    """The bytes of the checkpoint file."""

    content: bytes


@dataclass(frozen=True, slots=True)
class Missing:
    """There is no checkpoint file (S4.12)."""


@dataclass(frozen=True, slots=True)
class Stored:
    """The write is durable.

    Attributes:
        revision: The database's revision after the commit; 0 for a file.
    """

    revision: int = 0


@dataclass(frozen=True, slots=True)
class Conflict:
    """The database refused a second holder: nothing of that admission was applied.

    What else the commit held (device lists, removals) was; who told it may tell it again.

    Attributes:
        message: `device <id> of <resource> is held by pod <uid>`.
    """

    message: str


@dataclass(frozen=True, slots=True)
class StateLoaded:
    """What the database knows of the node.

    Attributes:
        file: What a file of it needs, if that was asked for.
    """

    state: NodeState
    file: NodeFile | None = None


@dataclass(frozen=True, slots=True)
class StoreFailed:
    """The read or write did not succeed; what was durable before still is.

    Attributes:
        message: The cause, e.g. `no space left on device`.
    """

    message: str


StoreReply = CheckpointContent | Missing | Stored | Conflict | StateLoaded | StoreFailed

KeepingCall = StoreCall | ApiCall
"""What persistence strategies ask."""

KeepingReply = StoreReply | ApiReply

Call = PluginCall | KeepingCall
Reply = PluginReply | KeepingReply

T = TypeVar("T")
Decision = Generator[Call, Reply, T]
"""A decision under way: yields calls, is sent replies, returns its result."""

StoreDecision = Generator[KeepingCall, KeepingReply, T]
"""A decision that asks no plugin: only the store and the API server."""


def of_store(call: Call) -> StoreCall:
    """Return a call of a strategy that asks nobody but the store.

    Raises:
        TypeError: It asks a plugin or the API server.
    """
    if isinstance(call, StoreCall):
        return call
    message = f"only a store is asked here, but {call}"
    raise TypeError(message)
