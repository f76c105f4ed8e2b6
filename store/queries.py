"""Answers read from the tables. Each function runs in a transaction that its caller began."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlalchemy import Connection, Row, Select, func, or_, select

from simulator.core.devices import HEALTHY, DeviceId, NumaNode
from simulator.core.instants import Instant
from simulator.core.migration.phases import Phase
from simulator.core.pods import ContainerName, PodUid
from simulator.core.resources import ResourceName
from simulator.core.transitions import DeviceBinding, NodeName, NodeState, PodIdentity
from simulator.ports import (
    Change,
    DeviceSummary,
    Holding,
    ImportedCheckpoint,
    NodeSummary,
    PodSummary,
    ResourceSummary,
)
from store import tables as t
from store.changes import kind_name, phase_of, standing_of, whole
from store.live_rows import held, live_ids, live_pods, live_responses
from store.node_entries import numa_nodes
from store.ordering import device_order, holding_order


def load_state(connection: Connection, name: NodeName) -> NodeState:
    """Read a node's state in time proportional to what it holds."""
    of_node = (
        select(t.node, t.node_phase.c.phase).outerjoin(t.node_phase).where(t.node.c.name == name)
    )
    node = connection.execute(of_node).one_or_none()
    if node is None:
        return NodeState(node=name, revision=0, bindings=(), registered=())
    registered = connection.scalars(
        select(t.resource.c.name).where(t.resource.c.node_id == node.id, t.resource.c.registered)
    )
    return NodeState(
        node=name,
        revision=node.revision,
        bindings=tuple(_bindings(connection, node.id)),
        registered=tuple(sorted(map(ResourceName, registered))),
        phase=None if node.phase is None else phase_of(node.phase),
    )


def _bindings(connection: Connection, node_id: int) -> Iterable[DeviceBinding]:
    ids: dict[tuple[int, int, int], dict[NumaNode, list[DeviceId]]] = {}
    # Fetched at once: row by row, the fetching alone takes a fifth of a restore.
    bound = connection.execute(live_ids(node_id)).all()
    for pod, container, resource, numa_node, identifier in bound:
        groups = ids.setdefault((pod, container, resource), {})
        groups.setdefault(numa_node, []).append(identifier)
    for row in connection.execute(live_responses(node_id)).all():
        pod, container, resource, _, _, empty, response, uid, container_name, resource_name = row
        groups = ids.get((pod, container, resource), {})
        for numa_node in numa_nodes(empty) or ():
            groups.setdefault(numa_node, [])
        yield DeviceBinding(
            pod=uid,
            container=container_name,
            resource=resource_name,
            devices={numa_node: tuple(groups[numa_node]) for numa_node in sorted(groups)},
            response=response,
        )


def imported_by(connection: Connection, name: NodeName) -> ImportedCheckpoint | None:
    """Read the file last imported for a node."""
    checkpoint = t.imported_checkpoint
    row = connection.execute(
        select(checkpoint.c.content, checkpoint.c.revision)
        .join(t.node, t.node.c.id == checkpoint.c.node_id)
        .where(t.node.c.name == name)
    ).one_or_none()
    return None if row is None else ImportedCheckpoint(row.content, row.revision)


def phase_by(connection: Connection, name: NodeName) -> Phase | None:
    """Read how far a node's migration is; None when none was begun."""
    found = select(t.node_phase.c.phase).join(t.node).where(t.node.c.name == name)
    number = connection.scalar(found)
    return None if number is None else phase_of(number)


