"""All resources of a node and their endpoints; what the node has of each.

Kubelet: endpoints, GetCapacity (devicemanager/manager.go).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from simulator.core.behavior import DisconnectMatch
from simulator.core.device_pool import DevicePool
from simulator.core.endpoints import Endpoint, PluginOptions
from simulator.core.instants import Duration, Instant
from simulator.core.resources import ResourceName


@dataclass(frozen=True, slots=True)
class Capacity:
    """What the node has, by resource (GetCapacity).

    Attributes:
        total: Healthy and unhealthy devices.
        allocatable: Healthy devices, in use or not.
        removed: Resources whose plugin was away longer than the grace period, sorted (S2.9).
    """

    total: Mapping[ResourceName, int]
    allocatable: Mapping[ResourceName, int]
    removed: tuple[ResourceName, ...]


class Inventory:
    """All resources and their endpoints."""

    __slots__ = ("_registrations", "endpoints", "pools")

    def __init__(self) -> None:
        self._registrations = 0
        self.pools: dict[ResourceName, DevicePool] = {}
        self.endpoints: dict[ResourceName, Endpoint] = {}

    def pool(self, resource: ResourceName) -> DevicePool:
        """Return the pool of `resource`, a new one if it was never heard of."""
        pool = self.pools.get(resource)
        if pool is None:
            pool = self.pools[resource] = DevicePool()
        return pool

    def is_device_resource(self, resource: ResourceName) -> bool:
        """Tell whether the device manager serves `resource` (isDevicePluginResource, S2.3)."""
        pool = self.pools.get(resource)
        return pool is not None and (pool.is_registered or pool.is_in_use)

    def connect(self, resource: ResourceName, options: PluginOptions) -> int:
        """Replace the resource's endpoint; device sets stay as they are (S1.12.7, S1.14).

        Returns:
            The number of this registration.
        """
        self._registrations += 1
        self.endpoints[resource] = Endpoint(self._registrations, options)
        return self._registrations

    def disconnect(
        self,
        resource: ResourceName,
        now: Instant,
        *,
        registration: int | None,
        match: DisconnectMatch,
    ) -> bool:
        """End the stream of a resource's plugin; tell whether that had an effect (S1.22, S2.6).

        `registration` says whose stream ended, None the present endpoint's. Matched by resource
        name, the present endpoint is hit even if a newer instance registered meanwhile; matched by
        endpoint, one that was replaced or ended has no stream (1.20.2/DIFFERENCES 20).

        Kubelet: PluginDisconnected.
        """
        endpoint = self.endpoints.get(resource)
        if endpoint is None:
            return False
        if match is DisconnectMatch.OWN_ENDPOINT and (
            endpoint.is_stopped or registration not in (None, endpoint.registration)
        ):
            return False
        self.pool(resource).mark_unhealthy()
        endpoint.stopped_at = now
        return True

    def restore(self, resource: ResourceName, now: Instant) -> None:
        """Know a resource as after a restart: no devices, and a stopped endpoint (S2.8)."""
        self.pool(resource).restore()
        self.endpoints[resource] = Endpoint(registration=0, options=None, stopped_at=now)

    def allocated_counts(self) -> Iterator[tuple[ResourceName, int]]:
        """Yield how many ids of each resource are in use, by resource; 0 for an empty set."""
        for resource, pool in sorted(self.pools.items()):
            if pool.is_in_use:
                yield resource, len(pool.held) + len(pool.reserved or ())

    def rebuild(self) -> None:
        """Forget all reservations: what is in use is what pods hold (S2.4)."""
        for pool in self.pools.values():
            pool.rebuild()

    def capacity(self, now: Instant, grace_period: Duration) -> Capacity:
        """Count devices and find the resources whose endpoint is gone or expired (S2.9)."""
        total: dict[ResourceName, int] = {}
        allocatable: dict[ResourceName, int] = {}
        removed: list[ResourceName] = []
        for resource in sorted(self.pools):
            pool = self.pools[resource]
            if not (pool.is_registered or pool.has_unhealthy):
                continue
            endpoint = self.endpoints.get(resource)
            if endpoint is None or endpoint.is_expired(now, grace_period):
                removed.append(resource)
                continue
            total[resource] = pool.healthy.bit_count() + pool.unhealthy.bit_count()
            if pool.is_registered:
                allocatable[resource] = pool.healthy.bit_count()
        return Capacity(total, allocatable, tuple(removed))

    def remove(self, resource: ResourceName) -> None:
        """Drop a resource's endpoint and health (S2.10)."""
        self.endpoints.pop(resource, None)
        self.pool(resource).remove()
