"""A scenario's run on live nodes: the same steps and looks, on real sockets and files.

What real things take, they take: time goes on while something is under way. Between such moments a
scenario only waits, and that is left out (`LiveTimeline.reach`). Time goes on slowly, so that the
scenario's delays, made for a simulation, are long beside what sockets and threads take.

`LiveRun` keeps the promise of `scenarios.sights.view.Run` for callers that know no event loop: it
has a loop of its own, which turns while the caller waits.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Final, TypeVar

from simulator.core.instants import (
    MILLISECOND,
    SECOND,
    Duration,
    Instant,
    after,
    format_duration,
)
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
from simulator.errors import ServerError
from simulator.live.world import LiveWorld

SPEED: Final = 0.005
"""How much time passes on the nodes in one real second in which something is under way."""
LOOK: Final = Duration(5 * MILLISECOND)
"""Real time between two looks at what comes from outside."""
READY: Final = Duration(60 * SECOND)
"""Real time in which the nodes must have begun."""

T = TypeVar("T")


class LiveRun:
    """One run of a live cluster.

    Args:
        make: Makes the world, on the loop that will drive it.

    Raises:
        ServerError: Its kubelets have not started in time.
    """

    def __init__(self, make: Callable[[], LiveWorld]) -> None:
        self._loop = asyncio.new_event_loop()
        try:
            self._world = self._turn(_made(make))
        except BaseException:
            self._loop.close()
            raise
        self._look = Duration(int(LOOK * self._world.settings.speed))

    @property
    def now(self) -> Instant:
        """The present instant."""
        return self._world.now

    @property
    def records(self) -> Sequence[Stamped]:
        """All that has happened, in order."""
        return self._world.records

    def next_at(self) -> Instant | None:
        """Return when to look again: plugins and databases answer at any time."""
        if self._world.is_quiet:
            return self._world.timeline.next_at()
        return after(self._world.now, self._look)

    def run_until(self, at: Instant) -> None:
        """Let everything happen up to `at`."""
        self._turn(self._world.reach(at))

    def perform(self, action: Action, name: str) -> None:
        """Do the action of a step now; its completion is a `StepDone` record with this name.

        Raises:
            ScenarioError: The action cannot be done, or not on a live node.
        """
        self._turn(self._perform(action, name))

    def completed_at(self, name: str) -> Instant | None:
        """Return when the action of this name was complete; None while it is not."""
        return self._world.completed_at(name)

    def pod(self, name: str) -> PodObservation | None:
        """Return the latest pod of this name; None before it was created."""
        return self._world.pod(name)

    def node(self, name: NodeName) -> NodeObservation:
        """Return a node."""
        return self._world.node(name)

    def plugin(self, name: str) -> PluginObservation:
        """Return a plugin."""
        return self._world.plugin(name)

    def checkpoint(self, node: NodeName) -> CheckpointObservation:
        """Return the state of a node's checkpoint file."""
        return self._world.checkpoint(node)

    def holdings(self, node: NodeName) -> tuple[HoldingObservation, ...]:
        """Return who holds what according to the node's durable state."""
        return self._world.holdings(node)

    def close(self) -> None:
        """End the nodes and the loop."""
        self._turn(self._world.close())
        self._turn(self._loop.shutdown_default_executor())
        self._loop.close()

    async def _perform(self, action: Action, name: str) -> None:
        self._world.perform(action, name)

    def _turn(self, work: Coroutine[Any, Any, T]) -> T:
        return self._loop.run_until_complete(work)


async def _made(make: Callable[[], LiveWorld]) -> LiveWorld:
    """Make a world, and wait until its kubelets listen or have given up."""
    world = make()
    world.begin(warm=True)

    def all_have_begun() -> bool:
        failed = {name for name, _ in world.start_failures()}
        return all(name in failed or node.serves for name, node in world.nodes.items())

    if not await world.until(all_have_begun, READY):
        await world.close()
        message = (
            f"the kubelets of the live nodes have not started within {format_duration(READY)}; "
            "is the machine that busy?"
        )
        raise ServerError(message)
    return world
