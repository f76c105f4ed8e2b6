"""What expectations look at: one run at one instant (`simulator.engine.virtual.simulation`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from simulator.core.instants import Instant
from simulator.core.records import Stamped
from simulator.core.transitions import NodeName
from simulator.engine.actions import Action
from simulator.engine.observation import (
    CheckpointObservation,
    HoldingObservation,
    NodeObservation,
    PluginObservation,
    PodObservation,
)


class Run(Protocol):
    """A simulated cluster under way."""

    @property
    def now(self) -> Instant:
        """The present instant."""
        ...

    @property
    def records(self) -> Sequence[Stamped]:
        """All that has happened, in order."""
        ...

    def next_at(self) -> Instant | None:
        """Return when the next event is due; None when nothing is planned."""
        ...

    def run_until(self, at: Instant) -> None:
        """Let everything happen that is due up to and at `at`."""
        ...

    def perform(self, action: Action, name: str) -> None:
        """Do the action of a step now; its completion is a `StepDone` record with this name."""
        ...

    def completed_at(self, name: str) -> Instant | None:
        """Return when the action of this name was complete; None while it is not."""
        ...

    def pod(self, name: str) -> PodObservation | None:
        """Return the latest pod of this name; None before it was created."""
        ...

    def node(self, name: NodeName) -> NodeObservation:
        """Return a node."""
        ...

    def plugin(self, name: str) -> PluginObservation:
        """Return a plugin."""
        ...

    def checkpoint(self, node: NodeName) -> CheckpointObservation:
        """Return the state of a node's checkpoint file."""
        ...

    def holdings(self, node: NodeName) -> tuple[HoldingObservation, ...]:
        """Return who holds what according to the node's durable state."""
        ...
