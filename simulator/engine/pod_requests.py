"""What a pod asks for, as the scheduler and the node accounting count it.

Extended resources only: per resource the sum over its containers and sidecars, or what its most
demanding plain init container needs beside the sidecars started before it (S7.1).
"""

from __future__ import annotations

from simulator.core.pods import ContainerKind, Pod
from simulator.core.resources import ResourceName


def pod_request(pod: Pod) -> dict[ResourceName, int]:
    """Return the request of a pod by resource."""
    sidecars: dict[ResourceName, int] = {}
    most: dict[ResourceName, int] = {}
    for container in pod.init_containers:
        for resource, count in container.limits:
            needed = sidecars.get(resource, 0) + count
            most[resource] = max(most.get(resource, 0), needed)
            if container.kind is ContainerKind.SIDECAR:
                sidecars[resource] = needed
    total = dict(sidecars)
    for container in pod.containers:
        for resource, count in container.limits:
            total[resource] = total.get(resource, 0) + count
    return {
        resource: max(total.get(resource, 0), most.get(resource, 0))
        for resource in dict.fromkeys([*most, *total])
    }
