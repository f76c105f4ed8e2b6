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

    Names and ids are interned: those that many nodes have are looked up in fewer places of memory.

    Attributes:
        keys: Device to its key.
        facts: Device to what a report can change.
    """

    id: int
    registered: bool
    keys: dict[DeviceId, int] = field(default_factory=dict)
    facts: dict[DeviceId, DeviceFacts] = field(default_factory=dict)

    def listed(self) -> list[DeviceId]:
        """Return the devices that the plugin lists."""
        return [id_ for id_, (slot, _, _) in self.facts.items() if slot is not None]


PodRuns = tuple[int, ...]
"""A pod that is part of its node's state: its key, then the first and last key of each run of
holdings. All else of a pod is read when it is needed, which is rarely."""


@dataclass(slots=True, eq=False)
class NodeEntry:
    """A node.

    Attributes:
        ended: Keys of pods that are no longer part of the node's state.
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
    pods: dict[PodUid, PodRuns] = field(default_factory=dict)
    ended: dict[PodUid, int] = field(default_factory=dict)
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


def read_node(connection: Connection, name: NodeName) -> NodeEntry | None:
    """Read a node's entry; None for an unknown node."""
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
    _read_pods(connection, node)
    return node


def _read_devices(connection: Connection, node: NodeEntry) -> None:
    by_id: dict[int, ResourceEntry] = {}
    for row in connection.execute(select(t.resource).where(t.resource.c.node_id == node.id)):
        by_id[row.id] = node.resources[ResourceName(intern(row.name))] = ResourceEntry(
            row.id, row.registered
        )
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
        by_id[resource_id].keys[DeviceId(intern(identifier))] = key
        by_id[resource_id].facts[identifier] = tuple(facts)


def _read_pods(connection: Connection, node: NodeEntry) -> None:
    holding = live_holdings(node.id)
    held: dict[int, list[int]] = {}
    for row in connection.execute(select(holding).order_by(holding.c.id)):
        held.setdefault(row.pod_id, []).append(row.id)
        node.disputed = node.disputed or row.disputed
    live = live_pods(node.id)
    pods = select(t.pod.c.id, t.pod.c.uid).join(live, live.c.pod_id == t.pod.c.id)
    for key, uid in connection.execute(pods.order_by(t.pod.c.id)):
        node.pods[uid] = runs_of(key, held.get(key, ()))
    ended = select(t.pod.c.uid, t.pod.c.id).where(t.pod.c.node_id == node.id, ENDED)
    node.ended.update((row.uid, row.id) for row in connection.execute(ended))


def runs_of(key: int, holdings: Iterable[int]) -> PodRuns:
    """Return the runs of ascending holding keys."""
    runs: list[int] = [key]
    for holding in holdings:
        if len(runs) > 1 and runs[-1] == holding - 1:
            runs[-1] = holding
        else:
            runs += (holding, holding)
    return tuple(runs)
