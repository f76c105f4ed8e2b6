"""Queries for what is part of a node's state now, found by indexes that hold nothing else."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import CTE, Select, Subquery, TextClause, select, text, union, union_all

from store import tables as t

# Written out, because an index with a condition is used only where the same condition stands.
UNDISPUTED: Final = text("device_holding.until_revision IS NULL AND NOT device_holding.disputed")
DISPUTED: Final = text("device_holding.until_revision IS NULL AND device_holding.disputed")
ENDED: Final = text("pod.ended_revision IS NOT NULL")
_WITHOUT_DEVICES: Final = text("pod.ended_revision IS NULL AND NOT pod.holds_devices")


def held(*columns: Any, node_id: int | None) -> Subquery:  # noqa: ANN401  columns of any type
    """Select columns of holdings that last, of one node or of all, with device and resource."""

    def half(condition: TextClause) -> Select[Any]:
        query = (
            select(*columns)
            .select_from(t.resource)
            .join(t.device, t.device.c.resource_id == t.resource.c.id)
            .join(t.device_holding, t.device_holding.c.device_id == t.device.c.id)
            .where(condition)
        )
        return query if node_id is None else query.where(t.resource.c.node_id == node_id)

    return union_all(half(UNDISPUTED), half(DISPUTED)).subquery("held")


def live_holdings(node_id: int) -> Subquery:
    """Select a node's holdings that last."""
    return held(
        t.device_holding.c.id,
        t.device_holding.c.device_id,
        t.device_holding.c.pod_id,
        t.device_holding.c.disputed,
        t.device.c.identifier,
        t.device.c.resource_id,
        node_id=node_id,
    )


def live_pods(node_id: int | None) -> CTE:
    """Select the keys of pods that are part of the state of their node, of one node or of all."""
    without_devices = select(t.pod.c.id).where(_WITHOUT_DEVICES)
    if node_id is not None:
        without_devices = without_devices.where(t.pod.c.node_id == node_id)
    return union(
        select(held(t.device_holding.c.pod_id, node_id=node_id).c.pod_id), without_devices
    ).cte("live")


def live_responses(node_id: int) -> Select[Any]:
    """Select a node's bindings without their ids, in order."""
    live = live_pods(node_id)
    return (
        select(t.allocate_response, t.pod.c.uid, t.container.c.name, t.resource.c.name)
        .select_from(live)
        .join(t.pod, t.pod.c.id == live.c.pod_id)
        .join(t.allocate_response, t.allocate_response.c.pod_id == t.pod.c.id)
        .join(
            t.container,
            (t.container.c.pod_id == t.pod.c.id)
            & (t.container.c.ordinal == t.allocate_response.c.container),
        )
        .join(t.resource, t.resource.c.id == t.allocate_response.c.resource_id)
        .order_by(t.allocate_response.c.since_revision, t.allocate_response.c.ordinal)
    )


def live_ids(node_id: int) -> Select[Any]:
    """Select the ids of a node's bindings: pod, container, resource, NUMA node, id, in order."""
    holding = live_holdings(node_id)
    return (
        select(
            holding.c.pod_id,
            t.device_binding.c.container,
            holding.c.resource_id,
            t.device_binding.c.numa_node,
            holding.c.identifier,
        )
        .select_from(holding)
        .join(t.device_binding, t.device_binding.c.holding_id == holding.c.id)
        .order_by(t.device_binding.c.ordinal)
    )
