"""What is seen of an expectation's subject, key by key, and whether it is what was expected."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from scenarios import node_sights, pod_sights, record_sights
from scenarios.expect import Expectation
from scenarios.scene import Scene
from simulator.reports.results import Fact

_Sight = Callable[[Expectation, Scene], list[Fact]]
_SIGHTS: Final[Mapping[str, _Sight]] = MappingProxyType(
    {
        "phase": pod_sights.phase,
        "reason": pod_sights.reason,
        "message": pod_sights.message,
        "devices": pod_sights.devices,
        "device_ids": pod_sights.device_ids,
        "unchanged": pod_sights.unchanged,
        "same_devices": pod_sights.same_devices,
        "plugin_calls": pod_sights.plugin_calls,
        "capacity": node_sights.capacity,
        "allocatable": node_sights.allocatable,
        "node_status": node_sights.node_status,
        "pod_resources": node_sights.pod_resources,
        "holdings": node_sights.holdings,
        "checkpoint": node_sights.checkpoint,
        "calls": pod_sights.calls,
        "registered": pod_sights.registered,
        "record": record_sights.record,
        "event": record_sights.event,
        "invariants": record_sights.invariants,
    }
)


def facts(row: Expectation, keys: Sequence[str], scene: Scene) -> tuple[Fact, ...]:
    """Return what is seen of the row's subject for `keys`, names of fields of an expectation.

    A key about which the row says nothing is only observed.
    """
    return tuple(fact for key in keys for fact in _SIGHTS[key](row, scene))
