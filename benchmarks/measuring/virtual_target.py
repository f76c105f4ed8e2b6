"""A cluster in virtual time: models of disks, databases and API server, and the product's nodes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from benchmarks.measuring.clocks import VirtualTime
from benchmarks.measuring.costs import Instruments
from benchmarks.measuring.following import Risk
from benchmarks.measuring.making import WATCHING, Making, Request, begin
from benchmarks.measuring.phases import Target
from simulator.engine.ports import Adapters
from simulator.engine.virtual.simulated_parts import SimulatedParts
from simulator.engine.virtual.simulation import Simulation
from simulator.ports import Durability
from store.memory.store import MemoryStore


@asynccontextmanager
async def virtual_target(request: Request) -> AsyncIterator[Target]:
    """Make a cluster in virtual time, with one database for all nodes that knows only memory."""
    making = Making(request)
    store = MemoryStore()
    parts: list[SimulatedParts] = []

    def around(inner: SimulatedParts) -> Adapters:
        parts.append(inner)
        return making.around(inner, inner.timeline)

    simulation = Simulation(
        making.spec, store_factory=lambda _: store, watching=WATCHING, around=around
    )
    try:
        driver = VirtualTime(simulation)
        await begin(driver)
        is_full = request.combination.durability in {None, Durability.FULL}
        risk = Risk(None, is_counted=is_full)
        yield making.target(driver, risk, Instruments(fsyncs=lambda: parts[0].fsyncs))
    finally:
        simulation.close()
