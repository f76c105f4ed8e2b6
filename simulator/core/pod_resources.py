"""What the PodResources service answers (S8): who has which device, and what could be had.

Plain values; the wire turns them into messages. CPUs, memory and claims are not modelled and stay
empty. Kubelet: apis/podresources.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from simulator.core.behavior import Behavior, CheckpointFormat, ServedMethod
from simulator.core.calls import StoreDecision
from simulator.core.device_manager import DeviceManager
from simulator.core.devices import DeviceId, NumaNode
from simulator.core.instants import Instant
from simulator.core.pods import Container, ContainerKind, ContainerName, Pod, PodUid
from simulator.core.resources import ResourceName
from simulator.core.token_bucket import TokenBucket
from simulator.core.transitions import DeviceBinding

V1: Final = "v1"
V1ALPHA1: Final = "v1alpha1"

LIST: Final = "List"
GET_ALLOCATABLE: Final = "GetAllocatableResources"
GET: Final = "Get"

RATE_LIMITED: Final = "rejected by rate limit"
"""With which a call beyond the limit is refused (S8.3)."""

DISABLED: Final[Mapping[str, str]] = {
    GET: "PodResources API Get method disabled",
    GET_ALLOCATABLE: "PodResources API GetAllocatableResources disabled",
}
"""What a method answers whose gate is off (S8.6; that of GetAllocatableResources is believed)."""

_CALLS_PER_SECOND: Final = 100
_CALLS_AT_ONCE: Final = 10


@dataclass(frozen=True, slots=True)
class ContainerDevices:
    """Devices of one resource, as one entry of an answer (S8.9).

    Attributes:
        ids: Exactly one from 1.25 on.
        numa_nodes: None where the entry has no topology.
    """

    resource: ResourceName
    ids: tuple[DeviceId, ...]
    numa_nodes: tuple[NumaNode, ...] | None


@dataclass(frozen=True, slots=True)
class ContainerResources:
    """What one container has; a container without devices is listed too (S8.7)."""

    name: ContainerName
    devices: tuple[ContainerDevices, ...] = ()


@dataclass(frozen=True, slots=True)
class PodResources:
    """What the containers of one pod have."""

    name: str
    namespace: str
    containers: tuple[ContainerResources, ...]


@dataclass(frozen=True, slots=True)
class LookupFailed:
    """Why Get has no answer (S8.11)."""

    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PodResourcesGates:
    """The kubelet's feature gates of this service; None leaves one at its version's default.

    Attributes:
        active_pods: KubeletPodResourcesListUseActivePods; there is one from 1.34 on.
        get_allocatable: KubeletPodResourcesGetAllocatable.
        get: KubeletPodResourcesGet.
    """

    active_pods: bool = True
    get_allocatable: bool | None = None
    get: bool | None = None


class KubeletPods(Protocol):
    """The pods of a kubelet process, as this service looks at them."""

    def known(self) -> Iterable[Pod]:
        """Return all pods of the pod manager, those that have ended too."""
        ...

    def is_active(self, uid: PodUid) -> bool:
        """Tell whether a pod counts as active (S6.5)."""
        ...

    def is_terminal(self, uid: PodUid) -> bool:
        """Tell whether a pod has succeeded or failed."""
        ...


def served_methods(
    behavior: Behavior, gates: PodResourcesGates = PodResourcesGates()
) -> dict[tuple[str, str], ServedMethod]:
    """Return what is there of the service: version and method, to whether it is on (S8.2, S8.6).

    What is missing is unknown to the server.
    """
    found: dict[tuple[str, str], ServedMethod] = {
        (version, LIST): ServedMethod.ON for version in sorted(behavior.pod_resources_versions)
    }
    if V1 in behavior.pod_resources_versions:
        for method, state, gate in (
            (GET_ALLOCATABLE, behavior.pod_resources_allocatable_served, gates.get_allocatable),
            (GET, behavior.pod_resources_get_served, gates.get),
        ):
            if state is ServedMethod.ABSENT:
                continue
            chosen = state if gate is None else ServedMethod.ON if gate else ServedMethod.OFF
            found[V1, method] = chosen
    return found


def call_limit(behavior: Behavior, now: Instant) -> TokenBucket | None:
    """Return the limit that all clients, methods and versions share; None up to 1.26 (S8.3)."""
    if not behavior.pod_resources_rate_limited:
        return None
    return TokenBucket.full(per_second=_CALLS_PER_SECOND, burst=_CALLS_AT_ONCE, now=now)


class PodResourcesView:
    """The answers of one kubelet process.

    What a pod is listed with is kept until its bindings change, so that a List costs what changed;
    an entry that did not change is the same object.
    """

    def __init__(
        self,
        manager: DeviceManager,
        pods: KubeletPods,
        behavior: Behavior,
        gates: PodResourcesGates = PodResourcesGates(),
    ) -> None:
        self._manager = manager
        self._pods = pods
        self._behavior = behavior
        self._gates = gates
        self._kept: dict[str, dict[PodUid, _Kept]] = {V1: {}, V1ALPHA1: {}}

    def list_pods(self, version: str = V1) -> StoreDecision[tuple[PodResources, ...]]:
        """Answer List: the pods are looked up, what can be freed is freed, then it is read.

        Without an error path (S8.12): when a release cannot be made durable, it is not made, and
        List shows what is recorded.

        Kubelet: v1PodResourcesServer.List (S8.7), v1alpha1PodResourcesServer.List (S8.5).
        """
        pods = list(self._listed(version))
        if self._behavior.pod_resources_releases:
            yield from self._manager.release_inactive()
        before = self._kept[version]
        kept = {pod.uid: self._entry(pod, version, before.get(pod.uid)) for pod in pods}
        self._kept[version] = kept
        return tuple(each.entry for each in kept.values())

    def allocatable(self) -> tuple[ContainerDevices, ...]:
        """Answer GetAllocatableResources: what could be had, allocated or not (S8.10).

        A device whose topology message names no node has as many entries as nodes: none (S8.9).
        """
        found: list[ContainerDevices] = []
        for resource, devices in sorted(self._manager.allocatable_devices().items()):
            nodes = {id_: devices[id_].topology for id_ in sorted(devices)}
            found += self._entries(resource, nodes)
        return tuple(found)

    def pod(self, namespace: str, name: str) -> PodResources | LookupFailed:
        """Answer Get; it frees nothing (S8.11).

        Before 1.34 a pod that has ended is found too.
        """
        for pod in self._pods.known():
            if pod.name == name and pod.namespace == namespace:
                if self._behavior.pod_resources_active_pods_only and not self._pods.is_active(
                    pod.uid
                ):
                    continue
                return self._read(pod, V1)
        return LookupFailed(f"pod {name} in namespace {namespace} not found")

    def _listed(self, version: str) -> Iterator[Pod]:
        """Return the pods that a List is about (S8.5, S8.8)."""
        behavior, pods = self._behavior, self._pods
        if version == V1ALPHA1:
            yield from pods.known()
        elif behavior.pod_resources_active_pods_only and self._gates.active_pods:
            yield from (pod for pod in pods.known() if pods.is_active(pod.uid))
        elif behavior.pod_resources_terminal_pods_hidden:
            yield from (pod for pod in pods.known() if not pods.is_terminal(pod.uid))
        else:
            yield from pods.known()

    def _entry(self, pod: Pod, version: str, kept: _Kept | None) -> _Kept:
        bindings = tuple(self._manager.bindings_of(pod.uid))
        if kept is not None and kept.pod is pod and kept.bindings == bindings:
            return kept
        return _Kept(pod, bindings, self._read(pod, version))

    def _read(self, pod: Pod, version: str) -> PodResources:
        containers = tuple(
            ContainerResources(container.name, tuple(self._held(pod.uid, container, version)))
            for container in self._listed_containers(pod, version)
        )
        return PodResources(pod.name, pod.namespace, containers)

    def _listed_containers(self, pod: Pod, version: str) -> Iterator[Container]:
        """Return sidecars, where they are listed, then the regular containers (S8.5, S8.7)."""
        if version == V1 and self._behavior.pod_resources_sidecars_listed:
            yield from (each for each in pod.init_containers if each.kind is ContainerKind.SIDECAR)
        yield from pod.containers

    def _held(self, pod: PodUid, container: Container, version: str) -> Iterator[ContainerDevices]:
        for resource, devices in self._manager.devices_of(pod, container.name).items():
            for entry in self._entries(resource, devices):
                if version == V1ALPHA1:
                    yield ContainerDevices(entry.resource, entry.ids, None)
                else:
                    yield entry

    def _entries(
        self, resource: ResourceName, devices: Mapping[DeviceId, tuple[NumaNode, ...] | None]
    ) -> Iterator[ContainerDevices]:
        """Yield a resource's devices as entries; ids and nodes are in order.

        Kubelet: containerDevicesFromResourceDeviceInstances; up to 1.24 one entry for each NUMA
        node (1.20.2 list 19), and one for all where the nodes are not recorded (up to 1.19).
        """
        if self._behavior.checkpoint_written is CheckpointFormat.V1 and devices:
            yield ContainerDevices(resource, tuple(devices), None)
            return
        single: list[tuple[DeviceId, NumaNode | None]] = []
        for device, nodes in devices.items():
            single += [(device, None)] if nodes is None else [(device, node) for node in nodes]
        if self._behavior.pod_resources_entry_per_device:
            for device, node in single:
                yield ContainerDevices(resource, (device,), None if node is None else (node,))
            return
        for node in sorted({node for _, node in single}, key=lambda each: (each is None, each)):
            ids = tuple(device for device, own in single if own == node)
            yield ContainerDevices(resource, ids, None if node is None else (node,))


@dataclass(frozen=True, slots=True)
class _Kept:
    """What a pod is listed with, and from what that was read."""

    pod: Pod
    bindings: tuple[DeviceBinding, ...]
    entry: PodResources
