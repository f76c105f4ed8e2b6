"""The node of a recording: its file, clock and device manager, its plugins as they answered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import TypeVar

from simulator.core.affinity import AlignedDevices, cares_about_topology, split_by_affinity
from simulator.core.behavior import Behavior
from simulator.core.calls import (
    AllocateCall,
    Call,
    CallFailed,
    CheckpointContent,
    Decision,
    Missing,
    PluginCall,
    PluginReply,
    PreferredAllocationReply,
    ReadCheckpoint,
    Reply,
    Stored,
    StoreDecision,
    StoreFailed,
    WriteCheckpoint,
)
from simulator.core.device_manager import DeviceManager
from simulator.core.devices import NO_NUMA_NODE, DeviceId, DeviceInstances, NumaNode, device_ids
from simulator.core.facts import ContainerInstance, KubeletFacts
from simulator.core.persistence.checkpoint import CheckpointPersistence
from simulator.core.persistence.protocol import Restored
from simulator.core.pods import ContainerName, Pod, PodUid
from simulator.core.records import Record
from simulator.core.resources import ResourceName
from simulator.core.snapshot import ManagerSnapshot
from simulator.core.transitions import NodeName
from tests.golden.trace_choices import ForcedChoices
from tests.golden.trace_reading import (
    ANSWER_KEYS,
    Json,
    call_as_recorded,
    machine_of,
    reply_of,
    topology_of,
)

T = TypeVar("T")


@dataclass(frozen=True)
class _Free:
    """What a container can choose from, before it does.

    Attributes:
        affinity: The mask of the stored hint, if any.
    """

    reusable: Sequence[DeviceId]
    available: Sequence[DeviceId]
    listed: DeviceInstances
    affinity: int | None

    @property
    def nodes(self) -> Sequence[NumaNode]:
        """The nodes of the available devices, -1 for those without."""
        return sorted(
            {
                node
                for each in self.available
                for node in self.listed[each].numa_nodes or (NO_NUMA_NODE,)
            }
        )

    def split(self, behavior: Behavior, order: Sequence[NumaNode]) -> AlignedDevices:
        return split_by_affinity(
            self.available,
            affinity=self.affinity,
            devices=self.listed,
            behavior=behavior,
            node_order=lambda _: order,
        )


class TraceNode:
    """One simulated node that lives through a recording.

    Attributes:
        pods: Every pod that was ever named, by uid.
        differences: What differed in the present step.
        writes: Checkpoint writes in the present step, failed ones too.
    """

    def __init__(self, header: Json, behavior: Behavior) -> None:
        self.behavior = behavior
        self.facts = KubeletFacts()
        self.file: bytes | None = None
        self.write_fault = ""
        self.pods: dict[str, Pod] = {}
        self.differences: list[str] = []
        self.writes = 0
        self.choices = ForcedChoices(self._look, self._is_registered, self._find_order)
        self._header = header
        self._calls: list[Json] = []
        self._new_manager()

    def _new_manager(self) -> None:
        self.manager = DeviceManager(
            node=NodeName("node"),
            behavior=self.behavior,
            persistence=CheckpointPersistence(self.behavior),
            facts=self.facts,
            machine=machine_of(self._header),
            topology=topology_of(self._header),
            choices=self.choices,
        )

    def begin(self, step: Json) -> None:
        """Have a step's calls and choices ready."""
        self.differences = []
        self.writes = 0
        self._calls = list(step.get("plugin_calls", ()))
        self.choices.begin(step)

    def _is_registered(self, resource: ResourceName) -> bool:
        return resource in self.manager.snapshot().healthy

    def end(self) -> list[Record]:
        """Return the step's records; what was recorded and did not happen is a difference."""
        self.choices.compare_after()
        self.differences += self.choices.differences
        self.differences += [f"plugin_calls: not made: {_short(call)}" for call in self._calls]
        return self.manager.take_records()

    def start(self, instances: tuple[ContainerInstance, ...], content: str | None) -> Restored:
        """Start a kubelet over the same file; its plugins are away."""
        self.facts.instances = instances
        if content is not None:
            self.file = content.encode()
        self._new_manager()
        restored = self.run(self.manager.start())
        if content is not None:
            self.file = None
        return restored

    def run(self, decision: Decision[T] | StoreDecision[T]) -> T:
        """Answer all calls of a decision and return its result."""
        reply: Reply | None = None
        try:
            while True:
                call = decision.send(reply)  # type: ignore[arg-type]  # None starts a generator
                reply = self._answer(call)
        except StopIteration as stop:
            result: T = stop.value
            return result

    def _answer(self, call: Call) -> Reply:
        if isinstance(call, ReadCheckpoint):
            return Missing() if self.file is None else CheckpointContent(self.file)
        if isinstance(call, WriteCheckpoint):
            self.writes += 1
            if self.write_fault:
                return StoreFailed(self.write_fault)
            self.file = call.content
            return Stored()
        if isinstance(call, PluginCall):
            return self._answer_plugin(call)
        message = f"the checkpoint strategy does not ask for {call}"
        raise TypeError(message)

    def _answer_plugin(self, call: PluginCall) -> PluginReply:
        """Compare a call with the next recorded one and give its answer."""
        if not self._calls:
            self.differences.append(f"plugin_calls: recorded nothing, here {call}")
            return CallFailed("not recorded")
        recorded = self._calls.pop(0)
        for key, value in call_as_recorded(call):
            expected = recorded.get(key, [])
            if isinstance(expected, list):
                expected = sorted(expected)
            if expected != value:
                self.differences.append(
                    f"plugin_calls.{key}: recorded {_short(recorded)}, here {call}"
                )
        unknown = recorded.keys() - {*dict(call_as_recorded(call)), *ANSWER_KEYS}
        self.differences += [f"plugin_calls.{key}: not checked" for key in sorted(unknown)]
        reply = reply_of(recorded, call)
        if isinstance(call, AllocateCall):
            self.choices.sent[call.container, call.resource] = call.devices
        elif isinstance(reply, PreferredAllocationReply):
            self.choices.preferred[call.container, call.resource] = reply.devices
        return reply

    def _look(self, pod: PodUid, recorded: Json) -> Json:
        """Describe what is known of a container's resource before it is allocated.

        Recordings show what is there when Allocate has collected inactive pods (S3.8).
        """
        container, resource = ContainerName(recorded["container"]), recorded["resource"]
        bound = None
        if not self.facts.sources_ready or pod in self.facts.active_pods:
            bound = self.manager.devices_of(pod, container).get(resource)
        free = self._free(pod, recorded)
        order = self._find_order(pod, recorded, free.nodes)
        groups = free.split(self.behavior, order)
        return {
            "requested": dict(self.pods[pod].container_named(container).limits)[resource],
            "already_bound": None if bound is None else list(bound),
            "reusable": list(free.reusable),
            "available": list(free.available),
            "affinity_applies": free.affinity is not None
            and cares_about_topology(free.listed.values(), self.behavior),
            "aligned": sorted(groups.aligned),
            "unaligned": sorted(groups.unaligned),
            "no_affinity": sorted(groups.no_affinity),
        }

    def _find_order(
        self, pod: PodUid, recorded: Json, nodes: Sequence[NumaNode]
    ) -> Sequence[NumaNode]:
        """Return an order of `nodes` that gives the recorded groups, where the order is chance."""
        if not self.behavior.node_order_is_arbitrary:
            return nodes
        free = self._free(pod, recorded)
        for order in permutations(nodes):
            groups = free.split(self.behavior, order)
            if sorted(groups.aligned) == recorded["aligned"]:
                return order
        return nodes

    def _free(self, pod: PodUid, recorded: Json) -> _Free:
        resource = recorded["resource"]
        seen = self.manager.snapshot()
        reusable: Sequence[DeviceId] = ()
        if seen.reusable is not None and seen.reusable[0] == pod:
            reusable = seen.reusable[1].get(resource, ())
        taken = {*self._allocated_after_release(seen, resource), *reusable}
        hint = self.manager.affinity(pod, ContainerName(recorded["container"]))
        return _Free(
            reusable=reusable,
            available=[each for each in seen.healthy.get(resource, ()) if each not in taken],
            listed=seen.listed.get(resource, {}),
            affinity=None if hint is None else hint.mask,
        )

    def _allocated_after_release(
        self, seen: ManagerSnapshot, resource: ResourceName
    ) -> Sequence[DeviceId]:
        """Return what is allocated once pods that are not active are collected (S6.1)."""
        staying = [each for each in seen.bindings if each.pod in self.facts.active_pods]
        if not self.facts.sources_ready or len(staying) == len(seen.bindings):
            return seen.allocated.get(resource, ())
        return [
            device
            for each in staying
            if each.resource == resource
            for device in device_ids(each.devices)
        ]


def _short(call: Json) -> str:
    return str({key: value for key, value in call.items() if key != "response"})
