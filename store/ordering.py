"""The one order of answers, the same for every store and every database's collation."""

from __future__ import annotations

from simulator.ports import Holding


def holding_order(holding: Holding) -> tuple[str, str, str, int, bool, str]:
    """Sort by node, resource, device and beginning; of a dispute the undisputed one first."""
    return (
        holding.node,
        holding.resource,
        holding.device,
        holding.since_revision,
        holding.disputed,
        holding.pod.uid,
    )


def device_order(
    node: str, resource: str, slot: int | None, device: str
) -> tuple[str, str, bool, int, str]:
    """Sort by node and resource; listed devices first, in the plugin's order, then by id."""
    return (node, resource, slot is None, slot or 0, device)
