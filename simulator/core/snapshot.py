"""All that a device manager knows, as plain values to look at and compare."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from simulator.core.devices import DeviceId, DeviceInstances
from simulator.core.manager_state import ManagerState
from simulator.core.pods import PodUid
from simulator.core.resources import ResourceName
from simulator.core.transitions import DeviceBinding

IdsByResource = Mapping[ResourceName, tuple[DeviceId, ...]]
"""Sorted ids by resource; a resource without ids is not the same as none."""


@dataclass(frozen=True, slots=True)
class ManagerSnapshot:
    """The kubelet's maps at one instant.

    Attributes:
        healthy, unhealthy, allocated: The sets of those names (S2.1).
        listed: `allDevices`.
        endpoints: `running`, `stopped` or `expired`.
        reusable: `devicesToReuse` of the one pod that has an entry, if any.
        bindings: In order of insertion.
    """

    healthy: IdsByResource
    unhealthy: IdsByResource
    allocated: IdsByResource
    listed: Mapping[ResourceName, DeviceInstances]
    endpoints: Mapping[ResourceName, str]
    reusable: tuple[PodUid, IdsByResource] | None
    bindings: tuple[DeviceBinding, ...]


def snapshot(state: ManagerState) -> ManagerSnapshot:
    """Return what the device manager knows now."""
    pools = dict(sorted(state.inventory.pools.items()))
    grace_period = state.behavior.endpoint_grace_period
    pod = state.reusable.pod
    return ManagerSnapshot(
        healthy={name: pool.healthy_ids for name, pool in pools.items() if pool.is_registered},
        unhealthy={
            name: tuple(pool.of_slots(pool.unhealthy))
            for name, pool in pools.items()
            if pool.has_unhealthy
        },
        allocated={name: pool.allocated() for name, pool in pools.items() if pool.is_in_use},
        listed={name: pool.listed for name, pool in pools.items() if pool.is_reported},
        endpoints={
            name: "expired"
            if endpoint.is_expired(state.now, grace_period)
            else "stopped"
            if endpoint.is_stopped
            else "running"
            for name, endpoint in sorted(state.inventory.endpoints.items())
        },
        reusable=None if pod is None else (pod, dict(state.reusable.items())),
        bindings=tuple(state.pod_devices),
    )
