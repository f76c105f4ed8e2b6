"""A simulated cluster in virtual time.

The same spec gives the same records, byte for byte. The store comes from outside, so that the
persistence `database` runs on the real one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from simulator.core.instants import Instant
from simulator.engine.cluster import Keeping
from simulator.engine.faults import Effect, EffectLog, Fault
from simulator.engine.ports import Adapters
from simulator.engine.spec import SimulationSpec
from simulator.engine.timeline import Priority, Timeline
from simulator.engine.virtual.simulated_parts import SimulatedParts, StoreFactory
from simulator.engine.world import Watching, World


class Simulation(World):
    """One run.

    Args:
        spec: What it starts from.
        store_factory: Called for each node when the persistence keeps a database.
        faults: What goes wrong at which effect.
        watching: What is kept beside the records.
        keeping: How state is kept, where that is not simply as the spec says.
        around: Puts something around the parts of the nodes, such as other plugins.

    Raises:
        ConfigError: The spec names something twice, or something that is not there.
    """

    def __init__(  # noqa: PLR0913 - what a cluster starts from, and what is put around it
        self,
        spec: SimulationSpec,
        *,
        store_factory: StoreFactory,
        faults: Iterable[Fault] = (),
        watching: Watching = Watching(),
        keeping: Keeping = Keeping(),
        around: Callable[[SimulatedParts], Adapters] = lambda parts: parts,
    ) -> None:
        timeline = Timeline()
        self._effects = EffectLog(faults, keep=watching.effects)
        self._parts = SimulatedParts(spec, timeline, store_factory, ideal=keeping.ideal)
        super().__init__(
            spec,
            timeline=timeline,
            adapters=around(self._parts),
            effects=self._effects,
            watching=watching,
            strategy=keeping.strategy,
        )
        self.start(warm=True)

    def next_at(self) -> Instant | None:
        """Return when the next event is due; None when nothing is planned any more."""
        return self.timeline.next_at()

    def call_at(
        self, at: Instant, action: Callable[[], None], priority: Priority = Priority.STEP
    ) -> None:
        """Plan something of the caller's own, such as the next step."""
        self.timeline.call_at(at, action, priority)

    def step(self) -> None:
        """Let the next event happen.

        Raises:
            IndexError: Nothing is planned.
        """
        self.timeline.step()
        self.settle()

    def run_until(self, at: Instant) -> None:
        """Let everything happen that is due up to and at `at`."""
        while (due := self.timeline.next_at()) is not None and due <= at:
            self.step()
        self.timeline.advance_to(at)

    @property
    def effects(self) -> tuple[Effect, ...]:
        """The effects so far, if they are kept."""
        return self._effects.effects

    @property
    def effect_count(self) -> int:
        """The number of effects so far."""
        return self._effects.count

    def close(self) -> None:
        """Let go of the stores."""
        self._parts.close()
