"""Short ways to build a simulated cluster and to read what happened in it."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeVar

from simulator.core.devices import HEALTHY, Device, DeviceId
from simulator.core.instants import SECOND, Duration, Instant
from simulator.core.pods import Container, ContainerKind, ContainerName, Pod, PodUid
from simulator.core.records import Record, Stamped
from simulator.core.resources import ResourceName
from simulator.core.transitions import NodeName
from simulator.engine.actions import Action
from simulator.engine.faults import Fault
from simulator.engine.observation import PodObservation
from simulator.engine.ports import Adapters
from simulator.engine.spec import NodeSpec, PluginSpec, PodSpec, SimulationSpec
from simulator.engine.virtual.simulated_parts import SimulatedParts
from simulator.engine.virtual.simulation import Simulation
from simulator.engine.world import Watching
from simulator.ports import Store

GPU = ResourceName("example.com/gpu")
NIC = ResourceName("example.com/nic")
NODE = NodeName("n0")

R = TypeVar("R", bound=Record)


def seconds(number: float) -> Duration:
    return Duration(round(number * SECOND))


def devices(count: int, prefix: str = "g", health: str = HEALTHY) -> tuple[Device, ...]:
    return tuple(Device(DeviceId(f"{prefix}{number}"), health) for number in range(count))


def container(
    name: str = "app",
    count: int = 1,
    kind: ContainerKind = ContainerKind.REGULAR,
    resource: ResourceName = GPU,
) -> Container:
    return Container(ContainerName(name), ((resource, count),) if count else (), kind)


def pod(name: str, *containers: Container) -> PodSpec:
    regular = tuple(each for each in containers if each.kind is ContainerKind.REGULAR)
    init = tuple(each for each in containers if each.kind is not ContainerKind.REGULAR)
    template = Pod(PodUid(""), name, init_containers=init, containers=regular or (container(),))
    return PodSpec(name, template, node=NODE)


def a_plugin(name: str = "gpu", count: int = 4, resource: ResourceName = GPU) -> PluginSpec:
    return PluginSpec(name, NODE, resource, devices(count))


def a_spec(
    *pods: PodSpec, version: str = "1.36.2", persistence: str = "checkpoint"
) -> SimulationSpec:
    return SimulationSpec(
        nodes=(NodeSpec(NODE),),
        plugins=(a_plugin(),),
        pods=pods,
        kubelet_version=version,
        persistence=persistence,
    )


def with_plugin(spec: SimulationSpec, **changes: object) -> SimulationSpec:
    plugin = replace(spec.plugins[0], **changes)  # type: ignore[arg-type]  # a test's own values
    return replace(spec, plugins=(plugin, *spec.plugins[1:]))


def no_store(node: NodeName) -> Store:
    message = f"{node} was not to open a database"
    raise AssertionError(message)


class Run:
    """A simulation with steps that are performed one after the other."""

    def __init__(
        self,
        spec: SimulationSpec,
        *,
        store_factory: Callable[[NodeName], Store] = no_store,
        faults: tuple[Fault, ...] = (),
        watching: Watching = Watching(),
        around: Callable[[SimulatedParts], Adapters] = lambda parts: parts,
    ) -> None:
        self.simulation = Simulation(
            spec, store_factory=store_factory, faults=faults, watching=watching, around=around
        )
        weakref.finalize(self, self.simulation.close)
        self._steps = 0

    def do(self, action: Action, within: float = 60) -> Instant:
        """Perform an action, let time pass until it is complete, and return that instant."""
        name = self.begin(action)
        limit = Instant(self.simulation.now + seconds(within))
        while self.simulation.completed_at(name) is None:
            due = self.simulation.next_at()
            assert due is not None, f"{action} is never complete"
            assert due <= limit, f"{action} is not complete within {within} s"
            self.simulation.step()
        completed = self.simulation.completed_at(name)
        assert completed is not None
        return completed

    def begin(self, action: Action) -> str:
        """Perform an action and do not wait for it."""
        self._steps += 1
        name = f"step-{self._steps}"
        self.simulation.perform(action, name)
        return name

    def wait(self, span: float) -> None:
        """Let `span` seconds pass."""
        self.simulation.run_until(Instant(self.simulation.now + seconds(span)))

    def pod(self, name: str) -> PodObservation:
        observed = self.simulation.pod(name)
        assert observed is not None, f"there never was a pod {name}"
        return observed

    def records(self, kind: type[R], since: Instant = Instant(0)) -> list[R]:
        return [record for _, record in self.stamped(kind, since)]

    def stamped(self, kind: type[R], since: Instant = Instant(0)) -> Iterator[tuple[Instant, R]]:
        return (
            (stamped.at, stamped.record)
            for stamped in self.simulation.records
            if isinstance(stamped.record, kind) and stamped.at >= since
        )

    def all_records(self) -> list[Stamped]:
        return self.simulation.records
