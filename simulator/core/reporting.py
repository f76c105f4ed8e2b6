"""What follows from a plugin's message, its end, and its long absence (S1.18, S2.6, S2.10)."""

from __future__ import annotations

from collections.abc import Sequence

from simulator.core.calls import StoreDecision
from simulator.core.devices import Device
from simulator.core.manager_state import ManagerState
from simulator.core.records import (
    DevicesListed,
    HealthUpdated,
    PluginDisconnected,
    ResourceExpired,
)
from simulator.core.refusals import Refusal
from simulator.core.resource_health import changed_health
from simulator.core.resources import ResourceName


def report_devices(
    state: ManagerState, resource: ResourceName, devices: Sequence[Device]
) -> StoreDecision[Refusal | None]:
    """Fold in a ListAndWatch message and name the pods to be synced (S1.18, S9.6).

    Kubelet: genericDeviceUpdateCallback.
    """
    pool = state.pool(resource)
    # Of a list of very many devices few are owned, and nobody asks about the others.
    owned = [device for device in devices if state.pod_devices.is_owned(device.id)]
    changed = changed_health(owned, pool.listed) if state.behavior.resource_health_in_status else ()
    pool.fold(devices, state.behavior)
    state.note(DevicesListed(resource, tuple(devices)))
    of_resource = resource if state.behavior.health_updates_by_resource else None
    owners = dict.fromkeys(
        owner
        for device in changed
        if (owner := state.pod_devices.owner(device, of_resource)) is not None
    )
    if owners:
        state.note(HealthUpdated(tuple(owners)))
    return state.persistence.on_devices_changed(state, resource, devices)


def disconnect(state: ManagerState, resource: ResourceName, registration: int | None) -> None:
    """End the stream of a resource's plugin (S2.6). Nothing is written and no pod is synced."""
    had_effect = state.inventory.disconnect(
        resource,
        state.now,
        registration=registration,
        match=state.behavior.disconnect_match,
    )
    if had_effect:
        state.note(PluginDisconnected(resource))


def expire_endpoints(state: ManagerState) -> StoreDecision[tuple[ResourceName, ...]]:
    """Drop the resources whose plugin was away too long and write once for all (S2.10, S2.11).

    A failed write is noted in the records and changes nothing.

    Kubelet: GetCapacity.
    """
    removed = state.inventory.capacity(state.now, state.behavior.endpoint_grace_period).removed
    for resource in removed:
        state.inventory.remove(resource)
        state.note(ResourceExpired(resource))
    if removed:
        yield from state.persistence.on_resources_removed(state, removed)
    return removed
