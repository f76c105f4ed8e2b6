"""What the writer remembers of the nodes it writes to.

An admission must not read the database: it would cost more than the rows it adds. So the one writer
of a database keeps, for every node it has touched, the keys of what is there: pods with their
holdings, devices, containers. Entries are loaded from the database when a node is first touched,
changed with every planned transition, and dropped when a batch fails, so that the next one loads
the truth again. Of pods that ended only the keys are kept.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from sys import intern
from typing import Final

from sqlalchemy import Connection, func, select

from simulator.core.devices import DeviceId, NumaNode
from simulator.core.instants import HOUR
from simulator.core.pods import PodUid
from simulator.core.resources import ResourceName
from simulator.core.transitions import NodeName
from store import tables as t
from store.changes import refuse_value
from store.live_rows import ENDED, live_holdings, live_pods

SEGMENT_LENGTH: Final = HOUR
SEGMENT_CHANGES_MAX: Final = 65_536
"""A segment of the history ends after this span or this many changes."""


def numa_text(nodes: tuple[NumaNode, ...] | None) -> str | None:
    """Return NUMA nodes as the database has them."""
    return None if nodes is None else ",".join(map(str, nodes))


def numa_nodes(text: str | None) -> tuple[NumaNode, ...] | None:
    """Return NUMA nodes from the database's text.

    Raises:
        StoreUnavailableError: It is no such text.
    """
    if text is None:
        return None
    try:
        return tuple(NumaNode(int(part)) for part in text.split(",") if part)
    except ValueError:
        refuse_value("list of NUMA nodes", text)


DeviceFacts = tuple[int | None, str | None, str | None]
"""Slot, health and NUMA nodes of a device, as its row has them."""

UNKNOWN: Final[DeviceFacts] = (None, None, None)


@dataclass(slots=True)
class ResourceEntry:
    """A resource and its devices.

    Names and ids are interned, and places shared by nodes that are alike: what many nodes have is
    looked up in fewer places of memory.

    Attributes:
        first: The lowest key of a device.
        places: Device to what its key is above that.
        is_shared: Whether others may have the same places, so that they are not to be changed.
        facts: Device to what a report can change.
    """

    id: int
    name: ResourceName
    registered: bool
    first: int = 0
    places: dict[DeviceId, int] = field(default_factory=dict)
    is_shared: bool = False
    facts: dict[DeviceId, DeviceFacts] = field(default_factory=dict)

    def key_of(self, id_: DeviceId) -> int | None:
        """Return a device's key; None for an unknown one."""
        place = self.places.get(id_)
        return None if place is None else self.first + place

    def add(self, id_: DeviceId, key: int) -> None:
        """Take up a device; keys only ascend."""
        if self.is_shared:
            self.places, self.is_shared = dict(self.places), False
        if not self.places:
            self.first = key
        self.places[DeviceId(intern(id_))] = key - self.first

    def share(self, latest: dict[ResourceName, dict[DeviceId, int]]) -> None:
        """Use the places of the latest resource of this name, if they are the same ones."""
        if self.is_shared:
            return
        if latest.get(self.name) == self.places:
            self.places = latest[self.name]
        else:
            latest[self.name] = self.places
        self.is_shared = True

    def listed(self) -> list[DeviceId]:
        """Return the devices that the plugin lists."""
        return [id_ for id_, (slot, _, _) in self.facts.items() if slot is not None]


PodRuns = tuple[int, ...]
"""A pod that is part of its node's state: its key, then the first and last key of each run of
holdings. All else of a pod is read when it is needed, which is rarely."""

KnownPods = dict[tuple[int, PodUid], PodRuns | int]
"""The pods of all nodes, by their node's key and their uid; of those that ended the key alone.

One table for all nodes: that a pod is new is seen in one place of memory, where a table of each
node's own has several, and all of them are cold when the node's turn comes.
"""


@dataclass(slots=True, eq=False)
class NodeEntry:
    """A node.

    Attributes:
        latest: The resource that was bound last: one lookup less where a node has only that.
        disputed: Whether a holding may be disputed.
        touched, alone: The last part of a batch in which something was planned for this node, and
            in which that must stay alone.
    """

    id: int
    name: NodeName
    revision: int
    boot: int | None = None
    boot_id: str = ""
    generation: int = 0
    resources: dict[ResourceName, ResourceEntry] = field(default_factory=dict)
    latest: ResourceEntry | None = None
    disputed: bool = False
    touched: int = 0
    alone: int = 0


