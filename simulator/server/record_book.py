"""A store made of records: who holds what, where no database is told (`SOURCE records`).

Under every persistence but `database` a node's bindings are in a file or in the API, and in its
kubelet's memory. The records say all that becomes of them, so the history that a database would
keep can be kept here, as long as the server runs.

A kubelet that lost its file may legally give a device to a second pod (S4.12). What its device
manager holds at its start is what counts: whatever else was held before is released there. What
it learns from the API comes after its start, and is told with the admission of its pod.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from simulator.core.devices import NO_NUMA_NODE
from simulator.core.instants import Instant
from simulator.core.pods import PodUid
from simulator.core.records import (
    AdmissionDecided,
    DevicesAllocated,
    DevicesListed,
    DevicesReleased,
    HeldRecord,
    KubeletStarted,
    ManagerStarted,
    Record,
    ResourceExpired,
    Stamped,
)
from simulator.core.transitions import (
    DeviceBinding,
    DevicesReported,
    NodeBooted,
    NodeName,
    PodAdmitted,
    PodIdentity,
    PodRejected,
    PodsReleased,
    ResourceRemoved,
    Transition,
)
from simulator.ports import StoreReader
from store.sql_store import SqlStore

HISTORY_MAX: Final = 20_000
"""Changes of the history that are kept, and up to a segment more (`store.retention`)."""


class RecordBook:
    """Folds records into a store.

    Args:
        identify: Returns a pod's namespace and name, where they are known.
        history_max: How much of the history is kept in memory.
    """

    def __init__(
        self, identify: Callable[[PodUid], PodIdentity], *, history_max: int = HISTORY_MAX
    ) -> None:
        self._identify = identify
        self._store = SqlStore("sqlite://", history_max=history_max)
        self._deciding: dict[tuple[NodeName, PodUid], list[DeviceBinding]] = {}
        self._admitted: dict[PodUid, NodeName] = {}
        self._holding: dict[PodUid, NodeName] = {}

    @property
    def reader(self) -> StoreReader:
        """What can be asked."""
        return self._store

    def close(self) -> None:
        """Forget everything."""
        self._store.close()

    def note(self, stamped: Stamped) -> None:
        """Take up what a record says."""
        transitions = list(self._transitions(stamped.node, stamped.at, stamped.record))
        if transitions:
            self._store.apply(transitions)
        for each in transitions:
            if isinstance(each, PodAdmitted) and each.bindings:
                self._holding[each.pod.uid] = stamped.node
            elif isinstance(each, PodsReleased):
                for pod in each.pods:
                    self._holding.pop(pod, None)

    def _transitions(self, node: NodeName, at: Instant, record: Record) -> Iterable[Transition]:
        match record:
            case KubeletStarted(_, boot_id):
                self._begin(node)
                yield NodeBooted(node, at, boot_id)
            case ManagerStarted():
                yield from self._restored(node, at, record)
            case DevicesListed(resource, devices):
                yield DevicesReported(node, at, resource, devices)
            case ResourceExpired(resource):
                yield ResourceRemoved(node, at, resource)
            case DevicesAllocated(pod, container, resource, devices):
                binding = DeviceBinding(pod, container, resource, devices, None)
                yield from self._given(node, at, binding)
            case AdmissionDecided():
                yield from self._decided(node, at, record)
            case DevicesReleased(pods):
                for pod in pods:
                    self._admitted.pop(pod, None)
                yield PodsReleased(node, at, pods)
            case _:
                pass

    def _begin(self, node: NodeName) -> None:
        """Know that a node's kubelet has started: it decides about all its pods again."""
        self._admitted = {pod: where for pod, where in self._admitted.items() if where != node}
        for place in [place for place in self._deciding if place[0] == node]:
            del self._deciding[place]

    def _given(self, node: NodeName, at: Instant, binding: DeviceBinding) -> Iterable[Transition]:
        """Take up what a container got: in an admission, or when it was started again (S3.22)."""
        if binding.pod in self._admitted:
            yield PodAdmitted(node, at, self._identify(binding.pod), (binding,))
        else:
            self._deciding.setdefault((node, binding.pod), []).append(binding)

    def _decided(
        self, node: NodeName, at: Instant, record: AdmissionDecided
    ) -> Iterable[Transition]:
        """Take up what an admission gave; a refused pod may keep some of it (S3.16)."""
        pod, identity = record.pod, self._identify(record.pod)
        given = self._deciding.pop((node, pod), [])
        kept = {(container, resource) for _, container, resource, _ in record.held}
        if record.admitted:
            self._admitted[pod] = node
            if not given and self._holding.get(pod) != node:
                given = [_binding(held) for held in record.held]
            yield PodAdmitted(node, at, identity, tuple(given))
        elif not record.waiting:
            left = tuple(each for each in given if (each.container, each.resource) in kept)
            if left:
                yield PodAdmitted(node, at, identity, left)
            yield PodRejected(node, at, identity, record.reason, record.message)

    def _restored(
        self, node: NodeName, at: Instant, record: ManagerStarted
    ) -> Iterable[Transition]:
        known = {
            (binding.pod, binding.container, binding.resource): binding
            for binding in self._store.load(node).bindings
        }
        restored = {(held[0], held[1], held[2]): held for held in record.held}
        changed = [
            key
            for key, binding in known.items()
            if key not in restored or set(_ids(binding)) != set(restored[key][3])
        ]
        gone = tuple(dict.fromkeys(pod for pod, _, _ in changed))
        if gone:
            yield PodsReleased(node, at, gone)
        by_pod: dict[PodUid, list[DeviceBinding]] = {}
        for key, held in restored.items():
            if key not in known or key[0] in gone:
                by_pod.setdefault(key[0], []).append(_binding(held))
        for pod, bindings in by_pod.items():
            yield PodAdmitted(node, at, self._identify(pod), tuple(bindings))


def _ids(binding: DeviceBinding) -> Iterable[str]:
    return (device for devices in binding.devices.values() for device in devices)


def _binding(held: HeldRecord) -> DeviceBinding:
    """Return a binding as far as a record tells it: the NUMA nodes are not said."""
    pod, container, resource, devices = held
    return DeviceBinding(pod, container, resource, {NO_NUMA_NODE: devices}, None)
