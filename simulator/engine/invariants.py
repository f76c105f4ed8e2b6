"""What must hold in a simulated cluster, checked against the physical truth of its nodes.

Invariants of the persistence designs (3.4): I1 no device in two live containers; I2 the devices of
a live container never change; I3 every running device container is in the durable state; I4 no
observer reads an id that was never true; I5 devices are freed only after the container's end. Of
Rebind's own promises: held equals rows, nothing is held in memory alone after a failed write, a
refused admission holds nothing (under transactional reservations), an acknowledged binding is not
lost.

A violation is reported once, when it begins. Those that follow from the kubelet's own decisions,
whatever the persistence (S5.10, S6.5), say so.
"""

from __future__ import annotations

from collections.abc import Iterator

from simulator.core.behavior import Reservations
from simulator.core.devices import DeviceId, device_ids
from simulator.core.pods import PodUid
from simulator.core.records import (
    AdmissionDecided,
    DevicesBound,
    DevicesReleased,
    InvariantViolated,
    ManagerStarted,
    PodDeleted,
    PodPhaseChanged,
    Record,
    StateWritten,
)
from simulator.core.resources import ResourceName
from simulator.engine.api_objects import TERMINAL_PHASES
from simulator.engine.authority import HolderKey
from simulator.engine.kubelet import Kubelet
from simulator.engine.local_pods import Stage
from simulator.engine.node import Node
from simulator.engine.runtime import ContainerProcess

_WITHOUT_CLAIM = frozenset({Stage.REJECTED, Stage.TERMINATED})


