"""How long a phase takes: what its load says, or what its end implies.

A phase that ends by a number of pods, or when devices are held, is expected to take as long as its
rate needs for them. It is cut at a generous multiple of that, so that no run goes on for ever.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from benchmarks.profiles.loads import Burst, Load, PoissonLoad, QpsLoad, RampLoad, SteppedLoad
from benchmarks.profiles.profile import Phase
from simulator.core.instants import MINUTE, SECOND, Duration

_GENEROUS = 10


class UnboundedPhaseError(Exception):
    """A phase has no end."""


def with_length(phase: Phase, *, nodes: int, devices: int, devices_per_pod: Fraction) -> Phase:
    """Return a phase with its time and the time that it is expected to take.

    Args:
        phase: Its `duration` is 0 where the file gives none.
        nodes: How many there are at most.
        devices: Of all plugins on each node.
        devices_per_pod: That a pod of this phase holds on average.

    Raises:
        UnboundedPhaseError: Neither a duration nor its load ends it.
    """
    load = phase.load
    if load is None or isinstance(load, Burst):
        spreading = (phase.restarts, phase.reboots, phase.outages)
        spans = [one.spread for one in spreading if one is not None]
        length = Duration(max(phase.duration, *spans, 0))
        return replace(phase, duration=length, expected=length)
    if isinstance(load, RampLoad):
        length = Duration(len(load.steps()) * load.step)
        return replace(phase, duration=length, expected=length)
    rate = mean_rate(load)
    pods = _pods(phase, nodes, devices, devices_per_pod)
    if pods is None or rate is None:
        if not phase.duration:
            raise UnboundedPhaseError
        return replace(phase, expected=phase.duration)
    expected = Duration(round(pods / Fraction(rate) * SECOND))
    limit = phase.duration or Duration(_GENEROUS * expected + MINUTE)
    return replace(phase, duration=limit, expected=Duration(min(expected, limit)))


def mean_rate(load: Load) -> float | None:
    """Return the pods per second of a load; None where it has no rate of its own."""
    match load:
        case QpsLoad(rate) | PoissonLoad(rate):
            return rate
        case SteppedLoad(burst_size, step_delay):
            return burst_size * SECOND / step_delay
        case _:
            return None


def _pods(phase: Phase, nodes: int, devices: int, devices_per_pod: Fraction) -> Fraction | None:
    """Return how many pods end a phase; None where nothing but its time does."""
    until = phase.until
    if until is None:
        return None
    if until.utilization is not None:
        held = until.utilization * nodes * devices
        return held / devices_per_pod if devices_per_pod else None
    return Fraction(until.count(nodes) or 0)
