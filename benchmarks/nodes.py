"""Nodes whose admissions are measured: a device manager, its pods and where its state goes."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path

from benchmarks import workload
from benchmarks.driving import CheckpointAnswers, DatabaseAnswers, answer_plugin, drive
from benchmarks.timing import Contestant
from simulator.config import DEFAULT_KUBELET_VERSION
from simulator.core.behavior import Reservations
from simulator.core.calls import (
    AllocateCall,
    Call,
    PreferredAllocationCall,
    PreStartContainerCall,
    Reply,
    StoreCall,
    StoreReply,
    of_store,
)
from simulator.core.checkpoint.bindings import checkpoint_of
from simulator.core.checkpoint.render import render
from simulator.core.choices import SortedChoices
from simulator.core.device_manager import DeviceManager
from simulator.core.endpoints import PluginOptions
from simulator.core.facts import ActivePods, KubeletFacts
from simulator.core.instants import Instant
from simulator.core.machine import Machine, TopologyOptions
from simulator.core.persistence.checkpoint import CheckpointPersistence
from simulator.core.persistence.database import DatabasePersistence
from simulator.core.persistence.protocol import Persistence, Restored
from simulator.core.pods import Pod
from simulator.core.refusals import Admission
from simulator.core.switches import behavior_for
from simulator.core.transitions import (
    DevicesReported,
    NodeName,
    PodAdmitted,
    PodIdentity,
    Transition,
)
from simulator.ports import Store

StoreAnswers = Callable[[StoreCall], StoreReply]

BATCH_MAX = 512
BEHAVIOR = behavior_for(DEFAULT_KUBELET_VERSION)


class MeasuredNode:
    """One kubelet's device manager; its decisions are driven one after the other.

    Attributes:
        facts: The kubelet's facts; a driver of its own may use them with `manager`.
        devices: Number of devices that the plugin reports.
        bound: Number of pods that the durable state begins with.
        answers: What answers the store calls.
    """

    def __init__(
        self,
        name: str,
        make_persistence: Callable[[], Persistence],
        answers: StoreAnswers,
        *,
        devices: int,
        bound: int,
    ) -> None:
        self.name = NodeName(name)
        self.devices = devices
        self.bound = bound
        self.answers = answers
        self._make_persistence = make_persistence
        self.forget()

    def forget(self) -> None:
        """Put a device manager in place that knows nothing yet, as a kubelet start does."""
        pods = ActivePods(map(workload.pod, range(self.bound)))
        self.facts = KubeletFacts(sources_ready=True, active_pods=pods)
        self.manager = DeviceManager(
            node=self.name,
            behavior=BEHAVIOR,
            persistence=self._make_persistence(),
            facts=self.facts,
            machine=Machine.with_nodes(workload.NUMA_NODES),
            topology=TopologyOptions(),
            choices=SortedChoices(),
            reservations=Reservations.TRANSACTIONAL,
        )

    def restore(self) -> Restored:
        """Start the device manager from its durable state."""
        return drive(self.manager.start(), self._answer_store)

    def connect_plugin(self) -> None:
        """Let the plugin register and report its devices."""
        self.manager.register(workload.RESOURCE, PluginOptions())
        listed = [workload.device_of(number) for number in range(self.devices)]
        drive(self.manager.report_devices(workload.RESOURCE, listed), self._answer_store)
        self.manager.take_records()

    def admit(self, pod: Pod) -> Admission:
        """Admit a pod; its bindings are durable when this returns."""
        self.facts.active_pods.add(pod)
        return drive(self.manager.admit(pod), self.answer)

    def remove(self, pod: Pod) -> None:
        """Delete a pod and free its devices, durably where the persistence says so."""
        del self.facts.active_pods[pod.uid]
        drive(self.manager.release_inactive(), self._answer_store)
        self.manager.take_records()

    def answer(self, call: Call) -> Reply:
        """Answer any call of a decision."""
        if isinstance(call, AllocateCall | PreferredAllocationCall | PreStartContainerCall):
            return answer_plugin(call)
        return self._answer_store(call)

    def _answer_store(self, call: Call) -> StoreReply:
        return self.answers(of_store(call))


def admissions(node: MeasuredNode, *, repeat: int) -> Contestant:
    """Return the admission of a new pod; it is removed again outside the measured time."""
    pods = map(workload.pod, count(node.devices))
    present = [next(pods)]

    def admit() -> None:
        admission = node.admit(present[0])
        if not admission.admitted:
            raise RuntimeError(admission.message)

    def replace() -> None:
        node.remove(present[0])
        present[0] = next(pods)

    return Contestant(admit, after=replace, repeat=repeat)


def database_node(name: str, store: Store, *, bound: int, devices: int) -> MeasuredNode:
    """Return a node that keeps its bindings in `store`, with `bound` pods there already."""
    return database_nodes([name], store, bound=bound, devices=devices)[0]


def database_nodes(
    names: Sequence[str], store: Store, *, bound: int, devices: int
) -> list[MeasuredNode]:
    """Return nodes that share a store, each with `bound` pods there already."""
    nodes = [NodeName(name) for name in names]
    fill_store(store, nodes, bound=bound, devices=devices)
    return [
        MeasuredNode(
            node,
            DatabasePersistence,
            DatabaseAnswers(store, node),
            devices=devices,
            bound=bound,
        )
        for node in nodes
    ]


def checkpoint_node(
    name: str,
    folder: Path,
    *,
    bound: int,
    devices: int,
    sync: Callable[[int], None] = os.fsync,
) -> MeasuredNode:
    """Return a node that keeps its bindings in a file in `folder`, with `bound` pods in it."""
    answers = CheckpointAnswers(folder, sync=sync)
    bindings = [workload.binding(number) for number in range(bound)]
    registered = [(workload.RESOURCE, [workload.device_of(number).id for number in range(devices)])]
    answers.write(render(checkpoint_of(bindings, registered, BEHAVIOR.checkpoint_written)))
    return MeasuredNode(
        name,
        lambda: CheckpointPersistence(BEHAVIOR),
        answers,
        devices=devices,
        bound=bound,
    )


def fill_store(store: Store, nodes: Sequence[NodeName], *, bound: int, devices: int) -> None:
    """Give each node its devices and `bound` pods, in large commits."""
    transitions: list[Transition] = [devices_reported(node, devices) for node in nodes]
    transitions += [pod_admitted(node, number) for number in range(bound) for node in nodes]
    for start in range(0, len(transitions), BATCH_MAX):
        store.apply(transitions[start : start + BATCH_MAX])


def devices_reported(node: NodeName, devices: int) -> DevicesReported:
    """Return the transition that tells of a node's devices."""
    listed = tuple(workload.device_of(number) for number in range(devices))
    return DevicesReported(node, Instant(0), workload.RESOURCE, listed)


def pod_admitted(node: NodeName, number: int, *, device: int | None = None) -> PodAdmitted:
    """Return the transition that gives a device, the one of its own number, to pod `number`."""
    pod = workload.pod(number)
    identity = PodIdentity(pod.uid, pod.namespace, pod.name)
    return PodAdmitted(node, Instant(0), identity, (workload.binding(number, device=device),))
