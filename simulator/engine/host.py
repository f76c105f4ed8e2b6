"""What a kubelet process finds on its machine, and what it tells it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from simulator.core.behavior import Behavior
from simulator.core.choices import Choices
from simulator.core.instants import Duration
from simulator.core.persistence.protocol import Persistence
from simulator.core.records import Record
from simulator.core.transitions import NodeName
from simulator.engine.api import ApiServer
from simulator.engine.injection import Injector
from simulator.engine.node_phase import NodePhase
from simulator.engine.plugin_ports import NodeSockets
from simulator.engine.ports import ApiTransport
from simulator.engine.runtime import ContainerProcess, Runtime
from simulator.engine.spec import NodeSpec, SimulationSpec
from simulator.engine.storage_ports import Storage
from simulator.engine.timeline import Process, Timeline


class Machine(Protocol):
    """The node, as its kubelet process sees it."""

    @property
    def boot_id(self) -> str:
        """The id of the present boot."""
        ...

    @property
    def power(self) -> Process:
        """What ends when the machine loses power or reboots."""
        ...

    def kubelet_panicked(self, restart_after: Duration) -> None:
        """The kubelet has crashed by itself."""
        ...

    def kubelet_gave_up(self, message: str) -> None:
        """The kubelet could not start."""
        ...

    def run_init_container(self, process: ContainerProcess) -> None:
        """A plain init container has started; it exits after its time."""
        ...


@dataclass(frozen=True, eq=False)
class Host:
    """The parts of one node that outlive a kubelet process.

    Attributes:
        run: The whole run's choices.
        touch: Says that something changed of which there is no record.
        decided: Told how long the device manager has taken for each decision about a pod.
        transport: How its kubelet reaches the API server.
        api_calls: How often it was asked for what (`simulator.engine.api_requests.name_of`).
        storage: Its database is None unless the persistence keeps its state there, now or after a
            migration.
        sockets: By which plugins and agents reach the kubelet.
        phase: How far that migration is.
        strategy: Makes the persistence of a kubelet; None for that of the run's name.
    """

    name: NodeName
    spec: NodeSpec
    run: SimulationSpec
    timeline: Timeline
    emit: Callable[[Record], None]
    touch: Callable[[], None]
    decided: Callable[[Duration], None]
    api: ApiServer
    transport: ApiTransport
    api_calls: Counter[str]
    runtime: Runtime
    storage: Storage
    sockets: NodeSockets
    phase: NodePhase
    injector: Injector
    choices: Choices
    machine: Machine
    strategy: Callable[[Behavior], Persistence] | None = None