def all_nodes(connection: Connection) -> list[NodeSummary]:
    """Read all nodes, by name."""
    device = t.device
    listed = {
        row.resource_id: row
        for row in connection.execute(
            select(
                device.c.resource_id,
                func.count().label("devices"),
                func.count().filter(device.c.health == HEALTHY).label("healthy"),
            )
            .where(device.c.slot.is_not(None))
            .group_by(device.c.resource_id)
        )
    }
    holding = held(device.c.resource_id, t.device_holding.c.device_id, node_id=None)
    counted = select(holding.c.resource_id, func.count(holding.c.device_id.distinct()))
    held_by: dict[int, int] = _pairs(connection, counted.group_by(holding.c.resource_id))
    resources: dict[int, list[ResourceSummary]] = {}
    for row in connection.execute(select(t.resource)):
        counts = listed.get(row.id)
        resources.setdefault(row.node_id, []).append(
            ResourceSummary(
                resource=row.name,
                devices=counts.devices if counts else 0,
                healthy=counts.healthy if counts else 0,
                held=held_by.get(row.id, 0),
                registered=row.registered,
            )
        )
    booted = select(t.boot.c.node_id, t.boot.c.boot_id).order_by(t.boot.c.generation)
    boots: dict[int, str] = _pairs(connection, booted)
    live = live_pods(None)
    counted_pods = select(t.pod.c.node_id, func.count()).join(live, live.c.pod_id == t.pod.c.id)
    pods: dict[int, int] = _pairs(connection, counted_pods.group_by(t.pod.c.node_id))
    summaries = [
        NodeSummary(
            node=node.name,
            revision=whole(node.revision),
            boot_id=boots.get(node.id, ""),
            pods=pods.get(node.id, 0),
            resources=tuple(sorted(resources.get(node.id, ()), key=lambda one: one.resource)),
        )
        for node in connection.execute(select(t.node)).all()
    ]
    return sorted(summaries, key=lambda summary: summary.node)


def all_devices(connection: Connection, node: NodeName | None) -> list[DeviceSummary]:
    """Read devices by node and resource, listed ones first."""
    holders: dict[int, list[Any]] = {}
    holding = held(
        t.device_holding.c.device_id,
        t.device_holding.c.pod_id,
        t.device_holding.c.disputed,
        node_id=_key_of(connection, node),
    )
    pods = select(holding, t.pod.c.uid, t.pod.c.namespace, t.pod.c.name).join(
        t.pod, t.pod.c.id == holding.c.pod_id
    )
    for row in connection.execute(pods):
        holders.setdefault(row.device_id, []).append(row)
    query = (
        select(t.device, t.resource.c.name.label("resource"), t.node.c.name.label("node"))
        .join(t.resource, t.resource.c.id == t.device.c.resource_id)
        .join(t.node, t.node.c.id == t.resource.c.node_id)
    )
    rows = connection.execute(_of_node(query, node)).all()
    return [
        DeviceSummary(
            node=row.node,
            resource=row.resource,
            device=row.identifier,
            listed=row.slot is not None,
            health=row.health,
            numa_nodes=numa_nodes(row.numa_nodes),
            holders=tuple(
                PodIdentity(one.uid, one.namespace, one.name)
                for one in sorted(holders.get(row.id, ()), key=lambda one: (one.disputed, one.uid))
            ),
        )
        for row in sorted(
            rows,
            key=lambda r: device_order(
                r.node, r.resource, None if r.slot is None else whole(r.slot), r.identifier
            ),
        )
    ]


def all_pods(connection: Connection, node: NodeName | None) -> list[PodSummary]:
    """Read pods by node, in the order in which they became known."""
    holding = held(
        t.device_holding.c.pod_id,
        t.device_holding.c.device_id,
        t.resource.c.name.label("resource"),
        node_id=_key_of(connection, node),
    )
    counts = select(
        holding.c.pod_id, holding.c.resource, func.count(holding.c.device_id.distinct())
    ).group_by(holding.c.pod_id, holding.c.resource)
    devices: dict[int, list[tuple[ResourceName, int]]] = {}
    for pod_id, resource, count in connection.execute(counts):
        devices.setdefault(pod_id, []).append((resource, count))
    query = select(t.pod, t.node.c.name.label("node")).join(t.node, t.node.c.id == t.pod.c.node_id)
    rows = connection.execute(_of_node(query, node)).all()
    return [
        PodSummary(
            node=row.node,
            pod=PodIdentity(row.uid, row.namespace, row.name),
            standing=standing_of(row.standing),
            reason=row.reason,
            message=row.message,
            devices=tuple(sorted(devices.get(row.id, ()))),
        )
        for row in sorted(rows, key=lambda row: (row.node, row.id))
    ]


