"""What all parts of one simulated cluster share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from simulator.core.records import Record
from simulator.core.transitions import NodeName
from simulator.engine.api import ApiServer
from simulator.engine.faults import EffectLog
from simulator.engine.spec import SimulationSpec
from simulator.engine.streams import RandomStreams
from simulator.engine.timeline import Timeline


@dataclass(frozen=True, eq=False)
class Cluster:
    """The surroundings of nodes, plugins, controllers and scheduler.

    Attributes:
        run: The run's choices.
        emit: Stamps and keeps a record.
        touch: Says that something changed on a node of which there is no record.
    """

    run: SimulationSpec
    timeline: Timeline
    api: ApiServer
    streams: RandomStreams
    effects: EffectLog
    emit: Callable[[NodeName, Record], None]
    touch: Callable[[NodeName], None]