@dataclass(slots=True)
class Keys:
    """The last used key of each table; the one writer counts on from there.

    Attributes:
        change: How many changes the history ever had.
        segment_change: Which of them was the first one of the segment.
    """

    revision: int
    change: int
    node: int
    boot: int
    resource: int
    device: int
    pod: int
    holding: int
    collection: int
    segment_change: int
    segment_end: int


def read_keys(connection: Connection) -> Keys:
    """Read the last used keys."""

    def last(column: str, table: str) -> int:
        return int(connection.scalar(select(func.max(t.metadata.tables[table].c[column]))) or 0)

    segment = connection.execute(
        select(t.history_segment).order_by(t.history_segment.c.first_revision.desc()).limit(1)
    ).one_or_none()
    return Keys(
        revision=max(
            last("revision", table) for table in ("change", "node", "api_change", "api_horizon")
        ),
        change=newest_change(connection),
        node=last("id", "node"),
        boot=last("id", "boot"),
        resource=last("id", "resource"),
        device=last("id", "device"),
        pod=last("id", "pod"),
        holding=last("id", "device_holding"),
        collection=last("id", "api_collection"),
        segment_change=segment.first_change if segment else 0,
        segment_end=segment.started_at + SEGMENT_LENGTH if segment else 0,
    )


def newest_change(connection: Connection) -> int:
    """Return how many changes the history ever had: those before its newest segment, and these."""
    segment = (
        select(t.history_segment).order_by(t.history_segment.c.first_revision.desc()).limit(1)
    ).subquery("segment")
    query = select(func.max(segment.c.first_change) + func.count(t.change.c.revision) - 1).join(
        t.change, t.change.c.revision >= segment.c.first_revision
    )
    return connection.scalar(query) or 0


def read_node(connection: Connection, name: NodeName, known: KnownPods) -> NodeEntry | None:
    """Read a node's entry, and what is to be known of its pods; None for an unknown node."""
    row = connection.execute(select(t.node).where(t.node.c.name == name)).one_or_none()
    if row is None:
        return None
    node = NodeEntry(row.id, name, row.revision)
    boot = connection.execute(
        select(t.boot)
        .where(t.boot.c.node_id == node.id)
        .order_by(t.boot.c.generation.desc())
        .limit(1)
    ).one_or_none()
    if boot is not None:
        node.boot, node.boot_id, node.generation = boot.id, boot.boot_id, boot.generation
    _read_devices(connection, node)
    _read_pods(connection, node, known)
    return node


def _read_devices(connection: Connection, node: NodeEntry) -> None:
    by_id: dict[int, ResourceEntry] = {}
    for row in connection.execute(select(t.resource).where(t.resource.c.node_id == node.id)):
        name = ResourceName(intern(row.name))
        by_id[row.id] = node.resources[name] = ResourceEntry(row.id, name, row.registered)
    devices = connection.execute(
        select(
            t.device.c.resource_id,
            t.device.c.identifier,
            t.device.c.id,
            t.device.c.slot,
            t.device.c.health,
            t.device.c.numa_nodes,
        )
        .join(t.resource)
        .where(t.resource.c.node_id == node.id)
        .order_by(t.device.c.id)
    )
    for resource_id, identifier, key, *facts in devices:
        by_id[resource_id].add(identifier, key)
        by_id[resource_id].facts[identifier] = tuple(facts)


def _read_pods(connection: Connection, node: NodeEntry, known: KnownPods) -> None:
    holding = live_holdings(node.id)
    held: dict[int, list[int]] = {}
    for row in connection.execute(select(holding).order_by(holding.c.id)):
        held.setdefault(row.pod_id, []).append(row.id)
        node.disputed = node.disputed or row.disputed
    for uid, key in read_live(connection, node):
        known[node.id, uid] = runs_of(key, held.get(key, ()))
    ended = select(t.pod.c.uid, t.pod.c.id).where(t.pod.c.node_id == node.id, ENDED)
    known.update(((node.id, row.uid), row.id) for row in connection.execute(ended))


def read_live(connection: Connection, node: NodeEntry) -> list[tuple[PodUid, int]]:
    """Read uid and key of the pods that are part of a node's state, the oldest first."""
    live = live_pods(node.id)
    pods = select(t.pod.c.uid, t.pod.c.id).join(live, live.c.pod_id == t.pod.c.id)
    return [(uid, key) for uid, key in connection.execute(pods.order_by(t.pod.c.id))]


def runs_of(key: int, holdings: Iterable[int]) -> PodRuns:
    """Return the runs of ascending holding keys."""
    runs: list[int] = [key]
    for holding in holdings:
        if len(runs) > 1 and runs[-1] == holding - 1:
            runs[-1] = holding
        else:
            runs += (holding, holding)
    return tuple(runs)
