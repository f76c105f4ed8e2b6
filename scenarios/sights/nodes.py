"""What is seen of nodes, one function for each key of an expectation."""

from __future__ import annotations

from collections.abc import Mapping

from scenarios.schema.expect import CheckpointState, Expectation, NodeStatus
from scenarios.sights.scene import Scene, counted
from simulator.reports.results import Fact


def capacity(row: Expectation, scene: Scene) -> list[Fact]:
    """See the device manager's capacity."""
    seen = scene.run.node(scene.node).capacity
    return [counted(scene, "capacity", seen, row.capacity)]


def allocatable(row: Expectation, scene: Scene) -> list[Fact]:
    """See the device manager's allocatable devices."""
    seen = scene.run.node(scene.node).allocatable
    return [counted(scene, "allocatable", seen, row.allocatable)]


def node_status(row: Expectation, scene: Scene) -> list[Fact]:
    """See the figures of the Node object."""
    node = scene.run.node(scene.node)
    wanted = row.node_status or NodeStatus()
    found = [
        counted(scene, "nodeStatus.capacity", node.status_capacity, wanted.capacity),
        counted(scene, "nodeStatus.allocatable", node.status_allocatable, wanted.allocatable),
    ]
    return [fact for fact in found if fact.expected is not None or row.node_status is None]


def pod_resources(row: Expectation, scene: Scene) -> list[Fact]:
    """See the devices that GetAllocatableResources names."""
    wanted = row.pod_resources.allocatable if row.pod_resources is not None else None
    seen = scene.run.node(scene.node).named_allocatable
    return [counted(scene, "podResources.allocatable", seen, wanted)]


def holdings(row: Expectation, scene: Scene) -> list[Fact]:
    """See who holds what according to the durable state."""
    names = scene.pod_names()
    holders: dict[str, dict[str, str]] = {}
    for holding in scene.run.holdings(scene.node):
        pods = holders.setdefault(holding.resource, {})
        others = [pods[holding.device]] if holding.device in pods else []
        pods[holding.device] = "+".join([*others, names.get(holding.pod, holding.pod)])
    text = "; ".join(_held(holders[name]) for name in sorted(holders)) or "no holdings"
    if row.holdings is None:
        return [Fact("holdings", text)]
    holds = all(holders.get(name, {}) == dict(wanted) for name, wanted in row.holdings.items())
    wanted = "; ".join(_held(row.holdings[name]) for name in sorted(row.holdings))
    return [Fact("holdings", text, wanted, holds)]


def _held(holders: Mapping[str, str]) -> str:
    return " ".join(f"{device}={holders[device]}" for device in sorted(holders)) or "no holdings"


def checkpoint(row: Expectation, scene: Scene) -> list[Fact]:
    """See the checkpoint file."""
    seen = scene.run.checkpoint(scene.node)
    wanted = row.checkpoint or CheckpointState()
    text = f"{seen.entries} entries" if seen.valid else "damaged"
    if not seen.exists:
        text = "no file"
    if row.checkpoint is None:
        return [Fact("checkpoint", text)]
    pairs = {
        "exists": (seen.exists, wanted.exists),
        "valid": (seen.valid, wanted.valid),
        "entries": (seen.entries, wanted.entries),
    }
    asked = {key: pair for key, pair in pairs.items() if pair[1] is not None}
    shown = ", ".join(f"{key} {str(pair[1]).lower()}" for key, pair in asked.items())
    return [Fact("checkpoint", text, shown, all(one == two for one, two in asked.values()))]
