"""One node's state in memory and what each transition does to it, written to be read.

This is the naive twin of the SQL planner: no caches, no keys, whole scans.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from simulator.core.devices import HEALTHY, Device, DeviceId, NumaNode
from simulator.core.instants import Instant
from simulator.core.migration.phases import Phase
from simulator.core.pods import ContainerName, PodUid
from simulator.core.resources import ResourceName
from simulator.core.transitions import (
    CheckpointImported,
    DeviceBinding,
    DevicesReported,
    NodeBooted,
    NodeName,
    PhaseChanged,
    PodAdmitted,
    PodIdentity,
    PodRejected,
    PodsReleased,
    ResourceRemoved,
)
from simulator.ports import Refused, Standing
from store.changes import has_other_state, held_by_another
from store.imports import (
    BindingKey,
    Listed,
    bound_ids,
    by_key,
    contested,
    listed_in,
    refusal_of_conflicts,
)


@dataclass(slots=True)
class MemoryDevice:
    """What is known of a device; `slot` is None while it is not listed."""

    slot: int | None = None
    health: str | None = None
    numa_nodes: tuple[NumaNode, ...] | None = None


@dataclass(slots=True)
class MemoryResource:
    """A resource and every device ever seen of it."""

    registered: bool = False
    devices: dict[DeviceId, MemoryDevice] = field(default_factory=dict)

    def listed(self) -> tuple[DeviceId, ...]:
        """Return the listed devices in order."""
        slots = {
            id_: device.slot for id_, device in self.devices.items() if device.slot is not None
        }
        return tuple(sorted(slots, key=slots.__getitem__))

    def unlist(self) -> None:
        """Take all devices off the list."""
        for device in self.devices.values():
            device.slot = None


@dataclass(slots=True)
class MemoryPod:
    """A pod; `ended` when it is no longer part of the node's state."""

    identity: PodIdentity
    standing: Standing = Standing.ADMITTED
    reason: str = ""
    message: str = ""
    ended: bool = False
    containers: list[ContainerName] = field(default_factory=list)


@dataclass(slots=True)
class MemoryHolding:
    """One device held by one pod, from the change `since` to `until`."""

    resource: ResourceName
    device: DeviceId
    pod: PodUid
    boot_id: str
    since: tuple[int, Instant]
    disputed: bool = False
    until: tuple[int, Instant] | None = None
    containers: tuple[ContainerName, ...] = ()


