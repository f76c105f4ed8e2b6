"""A pod as the writer plans for it; read from the database when it was known before."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, select

from simulator.core.pods import ContainerName, PodUid
from simulator.core.transitions import PodIdentity
from store import tables as t
from store.node_entries import NodeEntry, PodRuns, runs_of

PodRow = tuple[str, str, int, str, str, bool, int | None]
"""Namespace, name, standing, reason, message, holds_devices, ended_revision."""

Why = tuple[int, str, str]
"""Standing, reason and message."""

NOTHING_BOUND: Final[frozenset[tuple[int, int]]] = frozenset()


class PodEntry:
    """A pod under planning; lean, since one is made for each admission.

    Attributes:
        why: How it stands with the node.
        containers: Names; the place is the ordinal.
        holdings: Device key to holding key.
        bound: Container ordinal and resource key of every binding.
    """

    __slots__ = ("bound", "containers", "holdings", "id", "identity", "why")

    def __init__(self, id_: int, identity: PodIdentity, why: Why) -> None:
        self.id = id_
        self.identity = identity
        self.why = why
        self.containers: list[ContainerName] = []
        self.holdings: dict[int, int] = {}
        self.bound: AbstractSet[tuple[int, int]] = NOTHING_BOUND

    def row(self, ended: int | None = None) -> PodRow:
        """Return what can change of the pod's row."""
        identity = self.identity
        return (identity.namespace, identity.name, *self.why, bool(self.holdings), ended)

    def runs(self) -> PodRuns:
        """Return what the writer remembers of the pod."""
        return runs_of(self.id, sorted(self.holdings.values()))


@dataclass(frozen=True, slots=True)
class BoundDevice:
    """A device of a pod and one container (ordinal) and resource (key) it is bound to."""

    device_id: int
    holding_id: int
    key: tuple[int, int]


def read_pod(connection: Connection, uid: PodUid, known: PodRuns | int | None) -> PodEntry | None:
    """Read a pod; None when the database does not know it, or knows it no more.

    Args:
        connection: To the database.
        uid: Of the pod.
        known: What is known of it.
    """
    key, *runs = known if isinstance(known, tuple) else (known,)
    pod = connection.execute(select(t.pod).where(t.pod.c.id == key)).one_or_none() if key else None
    if pod is None:
        return None
    identity = PodIdentity(uid, pod.namespace, pod.name)
    entry = PodEntry(pod.id, identity, (pod.standing, pod.reason, pod.message))
    container = t.container
    names = select(container.c.name).where(container.c.pod_id == pod.id)
    entry.containers = list(connection.scalars(names.order_by(container.c.ordinal)))
    holding = t.device_holding
    for first, last in zip(runs[::2], runs[1::2], strict=True):
        held = select(holding.c.device_id, holding.c.id).where(holding.c.id.between(first, last))
        entry.holdings.update(connection.execute(held).all())
    response = t.allocate_response
    bound = select(response.c.container, response.c.resource_id).where(response.c.pod_id == pod.id)
    entry.bound = {(row.container, row.resource_id) for row in connection.execute(bound)}
    return entry


def read_bound(connection: Connection, pod: PodEntry) -> list[BoundDevice]:
    """Read which containers have the devices that a pod holds."""
    _, *runs = pod.runs()
    binding = t.device_binding
    query = (
        select(
            t.device_holding.c.device_id,
            binding.c.holding_id,
            binding.c.container,
            t.device.c.resource_id,
        )
        .distinct()
        .join(t.device_holding, t.device_holding.c.id == binding.c.holding_id)
        .join(t.device, t.device.c.id == t.device_holding.c.device_id)
        .order_by(binding.c.holding_id, binding.c.container)
    )
    return [
        BoundDevice(device_id, holding_id, (container, resource_id))
        for first, last in zip(runs[::2], runs[1::2], strict=True)
        for device_id, holding_id, container, resource_id in connection.execute(
            query.where(binding.c.holding_id.between(first, last))
        )
    ]


def read_settlements(connection: Connection, node: NodeEntry) -> list[int]:
    """Read which disputed holdings are the oldest ones left of their devices."""
    holding = t.device_holding
    rows = connection.execute(
        select(holding.c.id, holding.c.device_id, holding.c.disputed)
        .join(t.device, t.device.c.id == holding.c.device_id)
        .join(t.resource, t.resource.c.id == t.device.c.resource_id)
        .where(t.resource.c.node_id == node.id, holding.c.until_revision.is_(None))
        .order_by(holding.c.disputed, holding.c.id)
    )
    first: dict[int, int] = {}
    return [
        row.id for row in rows if first.setdefault(row.device_id, row.id) == row.id and row.disputed
    ]
