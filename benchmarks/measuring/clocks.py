"""The two ways in which time passes in a run, behind one promise: it is waited for.

On the real clock the event loop turns meanwhile. In virtual time waiting is what makes events
happen; the loop is let in now and then, so that Ctrl-C is heard.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Final, Protocol

from simulator.core.instants import Duration, Instant, after
from simulator.engine.virtual.simulation import Simulation
from simulator.engine.world import World
from simulator.live.world import LiveWorld

_EVENTS_IN_A_ROW: Final = 2_000
"""In virtual time, so many events happen before the event loop is let in."""


class Driver(Protocol):
    """Lets a world's time pass."""

    @property
    def world(self) -> World:
        """The world."""
        ...

    def now_ns(self) -> int:
        """Return the present instant as precisely as it is known; only differences count."""
        ...

    def enter(self, action: Callable[[], None]) -> None:
        """Let something happen now."""
        ...

    async def until(self, condition: Callable[[], bool], within: Duration | None = None) -> bool:
        """Wait until something is true, at most for a span; returns whether it is."""
        ...

    async def sleep(self, span: Duration) -> None:
        """Wait."""
        ...


class RealTime:
    """The real clock (`Driver`).

    Events happen a little after they are due, and within one the world's time stands still at the
    instant at which it was due. What something took is therefore measured by the real clock.
    """

    def __init__(self, world: LiveWorld) -> None:
        self._world = world

    @property
    def world(self) -> LiveWorld:
        """The world."""
        return self._world

    def now_ns(self) -> int:
        """Return the real clock's time."""
        return time.monotonic_ns()

    def enter(self, action: Callable[[], None]) -> None:
        """Let something happen now."""
        self._world.enter(action)

    async def until(self, condition: Callable[[], bool], within: Duration | None = None) -> bool:
        """Wait until something is true; looks after every event."""
        return await self._world.until(condition, within)

    async def sleep(self, span: Duration) -> None:
        """Wait."""
        await self._world.sleep(span)


class VirtualTime:
    """Virtual time (`Driver`)."""

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation

    @property
    def world(self) -> Simulation:
        """The world."""
        return self._simulation

    def now_ns(self) -> int:
        """Return the world's time."""
        return self._simulation.now

    def enter(self, action: Callable[[], None]) -> None:
        """Let something happen now."""
        action()
        self._simulation.settle()

    async def until(self, condition: Callable[[], bool], within: Duration | None = None) -> bool:
        """Let events happen until something is true."""
        simulation = self._simulation
        limit = None if within is None else after(simulation.now, within)
        happened = 0
        while not condition():
            due = simulation.next_at()
            if due is None or (limit is not None and due > limit):
                if limit is not None:
                    simulation.run_until(limit)
                return condition()
            simulation.step()
            happened += 1
            if happened % _EVENTS_IN_A_ROW == 0:
                await asyncio.sleep(0)
        return True

    async def sleep(self, span: Duration) -> None:
        """Let everything happen that is due in a span."""
        end = after(self._simulation.now, span)
        await self.until(lambda: self._is_past(end))
        self._simulation.run_until(end)

    def _is_past(self, end: Instant) -> bool:
        due = self._simulation.next_at()
        return due is None or due > end