class NodeInvariants:
    """The invariants of one node; told of every record, it checks after every event."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._standing: set[tuple[str, str]] = set()
        self._freed_early: list[InvariantViolated] = []
        self._once_admitted: set[PodUid] = set()
        self._refused_now: set[PodUid] = set()
        self._restored: set[PodUid] = set()
        self._deleted: set[PodUid] = set()
        self._ended: set[PodUid] = set()
        self._acknowledged: dict[HolderKey, tuple[DeviceId, ...]] = {}
        self._replacements = 0
        self._write_failed = False

    def note(self, record: Record) -> None:
        """Take a record of this node into account."""
        if isinstance(record, AdmissionDecided):
            self._decided(record)
        elif isinstance(record, DevicesBound):
            self._bound(record)
        elif isinstance(record, DevicesReleased):
            self._released(record)
        elif isinstance(record, PodDeleted):
            self._forget({record.pod})
            self._deleted.add(record.pod)
        elif isinstance(record, StateWritten):
            self._write_failed = bool(record.error)
        elif isinstance(record, ManagerStarted):
            self._started()
        elif isinstance(record, PodPhaseChanged) and record.phase in TERMINAL_PHASES:
            self._ended.add(record.pod)
            self._forget({record.pod})

    def forget(self, uid: PodUid) -> None:
        """Forget a pod that was deleted long ago, unless a container of it still runs."""
        if not any(self._node.runtime.running(uid)):
            for known in (
                self._once_admitted,
                self._refused_now,
                self._restored,
                self._deleted,
                self._ended,
            ):
                known.discard(uid)

    def begun(self) -> list[InvariantViolated]:
        """Return the violations that began since the last call."""
        found = [*self._freed_early, *self._one_container_each(), *self._durable()]
        self._freed_early = []
        kubelet = self._node.kubelet
        if kubelet is not None and kubelet.serving:
            found += [*self._unchanged(kubelet), *self._never_true(kubelet)]
            if not kubelet.driver.in_flight:
                found += [
                    *kubelet.manager.violations(),
                    *self._rows(kubelet),
                    *self._ahead(kubelet),
                    *self._refused(kubelet),
                ]
        keys = {(each.invariant, each.detail) for each in found}
        new = [each for each in found if (each.invariant, each.detail) not in self._standing]
        self._standing = keys
        return list(dict.fromkeys(new))

    def _decided(self, record: AdmissionDecided) -> None:
        kubelet = self._node.kubelet
        if kubelet is None or record.waiting:
            return
        if not record.admitted:
            # What it had is not lost but taken from it, perhaps by a kubelet that dies of it.
            self._forget({record.pod})
            self._refused_now.add(record.pod)
            return
        self._refused_now.discard(record.pod)
        self._once_admitted.add(record.pod)
        if record.pod in self._ended:
            # Old kubelets admit it again (S5.7), start nothing, and may release it at any time.
            return
        kept = self._node.kept
        if not (kept.in_file or kept.in_rows):
            # What is promised then is what the API has taken, before the first container starts.
            return
        for binding in kubelet.manager.bindings_of(record.pod):
            key = (binding.pod, binding.container, binding.resource)
            self._acknowledged[key] = device_ids(binding.devices)

    def _bound(self, record: DevicesBound) -> None:
        """The API has taken devices; of a copy that follows a file nothing is promised."""
        if not (self._node.kept.in_file or record.pod in self._deleted | self._ended):
            for pod, container, resource, ids in record.held:
                self._acknowledged[pod, container, resource] = ids

    def _started(self) -> None:
        """A pod whose record was restored has it from before, refused or not."""
        kubelet = self._node.kubelet
        bindings = kubelet.manager.snapshot().bindings if kubelet is not None else ()
        self._restored = {binding.pod for binding in bindings}
        self._refused_now.clear()
        self._write_failed = False

    def _released(self, record: DevicesReleased) -> None:
        gone = set(record.pods)
        self._forget(gone)
        for process in self._live_with_devices():
            if process.pod in gone:
                detail = f"{_named(process)} runs, its devices were freed"
                self._freed_early.append(InvariantViolated("I5", detail, by_kubelet=True))

    def _forget(self, pods: set[PodUid]) -> None:
        for key in [key for key in self._acknowledged if key[0] in pods]:
            del self._acknowledged[key]

    def _live_with_devices(self) -> Iterator[ContainerProcess]:
        return (process for process in self._node.runtime.running() if process.devices)

    def _without_claim(self, uid: PodUid) -> bool:
        """Tell whether the kubelet itself has decided that this pod holds nothing any more.

        A pod that is gone from the API has no claim, also while no kubelet runs (S6.5); nor has one
        that this kubelet has refused, also when a pod worker ends it (S6.5a).
        """
        if uid in self._deleted or uid in self._refused_now:
            return True
        kubelet = self._node.kubelet
        if kubelet is None:
            return False
        local = kubelet.pods.get(uid)
        return kubelet.settled and (local is None or local.stage in _WITHOUT_CLAIM)

    def _one_container_each(self) -> Iterator[InvariantViolated]:
        users: dict[tuple[ResourceName, DeviceId], ContainerProcess] = {}
        for process in self._live_with_devices():
            for resource, ids in process.devices:
                for device in ids:
                    other = users.setdefault((resource, device), process)
                    if other.pod != process.pod:
                        detail = (
                            f"{resource} {device} is in {_named(other)} and in {_named(process)}"
                        )
                        by_kubelet = self._without_claim(other.pod) or self._without_claim(
                            process.pod
                        )
                        yield InvariantViolated("I1", detail, by_kubelet=by_kubelet)

    def _durable(self) -> Iterator[InvariantViolated]:
        """I3, and that what was acknowledged is still there."""
        authority, behavior = self._node.authority, self._node.behavior
        if self._replacements != self._node.replacements:
            self._replacements = self._node.replacements
            self._acknowledged.clear()
        if not authority.answers(behavior):
            return
        restorable = authority.ids(behavior)
        for process in self._live_with_devices():
            for resource, ids in process.devices:
                known = restorable.get((process.pod, process.container, resource), ())
                if not set(ids) <= set(known):
                    detail = f"{_named(process)} uses {resource} {', '.join(ids)} without a record"
                    yield InvariantViolated(
                        "I3", detail, by_kubelet=self._without_claim(process.pod)
                    )
        for (pod, container, resource), ids in self._acknowledged.items():
            if not set(ids) <= set(restorable.get((pod, container, resource), ())):
                detail = f"{resource} {', '.join(ids)} of {pod}/{container} is no longer recorded"
                yield InvariantViolated("acknowledged", detail)

    def _unchanged(self, kubelet: Kubelet) -> Iterator[InvariantViolated]:
        for process in self._live_with_devices():
            recorded = kubelet.manager.devices_of(process.pod, process.container)
            for resource, ids in process.devices:
                now = tuple(recorded.get(resource, ()))
                if now and set(now) != set(ids):
                    detail = (
                        f"{_named(process)} runs with {resource} {', '.join(ids)}, "
                        f"its record says {', '.join(now)}"
                    )
                    yield InvariantViolated("I2", detail)

    def _never_true(self, kubelet: Kubelet) -> Iterator[InvariantViolated]:
        """A rejected pod that is active again shows what a failed admission left (S3.16, S6.5a)."""
        for local in kubelet.pods:
            if local.stage is Stage.TERMINATING and local.uid not in self._once_admitted:
                ids = [
                    device
                    for binding in kubelet.manager.bindings_of(local.uid)
                    for device in device_ids(binding.devices)
                ]
                if ids:
                    detail = f"{local.uid} shows {', '.join(ids)}, which it never had"
                    yield InvariantViolated("I4", detail, by_kubelet=True)

    def _rows(self, kubelet: Kubelet) -> Iterator[InvariantViolated]:
        node = self._node
        rows = node.authority.rows(node.behavior)
        if rows is None:
            return
        held = {
            (each.pod, each.container, each.resource): device_ids(each.devices)
            for each in kubelet.manager.snapshot().bindings
        }
        for key in sorted(rows.keys() | held.keys()):
            if rows.get(key, ()) != held.get(key, ()):
                detail = (
                    f"{'/'.join(key)}: the device manager has {held.get(key, ())}, "
                    f"the database {rows.get(key, ())}"
                )
                yield InvariantViolated("held equals rows", detail)

    def _ahead(self, kubelet: Kubelet) -> Iterator[InvariantViolated]:
        """A write that fails refuses a pod, and memory keeps what the pod was to have (S3.15)."""
        node = self._node
        if not self._write_failed or not node.authority.answers(node.behavior):
            return
        durable = node.authority.ids(node.behavior)
        for each in kubelet.manager.snapshot().bindings:
            key = (each.pod, each.container, each.resource)
            if durable.get(key, ()) != device_ids(each.devices):
                ids = ", ".join(device_ids(each.devices))
                detail = f"{'/'.join(key)}: the device manager holds {ids}, no state on disk does"
                yield InvariantViolated("failed write", detail)

    def _refused(self, kubelet: Kubelet) -> Iterator[InvariantViolated]:
        if self._node.reservations is not Reservations.TRANSACTIONAL:
            return
        for local in kubelet.pods:
            had_a_record = local.uid in self._once_admitted or local.uid in self._restored
            refused = local.stage is Stage.REJECTED and not had_a_record
            if refused and kubelet.manager.bindings_of(local.uid):
                yield InvariantViolated("refused holds nothing", f"{local.uid} holds devices")


def _named(process: ContainerProcess) -> str:
    return f"{process.pod}/{process.container}"
