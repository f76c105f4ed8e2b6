"""What the specs of pods say of their devices, against what a device manager holds."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from simulator.core.devices import NO_NUMA_NODE, DeviceId, device_ids
from simulator.core.persistence.protocol import ManagerView
from simulator.core.pods import ContainerName, Pod, PodUid
from simulator.core.records import DevicesBound
from simulator.core.resources import ResourceName
from simulator.core.transitions import DeviceBinding, PodIdentity

BindingKey = tuple[ContainerName, ResourceName]
"""What a pod has one binding for."""


class SpecDevices:
    """Which device bindings of pods stand in their specs, as far as this kubelet knows.

    That is what the pods themselves say, as the kubelet's watch shows them, and what the server has
    answered since. What it has refused for good counts too: it would refuse it again.
    """

    def __init__(self) -> None:
        self._answered: dict[PodUid, dict[BindingKey, tuple[DeviceId, ...]]] = {}

    def lacks(self, view: ManagerView, pod: Pod) -> tuple[DeviceBinding, ...]:
        """Return the bindings of a pod that its spec does not have and could have.

        A static pod has no spec, and a spec has nothing of containers that only a file knows.
        """
        if pod.static:
            return ()
        answered = self._answered.get(pod.uid, {})
        containers = {each.name: each for each in pod.all_containers()}
        lacking: list[DeviceBinding] = []
        for binding in view.pod_bindings(pod.uid):
            container = containers.get(binding.container)
            if container is None:
                continue
            ids = device_ids(binding.devices)
            named = container.bound_to(binding.resource)
            key = (binding.container, binding.resource)
            if answered.get(key) != ids and (named is None or tuple(sorted(named)) != ids):
                lacking.append(binding)
        return tuple(lacking)

    def answered(self, bindings: Sequence[DeviceBinding]) -> None:
        """Remember bindings about which the server has said its word."""
        for binding in bindings:
            known = self._answered.setdefault(binding.pod, {})
            known[binding.container, binding.resource] = device_ids(binding.devices)

    def forget(self, pods: Sequence[PodUid]) -> None:
        """Forget pods."""
        for pod in pods:
            self._answered.pop(pod, None)


def identity_of(pod: Pod) -> PodIdentity:
    """Return by what the API knows a pod."""
    return PodIdentity(pod.uid, pod.namespace, pod.name)


def named_bindings(
    view: ManagerView, pods: Sequence[Pod], outdated: Collection[PodUid] = ()
) -> tuple[DeviceBinding, ...]:
    """Return the bindings that pods' specs name and the device manager can take up.

    Not those of containers that have a record, nor of devices that another pod has, be it another
    one of these pods: the first one that names a device has it.

    Args:
        view: The device manager.
        pods: Those of a first LIST.
        outdated: Whose records count for nothing.
    """
    taken: dict[tuple[ResourceName, DeviceId], PodUid] = {}
    return tuple(
        binding
        for pod in pods
        for binding in unrecorded(view, pod)
        if may_take(view, binding, taken, outdated)
    )


def outdated_holders(view: ManagerView, pods: Sequence[Pod]) -> tuple[PodUid, ...]:
    """Return the pods that have devices which specs name, and are not there any more.

    So says a file whose last write was lost with the power, after the pod that has the devices now
    was bound (W10, W11).
    """
    listed = {pod.uid for pod in pods}
    holders = (
        view.holder(binding.resource, device)
        for pod in pods
        for binding in unrecorded(view, pod)
        for device in device_ids(binding.devices)
    )
    return tuple(
        dict.fromkeys(
            pod
            for pod in holders
            if pod is not None and pod not in listed and not view.is_active(pod)
        )
    )


def unrecorded(view: ManagerView, pod: Pod) -> Iterator[DeviceBinding]:
    """Yield what a pod's spec says of the devices of containers that have no record of them."""
    recorded = {(each.container, each.resource) for each in view.pod_bindings(pod.uid)}
    for binding in bindings_in_spec(pod):
        if (binding.container, binding.resource) not in recorded:
            yield binding


def may_take(
    view: ManagerView,
    binding: DeviceBinding,
    taken: dict[tuple[ResourceName, DeviceId], PodUid],
    outdated: Collection[PodUid] = (),
) -> bool:
    """Tell whether no other pod has the devices of a binding, and note in `taken` that it does."""
    keys = [(binding.resource, device) for device in device_ids(binding.devices)]
    holders = {taken.get(key) or view.holder(*key) for key in keys}
    if not holders.difference(outdated) <= {None, binding.pod}:
        return False
    taken.update(dict.fromkeys(keys, binding.pod))
    return True


def bound(
    target: str, pod: PodUid, bindings: Sequence[DeviceBinding], error: str = ""
) -> DevicesBound:
    """Return the record of what the server said to a pod's devices."""
    held = (
        ()
        if error
        else tuple(
            (each.pod, each.container, each.resource, device_ids(each.devices)) for each in bindings
        )
    )
    return DevicesBound(target, pod, held, error)


def bindings_in_spec(pod: Pod) -> Iterator[DeviceBinding]:
    """Yield what a pod's spec says of its devices.

    It says nothing of NUMA nodes; they are found when the plugin is asked again.
    """
    for container in pod.all_containers():
        for resource, ids in container.compute_devices:
            devices = {NO_NUMA_NODE: tuple(sorted(ids))}
            yield DeviceBinding(pod.uid, container.name, resource, devices, None)