def all_holdings(
    connection: Connection, *, node: NodeName | None, device: DeviceId | None, past: bool
) -> list[Holding]:
    """Read holdings with the containers that have the device."""
    holding = t.device_holding
    query = (
        select(
            holding,
            t.device.c.identifier,
            t.resource.c.name.label("resource"),
            t.node.c.name.label("node"),
            t.pod.c.uid,
            t.pod.c.namespace,
            t.pod.c.name.label("pod"),
            t.boot.c.boot_id.label("boot"),
        )
        .join(t.device, t.device.c.id == holding.c.device_id)
        .join(t.resource, t.resource.c.id == t.device.c.resource_id)
        .join(t.node, t.node.c.id == t.resource.c.node_id)
        .join(t.pod, t.pod.c.id == holding.c.pod_id)
        .outerjoin(t.boot, t.boot.c.id == holding.c.boot_id)
    )
    query = _of_node(query, node)
    if device is not None:
        query = query.where(t.device.c.identifier == device)
    if not past:
        query = query.where(holding.c.until_revision.is_(None))
    chosen = query.subquery("chosen")
    names = (
        select(chosen.c.id, t.container.c.name, t.container.c.ordinal)
        .distinct()
        .join(t.device_binding, t.device_binding.c.holding_id == chosen.c.id)
        .join(
            t.container,
            (t.container.c.pod_id == chosen.c.pod_id)
            & (t.container.c.ordinal == t.device_binding.c.container),
        )
        .order_by(t.container.c.ordinal)
    )
    containers: dict[int, list[ContainerName]] = {}
    for holding_id, name, _ in connection.execute(names):
        containers.setdefault(holding_id, []).append(name)
    found = [_holding(row, containers) for row in connection.execute(query)]
    return sorted(found, key=holding_order)


def open_holders(
    connection: Connection, node: NodeName, resource: ResourceName, device: DeviceId
) -> list[PodUid]:
    """Read which pods hold a device now, the undisputed one first."""
    holding = t.device_holding
    query = (
        select(t.pod.c.uid)
        .select_from(t.node)
        .join(t.resource, t.resource.c.node_id == t.node.c.id)
        .join(t.device, t.device.c.resource_id == t.resource.c.id)
        .join(holding, holding.c.device_id == t.device.c.id)
        .join(t.pod, t.pod.c.id == holding.c.pod_id)
        .where(t.node.c.name == node, t.resource.c.name == resource)
        .where(t.device.c.identifier == device, holding.c.until_revision.is_(None))
        .order_by(holding.c.disputed, holding.c.id)
    )
    return [PodUid(uid) for uid in connection.scalars(query)]


def _holding(row: Row[Any], containers: dict[int, list[ContainerName]]) -> Holding:
    return Holding(
        node=row.node,
        resource=row.resource,
        device=row.identifier,
        pod=PodIdentity(row.uid, row.namespace, row.pod),
        containers=tuple(containers.get(row.id, ())),
        since_revision=whole(row.since_revision),
        since=Instant(whole(row.since_at)),
        until_revision=None if row.until_revision is None else whole(row.until_revision),
        until=None if row.until_at is None else Instant(whole(row.until_at)),
        boot_id=row.boot or "",
        disputed=row.disputed,
    )


def changes(
    connection: Connection,
    *,
    node: NodeName | None,
    pod: PodUid | None,
    until_revision: int | None,
) -> list[Change]:
    """Read the history in order of revision."""
    change = t.change
    query = (
        select(change, t.node.c.name.label("node"), t.pod.c.uid)
        .join(t.node, t.node.c.id == change.c.node_id)
        .outerjoin(t.pod, t.pod.c.id == change.c.pod_id)
        .order_by(change.c.revision)
    )
    query = _of_node(query, node)
    if until_revision is not None:
        query = query.where(change.c.revision <= until_revision)
    if pod is not None:
        ids = connection.scalars(select(t.pod.c.id).where(t.pod.c.uid == pod)).all()
        shared = select(t.change_pod.c.revision).where(t.change_pod.c.pod_id.in_(ids))
        query = query.where(or_(change.c.pod_id.in_(ids), change.c.revision.in_(shared)))
    return [
        Change(
            revision=row.revision,
            at=Instant(whole(row.at)),
            node=row.node,
            kind=kind_name(row.kind),
            pod=row.uid,
            detail=row.detail,
        )
        for row in connection.execute(query)
    ]


def _key_of(connection: Connection, node: NodeName | None) -> int | None:
    """Return a node's key, 0 for an unknown one, None for all nodes."""
    if node is None:
        return None
    return connection.scalar(select(t.node.c.id).where(t.node.c.name == node)) or 0


def _pairs(connection: Connection, query: Select[Any]) -> dict[int, Any]:
    return {row[0]: row[1] for row in connection.execute(query)}


def _of_node(query: Select[Any], node: NodeName | None) -> Select[Any]:
    return query if node is None else query.where(t.node.c.name == node)
