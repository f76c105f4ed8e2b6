"""A store made of records: who holds what, where no database is told (`SOURCE records`).

Under the persistence `checkpoint` a node's bindings are in its file and in its kubelet's memory.
The records say all that becomes of them, so the history that a database would keep can be kept
here, as long as the server runs.

A kubelet that lost its file may legally give a device to a second pod (S4.12). What its device
manager holds at its start is what counts: whatever else was held before is released there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

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
from store.memory.store import MemoryStore


class RecordBook:
    """Folds records into a store.

    Args:
        identify: Returns a pod's namespace and name, where they are known.
    """

    def __init__(self, identify: Callable[[PodUid], PodIdentity]) -> None:
        self._identify = identify
        self._store = MemoryStore()

    @property
    def reader(self) -> StoreReader:
        """What can be asked."""
        return self._store

    def note(self, stamped: Stamped) -> None:
        """Take up what a record says."""
        transitions = list(self._transitions(stamped.node, stamped.at, stamped.record))
        if transitions:
            self._store.apply(transitions)

    def _transitions(self, node: NodeName, at: Instant, record: Record) -> Iterable[Transition]:
        match record:
            case KubeletStarted(_, boot_id):
                yield NodeBooted(node, at, boot_id)
            case ManagerStarted():
                yield from self._restored(node, at, record)
            case DevicesListed(resource, devices):
                yield DevicesReported(node, at, resource, devices)
            case ResourceExpired(resource):
                yield ResourceRemoved(node, at, resource)
            case DevicesAllocated(pod, container, resource, devices):
                binding = DeviceBinding(pod, container, resource, devices, None)
                yield PodAdmitted(node, at, self._identify(pod), (binding,))
            case AdmissionDecided(pod, admitted):
                identity = self._identify(pod)
                if admitted:
                    yield PodAdmitted(node, at, identity, ())
                elif not record.waiting:
                    yield PodRejected(node, at, identity, record.reason, record.message)
            case DevicesReleased(pods):
                yield PodsReleased(node, at, pods)
            case _:
                pass

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
