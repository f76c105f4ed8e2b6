"""The health of a pod's devices in its status (KEP-4680, S9.3 to S9.6).

The answer is what the plugin last said: a device that is gone, or whose plugin is, counts as
healthy (S9.4). That is the kubelet's behaviour, not a slip.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from simulator.core.devices import HEALTHY, UNHEALTHY, Device, DeviceId, DeviceInstances
from simulator.core.pods import ContainerName, Pod
from simulator.core.resources import ResourceName


@dataclass(frozen=True, slots=True)
class ResourceStatus:
    """The devices of one resource of one container (ResourceStatus of the API).

    Attributes:
        name: The resource.
        resources: Pairs of device id and `Healthy` or `Unhealthy`, by id.
    """

    name: ResourceName
    resources: tuple[tuple[DeviceId, str], ...]


AllocatedResourcesStatus = Mapping[ContainerName, tuple[ResourceStatus, ...]]
"""`allocatedResourcesStatus` of the regular containers that hold devices."""


def device_health(device: DeviceId, devices: DeviceInstances) -> str:
    """Return `Unhealthy` if the plugin's last list says so, else `Healthy` (S9.4)."""
    known = devices.get(device)
    return HEALTHY if known is None or known.is_healthy else UNHEALTHY


def allocated_resources_status(
    pod: Pod,
    *,
    held: Callable[[ContainerName], Mapping[ResourceName, Iterable[DeviceId]]],
    devices: Mapping[ResourceName, DeviceInstances],
) -> AllocatedResourcesStatus:
    """Return the status of the pod's regular containers; init and sidecar ones have none (S9.3).

    Args:
        pod: Any pod; one that holds nothing has an empty status.
        held: The ids recorded for a container of the pod, by resource.
        devices: The last list of each resource.

    Kubelet: UpdateAllocatedResourcesStatus. Differs: resources and ids are sorted (S9.5).
    """
    status: dict[ContainerName, tuple[ResourceStatus, ...]] = {}
    for container in pod.containers:
        of_container = tuple(
            ResourceStatus(
                resource,
                tuple(
                    (device, device_health(device, devices.get(resource, {})))
                    for device in sorted(ids)
                ),
            )
            for resource, ids in sorted(held(container.name).items())
        )
        if of_container:
            status[container.name] = of_container
    return status


def changed_health(listed: Iterable[Device], previous: DeviceInstances) -> tuple[DeviceId, ...]:
    """Return the listed devices that are new or changed their health, sorted (S9.6).

    Devices that left the list are not among them.
    """
    return tuple(
        sorted(
            {
                device.id
                for device in listed
                if device.id not in previous or previous[device.id].health != device.health
            }
        )
    )
