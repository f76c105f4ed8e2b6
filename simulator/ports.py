"""What the drivers need from the outside: the promises that adapters keep.

Terms are the domain's; no SQL, socket or file type appears in a signature.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import repeat
from typing import NamedTuple, Protocol

from simulator.core.devices import DeviceId, NumaNode
from simulator.core.instants import Instant
from simulator.core.pods import ContainerName, PodUid
from simulator.core.resources import ResourceName
from simulator.core.transitions import NodeName, NodeState, PodIdentity, Transition
from simulator.object_ports import ObjectOutcome, ObjectStore, ObjectWrite


class Durability(Enum):
    """What a power cut may take: nothing acknowledged (`full`), the last commits, or anything.

    A killed process loses nothing acknowledged under any of them. A PostgreSQL server is another
    process on perhaps another machine: its crash counts as a power cut. It knows no class below
    `normal`, so under `off` it keeps what it keeps under `normal`.
    """

    FULL = "full"
    NORMAL = "normal"
    OFF = "off"


class Clock(Protocol):
    """Where `now` comes from."""

    def now(self) -> Instant:
        """Return the present instant."""
        ...


class Committed(NamedTuple):
    """A transition is durable; the leanest of values, as one is made for each.

    Attributes:
        revision: Strictly increasing over the whole store; an import of what the node already has
            returns the node's present revision.
    """

    revision: int

    @classmethod
    def each(cls, revisions: range) -> Iterator[Committed]:
        """Return one for each of many revisions, for less than a call of each would cost."""
        return map(tuple.__new__, repeat(cls), zip(revisions, strict=True))


@dataclass(frozen=True, slots=True)
class Refused:
    """A transition was refused and changed nothing; its neighbours in the batch are not affected.

    Attributes:
        message: e.g. `device <id> of <resource> is held by pod <uid>`.
    """

    message: str


Outcome = Committed | Refused
Together = tuple[list[Outcome], list[ObjectOutcome]]
"""Outcomes of transitions and of writes of objects that were one batch."""


@dataclass(frozen=True, slots=True)
class Holding:
    """Who holds, or held, a device.

    Attributes:
        since_revision, since: When the holding began.
        until_revision, until: When it ended; None while it lasts.
        boot_id: The node's boot during which it began; empty when unknown.
        disputed: Kept by an import although another pod holds the same device.
    """

    node: NodeName
    resource: ResourceName
    device: DeviceId
    pod: PodIdentity
    containers: tuple[ContainerName, ...]
    since_revision: int
    since: Instant
    until_revision: int | None
    until: Instant | None
    boot_id: str
    disputed: bool


@dataclass(frozen=True, slots=True)
class Change:
    """One row of the history: one transition.

    Attributes:
        kind: The transition's name, e.g. `PodAdmitted`.
        detail: One line for people.
    """

    revision: int
    at: Instant
    node: NodeName
    kind: str
    pod: PodUid | None
    detail: str


@dataclass(frozen=True, slots=True)
class NodeSummary:
    """A node as `rebind get nodes` shows it, one entry for each resource."""

    node: NodeName
    revision: int
    boot_id: str
    pods: int
    resources: tuple[ResourceSummary, ...]


@dataclass(frozen=True, slots=True)
class ResourceSummary:
    """Counts of one resource on one node."""

    resource: ResourceName
    devices: int
    healthy: int
    held: int
    registered: bool


@dataclass(frozen=True, slots=True)
class DeviceSummary:
    """A device as the store knows it.

    Attributes:
        listed: Whether it is in its plugin's latest list.
        health: The plugin's text; None while no plugin has said it.
        numa_nodes: None without a topology message, empty for a message without nodes.
        holders: Pods that hold it now; several only if an import kept a dispute.
    """

    node: NodeName
    resource: ResourceName
    device: DeviceId
    listed: bool
    health: str | None
    numa_nodes: tuple[NumaNode, ...] | None
    holders: tuple[PodIdentity, ...]


class Standing(Enum):
    """How a pod stands with its node's device manager."""

    ADMITTED = "Admitted"
    REJECTED = "Rejected"
    RELEASED = "Released"


@dataclass(frozen=True, slots=True)
class PodSummary:
    """A pod as the store knows it.

    Attributes:
        reason, message: Why it was rejected; empty otherwise.
        devices: Resource and number of distinct devices held now, by resource name.
    """

    node: NodeName
    pod: PodIdentity
    standing: Standing
    reason: str
    message: str
    devices: tuple[tuple[ResourceName, int], ...]


@dataclass(frozen=True, slots=True)
class ImportedCheckpoint:
    """The last imported file of a node.

    Attributes:
        content: Its bytes.
        revision: The node's revision right after the import.
    """

    content: bytes
    revision: int


class StoreReader(Protocol):
    """What can be asked of a store; every answer is of one instant."""

    def load(self, node: NodeName) -> NodeState:
        """Return a node's state; an unknown node has revision 0 and nothing else."""
        ...

    def nodes(self) -> list[NodeSummary]:
        """Return all nodes, by name."""
        ...

    def devices(self, *, node: NodeName | None = None) -> list[DeviceSummary]:
        """Return devices by node and resource; listed ones first, in the plugin's order."""
        ...

    def pods(self, *, node: NodeName | None = None) -> list[PodSummary]:
        """Return pods by node, in the order in which they became known."""
        ...

    def holders(
        self, *, node: NodeName | None = None, device: DeviceId | None = None, past: bool = False
    ) -> list[Holding]:
        """Return holdings, those that ended too if `past`, by node, resource, device, since."""
        ...

    def history(
        self,
        *,
        node: NodeName | None = None,
        pod: PodUid | None = None,
        until_revision: int | None = None,
    ) -> list[Change]:
        """Return changes in order of revision."""
        ...

    def imported_checkpoint(self, node: NodeName) -> ImportedCheckpoint | None:
        """Return the file last imported for the node, if any."""
        ...


class Store(StoreReader, Protocol):
    """Where device bindings live.

    `apply` is one durable unit: when it returns, every `Committed` transition is durable, in the
    durability class of the store. A `StoreError` means that none of the batch was applied; a
    `Refused` transition alone was not.
    """

    @property
    def objects(self) -> ObjectStore:
        """The objects of an API server: in the same database, with the same revisions."""
        ...

    def apply(self, transitions: Sequence[Transition]) -> list[Outcome]:
        """Apply a batch with one commit; outcomes in order, a refusal for its own transition.

        Only an admission and an import can be refused.

        A transition that changes nothing (a report of the same devices, an import of the same
        state, a release of pods that hold nothing) is committed at the node's present revision and
        leaves no trace in the history.
        """
        ...

    def apply_together(
        self, transitions: Sequence[Transition], writes: Sequence[ObjectWrite]
    ) -> Together:
        """Apply transitions and then writes of objects, all of them with one commit."""
        ...

    def close(self) -> None:
        """Let go of the database; further calls are misuse."""
        ...
