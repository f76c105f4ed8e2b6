"""Shapes of load: how many pods come when, and how long they live.

The names are those of ClusterLoader2's tuning sets where it has one. Rates are pods per second over
all nodes. A closed loop has no rate: its next pod comes when one was served, so a slow system is
asked for less and its latencies say nothing about what would have been asked.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from simulator.core.instants import Duration


@dataclass(frozen=True, slots=True)
class QpsLoad:
    """One pod after the other at equal distances, the first at once."""

    qps: float


@dataclass(frozen=True, slots=True)
class PoissonLoad:
    """Pods that know nothing of each other: exponential distances with this mean rate."""

    rate: float


@dataclass(frozen=True, slots=True)
class SteppedLoad:
    """A burst of pods at the same instant, again and again, the first at once."""

    burst_size: int
    step_delay: Duration


@dataclass(frozen=True, slots=True)
class Burst:
    """All pods at once."""

    pods: int


@dataclass(frozen=True, slots=True)
class Saturation:
    """When a step of a ramp was too much: one of these is enough.

    Attributes:
        achieved_below: Share of the offered pods of the step that were served within it.
        p99_above: Latency of admission; None where only the share counts.
    """

    achieved_below: Fraction
    p99_above: Duration | None = None


@dataclass(frozen=True, slots=True)
class RampStep:
    """A part of a ramp.

    Attributes:
        begin: From the start of the phase.
        rate: Pods per second.
    """

    begin: Duration
    end: Duration
    rate: float


@dataclass(frozen=True, slots=True)
class RampLoad:
    """Poisson arrivals whose rate grows by a factor from step to step until it is too much.

    The rate of the last step before that is the saturation rate. The schedule goes on to the last
    rate; who runs it ends it at the first step that was too much.

    Attributes:
        first, last: Pods per second; the last step has the last rate.
        factor: Between the rates of two steps, above 1; less before the last one.
    """

    first: float
    last: float
    factor: float
    step: Duration
    saturated: Saturation

    def steps(self) -> tuple[RampStep, ...]:
        """Return the steps in order."""
        rates = [self.first]
        while rates[-1] * self.factor < self.last:
            rates.append(rates[-1] * self.factor)
        if self.last > self.first:
            rates.append(self.last)
        return tuple(
            RampStep(Duration(index * self.step), Duration((index + 1) * self.step), rate)
            for index, rate in enumerate(rates)
        )


@dataclass(frozen=True, slots=True)
class SaturationLoad:
    """Poisson arrivals at a share of the rate that the ramp before has found."""

    share: Fraction

    def at(self, saturation: float) -> PoissonLoad:
        """Return the load under a saturation rate, in pods per second."""
        return PoissonLoad(float(self.share * Fraction(saturation)))


@dataclass(frozen=True, slots=True)
class ClosedLoop:
    """So many clients, each of which offers its next pod when its last one was served."""

    concurrency: int


OpenLoad: TypeAlias = QpsLoad | PoissonLoad | SteppedLoad | Burst | RampLoad
"""What has a schedule of its own."""
Load: TypeAlias = OpenLoad | SaturationLoad | ClosedLoop


@dataclass(frozen=True, slots=True)
class Constant:
    """Always the same."""

    span: Duration


@dataclass(frozen=True, slots=True)
class Exponential:
    """Without memory: a pod that has lived long is as likely to end as a new one."""

    mean: Duration


@dataclass(frozen=True, slots=True)
class Uniform:
    """Anything between two spans, equally likely."""

    least: Duration
    most: Duration


@dataclass(frozen=True, slots=True)
class Lognormal:
    """Mostly short with a long tail, as jobs are.

    Attributes:
        sigma: Standard deviation of the logarithm.
    """

    median: Duration
    sigma: float


Distribution: TypeAlias = Constant | Exponential | Uniform | Lognormal


@dataclass(frozen=True, slots=True)
class Lifetime:
    """How long the containers of a pod run.

    Attributes:
        most: Longer ones end at this; None for no bound.
    """

    distribution: Distribution
    most: Duration | None = None
