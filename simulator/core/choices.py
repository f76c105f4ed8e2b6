"""Where the kubelet leaves a choice to chance, Rebind asks a `Choices`.

Go iterates its maps in random order: which devices of a tier are taken, in which order a
container's resources are looked at, which of several container ids is the one looked up. The
default choice is the sorted one (a refinement of the real behaviour); a scenario may ask for a
seeded random one; the golden traces force what the real code chose.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from simulator.core.devices import DeviceId, NumaNode
from simulator.core.pods import ContainerName, PodUid
from simulator.core.resources import ResourceName


class Choices(Protocol):
    """The choices that are the runtime's, not the algorithm's."""

    def order_resources(
        self, pod: PodUid, container: ContainerName, resources: Sequence[ResourceName]
    ) -> Sequence[ResourceName]:
        """Return `resources` in the order in which the container's limits are looked at (S3.5)."""
        ...

    def take(
        self,
        tier: Sequence[DeviceId],
        count: int,
        *,
        pod: PodUid,
        container: ContainerName,
        resource: ResourceName,
    ) -> Sequence[DeviceId]:
        """Return `count` ids of the sorted `tier`, also when it is taken whole (S3.20)."""
        ...

    def order_nodes(
        self,
        nodes: Sequence[NumaNode],
        *,
        pod: PodUid,
        container: ContainerName,
        resource: ResourceName,
    ) -> Sequence[NumaNode]:
        """Return the sorted `nodes` in the order in which a device's first one is sought.

        Asked only of kubelets whose sort by node is broken (1.20.2/DIFFERENCES 12).
        """
        ...

    def pick_instance(
        self,
        pod: PodUid,
        container: ContainerName,
        resource: ResourceName,
        instances: Sequence[tuple[str, bool]],
    ) -> int:
        """Return the index of the (container id, running) pair that is looked up (S5.6)."""
        ...


class SortedChoices:
    """The deterministic default: lowest id first, resources by name, an exited instance if any."""

    def order_resources(
        self, pod: PodUid, container: ContainerName, resources: Sequence[ResourceName]
    ) -> Sequence[ResourceName]:
        """Return the resources by name."""
        del pod, container
        return sorted(resources)

    def take(
        self,
        tier: Sequence[DeviceId],
        count: int,
        *,
        pod: PodUid,
        container: ContainerName,
        resource: ResourceName,
    ) -> Sequence[DeviceId]:
        """Return the lowest ids."""
        del pod, container, resource
        return tier[:count]

    def order_nodes(
        self,
        nodes: Sequence[NumaNode],
        *,
        pod: PodUid,
        container: ContainerName,
        resource: ResourceName,
    ) -> Sequence[NumaNode]:
        """Return the nodes as they are, lowest first."""
        del pod, container, resource
        return nodes

    def pick_instance(
        self,
        pod: PodUid,
        container: ContainerName,
        resource: ResourceName,
        instances: Sequence[tuple[str, bool]],
    ) -> int:
        """Return the first exited instance, the harmful case, or the first one."""
        del pod, container, resource
        return next((index for index, (_, running) in enumerate(instances) if not running), 0)
