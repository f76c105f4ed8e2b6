"""What the writer remembers of the nodes it writes to.

An admission must not read the database: it would cost more than the rows it adds. So the one writer
of a database keeps, for every node it has touched, the keys of what is there: pods with their
holdings, devices, containers. Entries are loaded from the database when a node is first touched,
changed with every planned transition, and dropped when a batch fails, so that the next one loads
the truth again. Pods that ended are not kept; whoever meets one again looks it up.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlalchemy import Connection, func, select

from simulator.core.devices import Device, DeviceId, NumaNode
from simulator.core.pods import ContainerName, PodUid
from simulator.core.resources import ResourceName
from simulator.core.transitions import NodeName
from store import tables as t
from store.live_rows import live_holdings, live_pods


def numa_text(nodes: tuple[NumaNode, ...] | None) -> str | None:
    """Return NUMA nodes as the database has them."""
    return None if nodes is None else ",".join(map(str, nodes))


def numa_nodes(text: str | None) -> tuple[NumaNode, ...] | None:
    """Return NUMA nodes from the database's text."""
    return None if text is None else tuple(NumaNode(int(part)) for part in text.split(",") if part)


@dataclass(slots=True)
class DeviceEntry:
    """A device's key and what a report can change."""

    id: int
    slot: int | None = None
    health: str | None = None
    numa_nodes: str | None = None

    def differs_from(self, device: Device) -> bool:
        """Tell whether a plugin says something new of the device."""
        return (self.health, self.numa_nodes) != (device.health, numa_text(device.topology))

    def follow(self, device: Device) -> None:
        """Take over what a plugin says of the device."""
        self.health, self.numa_nodes = device.health, numa_text(device.topology)


@dataclass(slots=True)
class ResourceEntry:
    """A resource's key and its devices."""

    id: int
    registered: bool
    devices: dict[DeviceId, DeviceEntry] = field(default_factory=dict)

    def next_slot(self) -> int:
        """Return the slot after the last one."""
        slots = (device.slot for device in self.devices.values() if device.slot is not None)
        return max(slots, default=-1) + 1


@dataclass(slots=True, eq=False)
class PodEntry:
    """A pod that is part of its node's state.

    Attributes:
        row: namespace, name, standing, reason, message, holds_devices, ended_revision.
        containers: Name to ordinal.
        holdings: Device key to holding key.
        bound: Container ordinal and resource key of every binding.
    """

    id: int
    row: PodRow
    containers: dict[ContainerName, int] = field(default_factory=dict)
    holdings: dict[int, int] = field(default_factory=dict)
    bound: set[tuple[int, int]] = field(default_factory=set)


PodRow = tuple[str, str, int, str, str, bool, int | None]


@dataclass(slots=True, eq=False)
class NodeEntry:
    """A node.

    Attributes:
        ended: Uids of pods that this writer saw ending.
        disputes: Device key to holding keys of disputed holdings, oldest first.
    """

    id: int
    name: NodeName
    revision: int
    boot: int | None = None
    boot_id: str = ""
    generation: int = 0
    resources: dict[ResourceName, ResourceEntry] = field(default_factory=dict)
    pods: dict[PodUid, PodEntry] = field(default_factory=dict)
    ended: set[PodUid] = field(default_factory=set)
    disputes: dict[int, list[int]] = field(default_factory=dict)


@dataclass(slots=True)
class Keys:
    """The last used key of each table; the one writer counts on from there."""

    revision: int
    node: int
    boot: int
    resource: int
    device: int
    pod: int
    holding: int
    segment_revision: int
    segment_started: int


def read_keys(connection: Connection) -> Keys:
    """Read the last used keys."""

    def last(column: str, table: str) -> int:
        return int(connection.scalar(select(func.max(t.metadata.tables[table].c[column]))) or 0)

    segment = connection.execute(
        select(t.history_segment).order_by(t.history_segment.c.first_revision.desc()).limit(1)
    ).one_or_none()
    return Keys(
        revision=max(last("revision", "change"), last("revision", "node")),
        node=last("id", "node"),
        boot=last("id", "boot"),
        resource=last("id", "resource"),
        device=last("id", "device"),
        pod=last("id", "pod"),
        holding=last("id", "device_holding"),
        segment_revision=segment.first_revision if segment else 0,
        segment_started=segment.started_at if segment else 0,
    )


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


def revive(connection: Connection, node: NodeEntry, uid: PodUid) -> PodEntry | None:
    """Read a pod that has ended; None when the database does not know it."""
    pod = connection.execute(
        select(t.pod).where(t.pod.c.node_id == node.id, t.pod.c.uid == uid)
    ).one_or_none()
    if pod is None:
        return None
    containers = connection.execute(
        select(t.container.c.name, t.container.c.ordinal).where(t.container.c.pod_id == pod.id)
    ).all()
    return PodEntry(pod.id, tuple(pod[3:]), {row.name: row.ordinal for row in containers})


@dataclass(frozen=True, slots=True)
class BoundDevice:
    """A device of a pod and one container (ordinal) and resource (key) it is bound to."""

    device_id: int
    holding_id: int
    key: tuple[int, int]


def read_bound(connection: Connection, pod: PodEntry) -> list[BoundDevice]:
    """Read which containers have the devices that a pod holds."""
    query = (
        select(
            t.device_holding.c.device_id,
            t.device_binding.c.holding_id,
            t.device_binding.c.container,
            t.device.c.resource_id,
        )
        .distinct()
        .join(t.device_holding, t.device_holding.c.id == t.device_binding.c.holding_id)
        .join(t.device, t.device.c.id == t.device_holding.c.device_id)
        .where(t.device_binding.c.holding_id.in_(pod.holdings.values()))
        .order_by(t.device_binding.c.holding_id, t.device_binding.c.container)
    )
    return [
        BoundDevice(device_id, holding_id, (container, resource_id))
        for device_id, holding_id, container, resource_id in connection.execute(query)
    ]


def _read_devices(connection: Connection, node: NodeEntry) -> None:
    by_id: dict[int, ResourceEntry] = {}
    for row in connection.execute(select(t.resource).where(t.resource.c.node_id == node.id)):
        by_id[row.id] = node.resources[row.name] = ResourceEntry(row.id, row.registered)
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
    for resource_id, identifier, *known in devices:
        by_id[resource_id].devices[identifier] = DeviceEntry(*known)


def _read_pods(connection: Connection, node: NodeEntry) -> None:
    by_id: dict[int, PodEntry] = {}
    live = live_pods(node.id)
    pods = select(t.pod).join(live, live.c.pod_id == t.pod.c.id).order_by(t.pod.c.id)
    for pod in connection.execute(pods):
        by_id[pod.id] = node.pods[pod.uid] = PodEntry(pod.id, tuple(pod[3:]))
    containers = select(t.container).join(live, live.c.pod_id == t.container.c.pod_id)
    for container in connection.execute(containers):
        by_id[container.pod_id].containers[container.name] = container.ordinal
    holding = live_holdings(node.id)
    for row in connection.execute(select(holding).order_by(holding.c.id)):
        by_id[row.pod_id].holdings[row.device_id] = row.id
        if row.disputed:
            node.disputes.setdefault(row.device_id, []).append(row.id)
    response = t.allocate_response
    bound = select(response).join(live, live.c.pod_id == response.c.pod_id)
    for row in connection.execute(bound):
        by_id[row.pod_id].bound.add((row.container, row.resource_id))
