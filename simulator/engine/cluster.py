"""What all parts of one simulated cluster share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from simulator.core.behavior import Behavior
from simulator.core.instants import Duration
from simulator.core.persistence.protocol import Persistence
from simulator.core.records import Record
from simulator.core.transitions import NodeName
from simulator.engine.api import ApiServer
from simulator.engine.faults import EffectLog
from simulator.engine.ports import ApiTransport
from simulator.engine.spec import SimulationSpec
from simulator.engine.streams import RandomStreams
from simulator.engine.timeline import Timeline

Strategy = Callable[[Behavior], Persistence]
"""Makes the persistence of one kubelet process of a version."""


@dataclass(frozen=True, slots=True)
class Keeping:
    """How state is kept, where that is not simply as the spec says.

    Attributes:
        ideal: Whether nothing ever befalls a database: what every persistence is measured by.
        strategy: Makes the persistence of a kubelet; None for that of the spec's name.
    """

    ideal: bool = False
    strategy: Strategy | None = None


@dataclass(frozen=True, eq=False)
class Cluster:
    """The surroundings of nodes, plugins, controllers and scheduler.

    Attributes:
        run: The run's choices.
        transport: How kubelets reach the API server.
        emit: Stamps and keeps a record.
        touch: Says that something changed on a node of which there is no record.
        decided: Told how long a device manager has taken for each decision about a pod.
        strategy: Makes the persistence of one kubelet; None for that of the run's name.
    """

    run: SimulationSpec
    timeline: Timeline
    api: ApiServer
    transport: ApiTransport
    streams: RandomStreams
    effects: EffectLog
    emit: Callable[[NodeName, Record], None]
    touch: Callable[[NodeName], None]
    decided: Callable[[NodeName, Duration], None]
    strategy: Strategy | None = None
