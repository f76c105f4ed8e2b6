"""When pods come, of which template, and how long they live: fixed by the profile and its seed.

Chance is drawn from one stream for each phase and purpose, named after both. So a phase more, or
another lifetime, changes nothing in the other schedules, and every combination and repetition of a
profile gets the same pods at the same instants.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import assert_never

from benchmarks.profiles.loads import (
    Burst,
    ClosedLoop,
    Constant,
    Distribution,
    Exponential,
    Lifetime,
    Lognormal,
    OpenLoad,
    PoissonLoad,
    QpsLoad,
    RampLoad,
    SaturationLoad,
    SteppedLoad,
    Uniform,
)
from benchmarks.profiles.profile import Phase, Profile
from simulator.core.instants import SECOND, Duration
from simulator.engine.streams import RandomStreams


@dataclass(frozen=True, slots=True)
class Arrival:
    """One pod that comes.

    Attributes:
        at: From the start of the phase; 0 for all of a closed loop.
        template: Name of its template; empty where an API call comes and no pod.
        lifetime: How long its containers run; None: until the run ends.
    """

    at: Duration
    template: str
    lifetime: Duration | None


def arrivals(
    profile: Profile,
    phase: Phase,
    *,
    nodes: int | None = None,
    seed: int | None = None,
    saturation: float | None = None,
) -> Iterator[Arrival]:
    """Iterate over what comes in a phase, in order; without end in a closed loop.

    Args:
        profile: With the templates of the pods.
        phase: Of that profile.
        nodes: Number of nodes in place of the profile's own.
        seed: In place of the profile's own.
        saturation: Rate that a ramp has found, in pods per second, for a load that is a share of
            it.

    Raises:
        ValueError: The load is a share of a saturation rate that is not given.
    """
    streams = RandomStreams(profile.seed if seed is None else seed)
    instants = _instants(phase, streams.stream(f"arrivals/{phase.name}"), saturation)
    if phase.until is not None:
        count = phase.until.count(profile.nodes.count if nodes is None else nodes)
        instants = itertools.islice(instants, count)
    draw = _Pods(profile, phase, streams)
    return (draw.arrival(at) for at in instants)


class _Pods:
    """Gives arrivals their templates and lifetimes."""

    def __init__(self, profile: Profile, phase: Phase, streams: RandomStreams) -> None:
        self._chance = streams.stream(f"templates/{phase.name}")
        self._names = [share.template for share in phase.pods]
        self._weights = [share.weight for share in phase.pods]
        self._lifetimes = {name: profile.templates[name].lifetime for name in self._names}
        self._streams = {
            name: streams.stream(f"lifetimes/{phase.name}/{name}") for name in self._names
        }

    def arrival(self, at: Duration) -> Arrival:
        if not self._names:
            return Arrival(at, "", None)
        name = self._names[0]
        if len(self._names) > 1:
            [name] = self._chance.choices(self._names, self._weights)
        lifetime = self._lifetimes[name]
        if lifetime is None:
            return Arrival(at, name, None)
        return Arrival(at, name, draw_lifetime(lifetime, self._streams[name]))


def draw_lifetime(lifetime: Lifetime, chance: random.Random) -> Duration:
    """Return one span of a distribution, at most as long as its bound."""
    span = max(_draw(lifetime.distribution, chance), 0)
    return Duration(span if lifetime.most is None else min(span, lifetime.most))


def _draw(distribution: Distribution, chance: random.Random) -> int:
    match distribution:
        case Constant(span):
            return span
        case Exponential(mean):
            return round(chance.expovariate(1) * mean)
        case Uniform(least, most):
            return chance.randint(least, most)
        case Lognormal(median, sigma):
            return round(chance.lognormvariate(0, sigma) * median)
        case _:
            assert_never(distribution)


def _instants(phase: Phase, chance: random.Random, saturation: float | None) -> Iterator[Duration]:
    load = phase.load
    if load is None:
        return iter(())
    if isinstance(load, ClosedLoop):
        return itertools.repeat(Duration(0))
    if isinstance(load, SaturationLoad):
        if saturation is None:
            reason = f"the load of {phase.name} is a share of a saturation rate, and none is known"
            raise ValueError(reason)
        load = load.at(saturation)
    return itertools.takewhile(_before(phase.duration), open_instants(load, chance))


def _before(end: Duration) -> Callable[[Duration], bool]:
    return lambda at: at < max(end, 1)


def open_instants(load: OpenLoad, chance: random.Random) -> Iterator[Duration]:
    """Iterate over the instants of a load, without end where it has none of its own."""
    match load:
        case QpsLoad(qps):
            # Each from the start, so that no error of rounding adds up.
            distance = SECOND / Fraction(qps)
            return (Duration(int(index * distance)) for index in itertools.count())
        case PoissonLoad(rate):
            return _poisson(rate, 0, None, chance)
        case SteppedLoad(burst_size, step_delay):
            return (
                Duration(step * step_delay) for step in itertools.count() for _ in range(burst_size)
            )
        case Burst(pods):
            return itertools.repeat(Duration(0), pods)
        case RampLoad():
            return itertools.chain.from_iterable(
                _poisson(step.rate, step.begin, step.end, chance) for step in load.steps()
            )
        case _:
            assert_never(load)


def _poisson(rate: float, begin: int, end: int | None, chance: random.Random) -> Iterator[Duration]:
    at = begin / SECOND + chance.expovariate(rate)
    while end is None or at * SECOND < end:
        yield Duration(round(at * SECOND))
        at += chance.expovariate(rate)
