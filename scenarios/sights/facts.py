"""What is seen of an expectation's subject, key by key, and whether it is what was expected."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from scenarios.schema.expect import Expectation
from scenarios.sights import nodes, pods, records
from scenarios.sights.scene import Scene
from simulator.reports.results import Fact

_Sight = Callable[[Expectation, Scene], list[Fact]]
_SIGHTS: Final[Mapping[str, _Sight]] = MappingProxyType(
    {
        "phase": pods.phase,
        "reason": pods.reason,
        "message": pods.message,
        "devices": pods.devices,
        "device_ids": pods.device_ids,
        "unchanged": pods.unchanged,
        "same_devices": pods.same_devices,
        "plugin_calls": pods.plugin_calls,
        "capacity": nodes.capacity,
        "allocatable": nodes.allocatable,
        "node_status": nodes.node_status,
        "pod_resources": nodes.pod_resources,
        "holdings": nodes.holdings,
        "checkpoint": nodes.checkpoint,
        "calls": pods.calls,
        "registered": pods.registered,
        "record": records.record,
        "event": records.event,
        "invariants": records.invariants,
    }
)


def facts(row: Expectation, keys: Sequence[str], scene: Scene) -> tuple[Fact, ...]:
    """Return what is seen of the row's subject for `keys`, names of fields of an expectation.

    A key about which the row says nothing is only observed.
    """
    return tuple(fact for key in keys for fact in _SIGHTS[key](row, scene))