@dataclass(slots=True)
class MemoryNode:
    """One node. Methods return the pods concerned, None for no change, or a refusal."""

    name: NodeName
    revision: int = 0
    boots: list[str] = field(default_factory=list)
    resources: dict[ResourceName, MemoryResource] = field(default_factory=dict)
    pods: dict[PodUid, MemoryPod] = field(default_factory=dict)
    bindings: dict[BindingKey, DeviceBinding] = field(default_factory=dict)
    holdings: list[MemoryHolding] = field(default_factory=list)
    imported: tuple[int, bytes] | None = None
    phase: Phase | None = None

    def held(self) -> list[MemoryHolding]:
        """Return the holdings that last."""
        return [holding for holding in self.holdings if holding.until is None]

    def boot(self, booted: NodeBooted) -> tuple[PodUid, ...] | None:
        """Begin a new boot."""
        if self.boots[-1:] == [booted.boot_id]:
            return None
        self.boots.append(booted.boot_id)
        return ()

    def report(self, report: DevicesReported) -> tuple[PodUid, ...] | None:
        """Fold in the list of a plugin; slots of devices that stay listed stay."""
        resource = self.resources.setdefault(report.resource, MemoryResource())
        before = (resource.registered, _known(resource.devices))
        reported = {device.id: device for device in report.devices}
        for id_, known in resource.devices.items():
            if id_ not in reported:
                known.slot = None
        _list(resource, reported)
        resource.registered = True
        return None if before == (True, _known(resource.devices)) else ()

    def remove(self, removed: ResourceRemoved) -> tuple[PodUid, ...] | None:
        """Forget that a resource is registered; its devices stay known."""
        resource = self.resources.get(removed.resource)
        if resource is None or not resource.registered:
            return None
        resource.registered = False
        resource.unlist()
        return ()

    def admit(self, admitted: PodAdmitted, revision: int) -> tuple[PodUid, ...] | Refused:
        """Bind devices to a pod unless another pod holds one."""
        uid = admitted.pod.uid
        bindings = by_key(admitted.bindings)
        for binding in bindings.values():
            for device in bound_ids(binding):
                for holding in self.held():
                    if (
                        (holding.resource, holding.device) == (binding.resource, device)
                        and holding.pod != uid
                        and not holding.disputed
                        and not self._holds(uid, binding.resource, device)
                    ):
                        return held_by_another(
                            device=device, resource=binding.resource, holder=holding.pod
                        )
        pod = self._pod(admitted.pod)
        pod.standing, pod.reason, pod.message, pod.ended = Standing.ADMITTED, "", "", False
        for key, binding in bindings.items():
            self.bindings.pop(key, None)
            self._bind(binding)
        self._follow_bindings({uid}, (revision, admitted.at))
        return (uid,)

    def reject(self, rejected: PodRejected) -> tuple[PodUid, ...]:
        """Keep why a pod was refused."""
        uid = rejected.pod.uid
        pod = self._pod(rejected.pod)
        pod.standing = Standing.REJECTED
        pod.reason, pod.message = rejected.reason, rejected.message
        pod.ended = not any(key[0] == uid for key in self.bindings)
        return (uid,)

    def release(self, released: PodsReleased, revision: int) -> tuple[PodUid, ...] | None:
        """Give back what pods hold."""
        gone = tuple(
            uid
            for uid in dict.fromkeys(released.pods)
            if uid in self.pods and not self.pods[uid].ended
        )
        self._drop(gone, (revision, released.at))
        return gone or None

    def import_(
        self, imported: CheckpointImported, revision: int
    ) -> tuple[PodUid, ...] | Refused | None:
        """Take a checkpoint file for the node's state."""
        bindings, listed = by_key(imported.bindings), listed_in(imported)
        known = self.revision > 0
        if known and self._is_in(bindings, listed):
            same_file = self.imported == (self.revision, imported.content)
            same_phase = imported.phase in {None, self.phase}
            if same_file and same_phase and self._named(imported.pods):
                return None
            for pod in imported.pods:
                if pod.uid in self._live():
                    self._pod(pod)
            return tuple(self._live())
        pods = self._live()
        registered = [name for name, known_ in self.resources.items() if known_.registered]
        if (pods or registered) and not imported.replace:
            return has_other_state(self.name, pods=len(pods), resources=len(registered))
        refused = refusal_of_conflicts(imported, bindings.values())
        if refused is not None:
            return refused
        self._drop(pods, (revision, imported.at))
        self._relist(listed)
        return self._restore(imported, bindings, (revision, imported.at), pods)

    def change_phase(self, changed: PhaseChanged, revision: int) -> tuple[PodUid, ...] | None:
        """Go on with the migration; the file of an unchanged node stays its own."""
        own = self.imported[1] if self.imported and self.imported[0] == self.revision else None
        content = own if changed.content is None else changed.content
        if self.phase is changed.phase and content == own:
            return None
        self.phase = changed.phase
        if content is not None:
            self.imported = (revision, content)
        return ()

    def _restore(
        self,
        imported: CheckpointImported,
        bindings: Mapping[BindingKey, DeviceBinding],
        when: tuple[int, Instant],
        dropped: Iterable[PodUid],
    ) -> tuple[PodUid, ...]:
        names = {pod.uid: pod for pod in imported.pods}
        for binding in bindings.values():
            pod = self._pod(names.get(binding.pod, PodIdentity(binding.pod)))
            pod.standing, pod.reason, pod.message, pod.ended = Standing.ADMITTED, "", "", False
            self._bind(binding)
        pods = dict.fromkeys(binding.pod for binding in bindings.values())
        disputed = {
            (binding.resource, device, binding.pod)
            for binding, device, _ in contested(bindings.values())
        }
        self._follow_bindings(pods, when, disputed)
        return tuple(dict.fromkeys((*dropped, *pods)))

    def _is_in(self, bindings: Mapping[BindingKey, DeviceBinding], listed: Listed) -> bool:
        registered = {n: sorted(r.listed()) for n, r in self.resources.items() if r.registered}
        return self.bindings == bindings and registered == {
            name: sorted(ids) for name, ids in listed.items()
        }

    def _named(self, pods: Iterable[PodIdentity]) -> bool:
        return all(
            self.pods[pod.uid].identity == _renamed(self.pods[pod.uid].identity, pod)
            for pod in pods
            if pod.uid in self._live()
        )

    def _live(self) -> list[PodUid]:
        return [uid for uid, pod in self.pods.items() if not pod.ended]

    def _pod(self, identity: PodIdentity) -> MemoryPod:
        pod = self.pods.setdefault(identity.uid, MemoryPod(identity))
        pod.identity = _renamed(pod.identity, identity)
        return pod

    def _bind(self, binding: DeviceBinding) -> None:
        self.bindings[binding.pod, binding.container, binding.resource] = binding
        self.resources.setdefault(binding.resource, MemoryResource())
        containers = self.pods[binding.pod].containers
        if binding.container not in containers:
            containers.append(binding.container)

    def _relist(self, listed: Listed) -> None:
        for resource in self.resources.values():
            resource.registered = False
            for device in resource.devices.values():
                device.slot, device.health, device.numa_nodes = None, None, None
        for name, ids in listed.items():
            resource = self.resources.setdefault(name, MemoryResource())
            resource.registered = True
            _list(resource, {id_: Device(id_, HEALTHY, None) for id_ in ids})

    def _drop(self, pods: Iterable[PodUid], when: tuple[int, Instant]) -> None:
        for uid in pods:
            pod = self.pods[uid]
            pod.ended = True
            if pod.standing is Standing.ADMITTED:
                pod.standing = Standing.RELEASED
            for key in [key for key in self.bindings if key[0] == uid]:
                del self.bindings[key]
        self._follow_bindings(pods, when)

    def _holds(self, uid: PodUid, resource: ResourceName, device: DeviceId) -> bool:
        return any(
            (holding.pod, holding.resource, holding.device) == (uid, resource, device)
            for holding in self.held()
        )

    def _follow_bindings(
        self,
        pods: Iterable[PodUid],
        when: tuple[int, Instant],
        disputed: Iterable[tuple[ResourceName, DeviceId, PodUid]] = (),
    ) -> None:
        """Begin and end holdings so that these pods hold what their bindings say."""
        for uid in pods:
            wanted: dict[tuple[ResourceName, DeviceId], set[ContainerName]] = {}
            for (pod, container, resource), binding in self.bindings.items():
                for device in bound_ids(binding) if pod == uid else ():
                    self.resources[resource].devices.setdefault(device, MemoryDevice())
                    wanted.setdefault((resource, device), set()).add(container)
            for holding in self.held():
                if holding.pod == uid and (holding.resource, holding.device) not in wanted:
                    holding.until = when
            for (resource, device), containers in wanted.items():
                holding = self._holding(uid, resource, device, when)
                holding.disputed = holding.disputed or (resource, device, uid) in disputed
                holding.containers = tuple(
                    name for name in self.pods[uid].containers if name in containers
                )
        self._settle()

    def _holding(
        self, uid: PodUid, resource: ResourceName, device: DeviceId, when: tuple[int, Instant]
    ) -> MemoryHolding:
        for holding in self.held():
            if (holding.pod, holding.resource, holding.device) == (uid, resource, device):
                return holding
        boot_id = self.boots[-1] if self.boots else ""
        self.holdings.append(MemoryHolding(resource, device, uid, boot_id, when))
        return self.holdings[-1]

    def _settle(self) -> None:
        """End disputes: the first of the pods left takes the place of the one that is gone."""
        settled = {(h.resource, h.device) for h in self.held() if not h.disputed}
        for holding in self.held():
            if (holding.resource, holding.device) not in settled:
                holding.disputed = False
                settled.add((holding.resource, holding.device))


def _renamed(known: PodIdentity, given: PodIdentity) -> PodIdentity:
    return PodIdentity(known.uid, given.namespace or known.namespace, given.name or known.name)


def _known(
    devices: Mapping[DeviceId, MemoryDevice],
) -> list[tuple[DeviceId, int | None, str | None, tuple[NumaNode, ...] | None]]:
    return [(i, d.slot, d.health, d.numa_nodes) for i, d in devices.items()]


def _list(resource: MemoryResource, reported: Mapping[DeviceId, Device]) -> None:
    slot = max((d.slot for d in resource.devices.values() if d.slot is not None), default=-1)
    for id_, device in reported.items():
        known = resource.devices.setdefault(id_, MemoryDevice())
        if known.slot is None:
            slot += 1
            known.slot = slot
        known.health, known.numa_nodes = device.health, device.topology
