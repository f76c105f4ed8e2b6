"""The Node object's extended resources: when they are reset, and whether a pod fits (S2.16, S13.3).

Kubelet: ShouldResetExtendedResourceCapacity (devicemanager/manager.go), the resource part of the
predicates (lifecycle/predicate.go).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from simulator.core.behavior import ExtendedResourceReset
from simulator.core.refusals import ADMITTED, Admission
from simulator.core.resources import ResourceName


def listed_files(names: Iterable[str]) -> list[str]:
    """Return what the kubelet's file store lists of a directory: no temporary files (S4.9).

    Kubelet: FileStore.List (util/store).
    """
    return sorted(name for name in names if not name.startswith("."))


def resets_extended_resources(reset: ExtendedResourceReset, files: Iterable[str]) -> bool:
    """Tell whether a starting kubelet sets the node's extended resources to 0 (S2.16).

    Args:
        reset: What the version does.
        files: Names in the plugin directory. The registration socket is among them once it exists,
            and then nothing is reset (issue 126943).
    """
    if reset is ExtendedResourceReset.WITHOUT_CHECKPOINT:
        return not listed_files(files)
    return reset is ExtendedResourceReset.ALWAYS


def counted_requests(
    requests: Mapping[ResourceName, int],
    *,
    allocatable: Mapping[ResourceName, int],
    claimed: Collection[ResourceName] = (),
) -> dict[ResourceName, int]:
    """Return those requests that the node has to account for (S13.3).

    A resource that the node does not name is somebody else's affair, as is one served by a claim;
    one of which it has none is not.

    Kubelet: removeMissingExtendedResources.
    """
    return {
        resource: requested
        for resource, requested in requests.items()
        if resource in allocatable and resource not in claimed
    }


def admit_by_account(
    requests: Mapping[ResourceName, int],
    *,
    used: Mapping[ResourceName, int],
    allocatable: Mapping[ResourceName, int],
) -> Admission:
    """Admit a pod if what it requests is left on the node, or refuse it (S13.3).

    Args:
        requests: Of the pod, as `counted_requests` returns them.
        used: Requested by the node's other pods.
        allocatable: What the node has.
    """
    for resource in sorted(requests):
        requested, taken = requests[resource], used.get(resource, 0)
        if requested + taken > allocatable[resource]:
            return Admission(
                admitted=False,
                reason=f"OutOf{resource}",
                message=(
                    f"Node didn't have enough resource: {resource}, requested: {requested}, "
                    f"used: {taken}, capacity: {allocatable[resource]}"
                ),
            )
    return ADMITTED
