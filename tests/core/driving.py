"""A driver for tests of the device manager: it answers every call at once.

Plugins answer with the requested ids in an env variable; a test replaces what it is about. The file
and the committed transitions are plain attributes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from simulator.core.allocate_response import AllocateResponse, encode
from simulator.core.api_calls import ApiCall, ApiReply, ApiUnavailable
from simulator.core.behavior import Behavior, Readmission, Reservations
from simulator.core.calls import (
    AllocateCall,
    AllocateReply,
    Call,
    CheckpointContent,
    Commit,
    Decision,
    LoadState,
    Missing,
    PluginCall,
    PluginReply,
    PreferredAllocationCall,
    PreferredAllocationReply,
    PreStartContainerCall,
    PreStartContainerReply,
    ReadCheckpoint,
    Reply,
    SetCheckpointAside,
    StateLoaded,
    Stored,
    StoreDecision,
    StoreFailed,
    WriteCheckpoint,
)
from simulator.core.choices import Choices, SortedChoices
from simulator.core.device_manager import DeviceManager
from simulator.core.devices import Device, DeviceId, NumaNode
from simulator.core.endpoints import PluginOptions
from simulator.core.facts import ContainerInstance, KubeletFacts
from simulator.core.instants import Duration, after
from simulator.core.machine import Machine, TopologyOptions
from simulator.core.persistence.checkpoint import CheckpointPersistence
from simulator.core.persistence.protocol import Persistence, Restored
from simulator.core.pods import Container, ContainerKind, ContainerName, Pod, PodUid
from simulator.core.refusals import Admission
from simulator.core.resources import ResourceName
from simulator.core.transitions import NodeName, NodeState, Transition

GPU = ResourceName("example.com/gpu")
NIC = ResourceName("example.com/nic")
MAIN = ContainerName("main")

T = TypeVar("T")
Limits = dict[ResourceName, int]


def device(text: str, health: str = "Healthy", nodes: Sequence[int] | None = None) -> Device:
    topology = None if nodes is None else tuple(NumaNode(node) for node in nodes)
    return Device(DeviceId(text), health, topology)


def ids(*texts: str) -> tuple[DeviceId, ...]:
    return tuple(DeviceId(text) for text in texts)


def container(name: str, limits: Limits, kind: ContainerKind = ContainerKind.REGULAR) -> Container:
    return Container(ContainerName(name), tuple(limits.items()), kind)


def pod(uid: str, *containers: Container | Limits) -> Pod:
    """Return a pod; limits alone stand for one container `main`."""
    whole = [
        part if isinstance(part, Container) else container("main", part) for part in containers
    ]
    return Pod(
        PodUid(uid),
        f"name-{uid}",
        init_containers=tuple(c for c in whole if c.kind is not ContainerKind.REGULAR),
        containers=tuple(c for c in whole if c.kind is ContainerKind.REGULAR),
    )


def allocate_ids(call: AllocateCall) -> PluginReply:
    """Answer like a plugin that passes the ids in an env variable."""
    return AllocateReply(encode(AllocateResponse(envs={"IDS": ",".join(call.devices)})))


def no_preference(call: PreferredAllocationCall) -> PluginReply:
    del call
    return PreferredAllocationReply(())


def started(call: PreStartContainerCall) -> PluginReply:
    del call
    return PreStartContainerReply()


@dataclass
class Rig:
    """A kubelet around one device manager, and what its calls met.

    Attributes:
        calls: Plugin calls in order.
        writes: Contents of the checkpoint file, in order of successful writes.
        write_error: With which writes and commits fail; empty for none.
        meanwhile: Called once while the next plugin call is on its way.
    """

    behavior: Behavior = field(default_factory=Behavior)
    persistence: Callable[[Behavior], Persistence] = CheckpointPersistence
    facts: KubeletFacts = field(default_factory=lambda: KubeletFacts(sources_ready=True))
    machine: Machine = field(default_factory=Machine)
    topology: TopologyOptions = field(default_factory=TopologyOptions)
    choices: Choices = field(default_factory=SortedChoices)
    readmission: Readmission = Readmission.UPSTREAM
    reservations: Reservations = Reservations.UPSTREAM
    on_allocate: Callable[[AllocateCall], PluginReply] = allocate_ids
    on_preferred: Callable[[PreferredAllocationCall], PluginReply] = no_preference
    on_pre_start: Callable[[PreStartContainerCall], PluginReply] = started
    on_api: Callable[[ApiCall], ApiReply] = lambda _: ApiUnavailable("there is no API server")
    meanwhile: Callable[[], object] | None = None
    calls: list[PluginCall] = field(default_factory=list)
    file: bytes | None = None
    writes: list[bytes] = field(default_factory=list)
    commits: list[tuple[Transition, ...]] = field(default_factory=list)
    stored: NodeState = field(
        default_factory=lambda: NodeState(NodeName("n0"), 0, bindings=(), registered=())
    )
    write_error: str = ""
    refuse_commit: Callable[[Commit], Reply | None] = lambda _: None
    manager: DeviceManager = field(init=False)

    def __post_init__(self) -> None:
        self.start()

    def start(self, *instances: ContainerInstance, sources_ready: bool | None = None) -> Restored:
        """Start a device manager; plugins are away afterwards."""
        self.facts.instances = instances
        if sources_ready is not None:
            self.facts.sources_ready = sources_ready
        self.manager = DeviceManager(
            node=NodeName("n0"),
            behavior=self.behavior,
            persistence=self.persistence(self.behavior),
            facts=self.facts,
            machine=self.machine,
            topology=self.topology,
            choices=self.choices,
            readmission=self.readmission,
            reservations=self.reservations,
        )
        return self.run(self.manager.start())

    def run(self, decision: Decision[T] | StoreDecision[T]) -> T:
        """Answer all calls of a decision and return its result."""
        reply: Reply | None = None
        try:
            while True:
                call = decision.send(reply)  # type: ignore[arg-type]  # None starts a generator
                reply = self.answer(call)
        except StopIteration as stop:
            result: T = stop.value
            return result

    def answer(self, call: Call) -> Reply:
        match call:
            case ReadCheckpoint():
                return Missing() if self.file is None else CheckpointContent(self.file)
            case LoadState():
                return StateLoaded(self.stored)
            case WriteCheckpoint() | Commit():
                return self._answer_write(call)
            case SetCheckpointAside():
                self.file = None
                return Stored()
            case AllocateCall() | PreferredAllocationCall() | PreStartContainerCall():
                return self._answer_plugin(call)
            case _:
                return self.on_api(call)

    def _answer_write(self, call: WriteCheckpoint | Commit) -> Reply:
        if self.write_error:
            return StoreFailed(self.write_error)
        if isinstance(call, WriteCheckpoint):
            self.file = call.content
            self.writes.append(call.content)
            return Stored()
        refused = self.refuse_commit(call)
        if refused is None:
            self.commits.append(call.transitions)
        return refused or Stored(len(self.commits))

    def _answer_plugin(self, call: PluginCall) -> PluginReply:
        self.calls.append(call)
        meanwhile, self.meanwhile = self.meanwhile, None
        if meanwhile is not None:
            meanwhile()
        match call:
            case AllocateCall():
                return self.on_allocate(call)
            case PreferredAllocationCall():
                return self.on_preferred(call)
            case PreStartContainerCall():
                return self.on_pre_start(call)

    def plug(
        self,
        resource: ResourceName,
        *devices: Device | str,
        preferred: bool = False,
        pre_start: bool = False,
    ) -> None:
        """Register a plugin and let it report; texts stand for healthy devices."""
        self.manager.register(resource, PluginOptions(pre_start, preferred))
        self.report(resource, *devices)

    def report(self, resource: ResourceName, *devices: Device | str) -> str:
        listed = [d if isinstance(d, Device) else device(d) for d in devices]
        return self.run(self.manager.report_devices(resource, listed))

    def admit(self, created: Pod) -> Admission:
        """Make the pod active and admit it; a refused pod is inactive at once (S6.5)."""
        self.facts.active_pods.add(created)
        admission = self.run(self.manager.admit(created))
        if not admission.admitted and not admission.retry:
            del self.facts.active_pods[created.uid]
        return admission

    def end(self, uid: str) -> None:
        """Make a pod inactive."""
        del self.facts.active_pods[PodUid(uid)]

    def pass_time(self, span: Duration) -> None:
        self.facts.now = after(self.facts.now, span)

    def held(self, uid: str, name: str = "main", resource: ResourceName = GPU) -> list[str]:
        """Return the ids recorded for a container."""
        return list(self.manager.devices_of(PodUid(uid), ContainerName(name)).get(resource, {}))

    def allocated(self, resource: ResourceName = GPU) -> list[str] | None:
        """Return the kubelet's set of allocated ids; None when it has no key."""
        found = self.manager.snapshot().allocated.get(resource)
        return None if found is None else list(found)

    def message(self, text: str) -> str:
        """Return the admission message around an error (S13.1)."""
        return f"Allocate failed due to {text}, which is unexpected"
