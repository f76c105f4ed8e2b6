"""Devices as a plugin reports them, and groups of device ids.

`-1` as a NUMA node exists only where devices are grouped by node (`DevicesPerNuma`); a `Device`
itself says None for "no topology message" and `()` for "a topology message without nodes".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, NewType

from simulator.core.resources import ResourceName

DeviceId = NewType("DeviceId", str)
"""A device's id, unique within its resource on its node."""

NumaNode = NewType("NumaNode", int)
"""A NUMA node id."""

NO_NUMA_NODE: Final = NumaNode(-1)
"""The group of devices without topology (nodeWithoutTopology)."""

HEALTHY: Final = "Healthy"
UNHEALTHY: Final = "Unhealthy"

DevicesPerNuma = Mapping[NumaNode, tuple[DeviceId, ...]]
"""Device ids by NUMA node; a device on several nodes stands under each (S2.2)."""

DeviceInstances = Mapping[DeviceId, "Device"]
"""The devices of one resource by id (DeviceInstances)."""

ResourceDeviceInstances = Mapping[ResourceName, DeviceInstances]
"""The devices of each resource (ResourceDeviceInstances)."""


@dataclass(frozen=True, slots=True)
class Device:
    """One device of one ListAndWatch message.

    Attributes:
        id: Unique within the resource.
        health: The text as the plugin sent it; anything but exactly `Healthy` is unhealthy (S1.5).
        topology: NUMA nodes; None without a topology message, empty for a message without nodes.
    """

    id: DeviceId
    health: str = HEALTHY
    topology: tuple[NumaNode, ...] | None = None

    @property
    def is_healthy(self) -> bool:
        """Whether the kubelet counts this device as allocatable (S1.5)."""
        return self.health == HEALTHY

    @property
    def numa_nodes(self) -> tuple[NumaNode, ...]:
        """The device's NUMA nodes; empty without topology."""
        return self.topology or ()


def device_ids(grouped: DevicesPerNuma | None) -> tuple[DeviceId, ...]:
    """Return the sorted union of all groups (DevicesPerNUMA.Devices)."""
    groups = list(grouped.values()) if grouped else []
    if len(groups) == 1 and len(groups[0]) == 1:
        return tuple(groups[0])  # The common case, and the one that a restore meets by thousands.
    return tuple(sorted({device for group in groups for device in group}))


def filter_instances(
    instances: ResourceDeviceInstances, wanted: Mapping[ResourceName, Iterable[DeviceId]]
) -> dict[ResourceName, DeviceInstances]:
    """Return the instances that `wanted` names; unknown ids and resources are left out.

    A resource of which nothing is left keeps its key (X18).

    Kubelet: ResourceDeviceInstances.Filter.
    """
    return {
        resource: {id_: instances[resource][id_] for id_ in ids if id_ in instances[resource]}
        for resource, ids in wanted.items()
        if resource in instances
    }
