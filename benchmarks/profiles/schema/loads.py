"""Loads and lifetimes as churn profiles write them: one key chooses the shape."""

from __future__ import annotations

from abc import abstractmethod
from fractions import Fraction
from typing import Annotated, Self

from pydantic import Field, model_validator
from typing_extensions import override

from benchmarks.profiles import loads
from benchmarks.profiles.schema.numbers import PodCount, Rate, Share
from scenarios.schema.fields import GoDuration, Model
from simulator.core.instants import Duration

CLIENTS_MAX = 10_000
"""Most clients of a closed loop."""
SIGMA_MAX = 10
"""Widest lognormal distribution."""


class OneOf(Model):
    """A map in which exactly one key may stand, beside those that `_beside` names."""

    def given(self, *beside: str) -> object:
        """Return the value of the one key.

        Args:
            beside: Keys that do not count.

        Raises:
            ValueError: There is none, or more than one.
        """
        fields = [name for name in type(self).model_fields if name not in beside]
        values = [value for name in fields if (value := getattr(self, name)) is not None]
        if len(values) != 1:
            keys = [str(type(self).model_fields[name].alias) for name in fields]
            reason = f"wants one of {', '.join(keys)}, found {len(values) or 'none'} of them"
            raise ValueError(reason)
        return values[0]


class LoadShape(Model):
    """The numbers of one shape of load."""

    @property
    @abstractmethod
    def value(self) -> loads.Load:
        """The load as the profile has it."""


class QpsLoad(LoadShape):
    """One pod after the other at equal distances, the first at once."""

    qps: Rate
    """Pods per second over all nodes."""

    @property
    @override
    def value(self) -> loads.QpsLoad:
        """The load as the profile has it."""
        return loads.QpsLoad(self.qps)


class PoissonLoad(LoadShape):
    """Pods that know nothing of each other: exponential distances."""

    expected_actions_per_second: Rate
    """Pods per second over all nodes, on average."""

    @property
    @override
    def value(self) -> loads.PoissonLoad:
        """The load as the profile has it."""
        return loads.PoissonLoad(self.expected_actions_per_second)


class SteppedLoad(LoadShape):
    """Bursts of pods at the same instant, the first at once."""

    burst_size: PodCount
    """Pods in a burst."""
    step_delay: Annotated[GoDuration, Field(ge=1)]
    """From one burst to the next."""

    @property
    @override
    def value(self) -> loads.SteppedLoad:
        """The load as the profile has it."""
        return loads.SteppedLoad(self.burst_size, self.step_delay)


class Burst(LoadShape):
    """All pods at once, at the start of the phase."""

    pods: PodCount
    """How many."""

    @property
    @override
    def value(self) -> loads.Burst:
        """The load as the profile has it."""
        return loads.Burst(self.pods)


class Saturated(Model):
    """When a step of a ramp was too much; one of these is enough."""

    achieved_below: Share = Fraction(95, 100)
    """Less than this share of its pods was served within the step."""
    p99_above: GoDuration | None = None
    """The 99th percentile of the latency of admission is longer; left out: it does not matter."""


class RampLoad(LoadShape):
    """Poisson arrivals whose rate grows from step to step, until one step is too much."""

    from_: Annotated[Rate, Field(alias="from")]
    """Pods per second of the first step."""
    to: Rate
    """Pods per second after which the ramp ends even if that was not too much."""
    factor: Annotated[Rate, Field(ge=1.01, le=100)] = 1.5
    """How many times more comes in each step than in the one before."""
    step_duration: Annotated[GoDuration, Field(ge=1)]
    """How long a step takes."""
    saturated: Saturated = Saturated()
    """What counts as too much; the rate of the step before is the saturation rate."""

    @model_validator(mode="after")
    def _grows(self) -> Self:
        if self.to < self.from_:
            reason = '"to" cannot be lower than "from"'
            raise ValueError(reason)
        return self

    @property
    @override
    def value(self) -> loads.RampLoad:
        """The load as the profile has it."""
        limits = loads.Saturation(self.saturated.achieved_below, self.saturated.p99_above)
        return loads.RampLoad(self.from_, self.to, self.factor, self.step_duration, limits)


class SaturationLoad(LoadShape):
    """Poisson arrivals at a share of the rate that a ramp in an earlier phase has found."""

    share: Share
    """Share of the saturation rate."""

    @property
    @override
    def value(self) -> loads.SaturationLoad:
        """The load as the profile has it."""
        return loads.SaturationLoad(self.share)


class ClosedLoop(LoadShape):
    """Clients, each of which offers its next pod when its last one was served.

    A slow system is asked for less, so latencies do not tell what would have been asked.
    """

    concurrency: Annotated[int, Field(ge=1, le=CLIENTS_MAX)]
    """Number of clients."""

    @property
    @override
    def value(self) -> loads.ClosedLoop:
        """The load as the profile has it."""
        return loads.ClosedLoop(self.concurrency)


class Load(OneOf):
    """A load; one key chooses its shape."""

    qps_load: QpsLoad | None = None
    """One pod after the other at equal distances."""
    poisson_load: PoissonLoad | None = None
    """Pods that know nothing of each other, as from many users."""
    stepped_load: SteppedLoad | None = None
    """Bursts at equal distances."""
    burst: Burst | None = None
    """All pods at once."""
    ramp_load: RampLoad | None = None
    """A rate that grows until it is too much."""
    saturation_load: SaturationLoad | None = None
    """A share of the rate that a ramp has found."""
    closed_loop: ClosedLoop | None = None
    """Clients that wait for their pods, where everything else comes when it comes."""

    @model_validator(mode="after")
    def _has_one_shape(self) -> Self:
        self.given()
        return self

    @property
    def value(self) -> loads.Load:
        """The load as the profile has it."""
        shape = self.given()
        assert isinstance(shape, LoadShape)  # noqa: S101 - every key of this map is one
        return shape.value


class Exponential(Model):
    """Spans without memory."""

    mean: Annotated[GoDuration, Field(ge=1)]
    """Their mean."""


class Uniform(Model):
    """Spans between two, equally likely."""

    from_: Annotated[GoDuration, Field(alias="from")]
    """The shortest."""
    to: GoDuration
    """The longest."""

    @model_validator(mode="after")
    def _is_in_order(self) -> Self:
        if self.to < self.from_:
            reason = '"to" cannot be shorter than "from"'
            raise ValueError(reason)
        return self


class Lognormal(Model):
    """Mostly short spans with a long tail, as jobs have them."""

    median: Annotated[GoDuration, Field(ge=1)]
    """Half of them are shorter."""
    sigma: Annotated[Rate, Field(le=SIGMA_MAX)]
    """Standard deviation of the logarithm: 0.8 makes one in a hundred 6 times the median."""


class Lifetime(OneOf):
    """How long containers run; one key chooses the distribution."""

    constant: GoDuration | None = None
    """Always the same."""
    exponential: Exponential | None = None
    """Without memory."""
    uniform: Uniform | None = None
    """Between two spans."""
    lognormal: Lognormal | None = None
    """Mostly short with a long tail."""
    max: GoDuration | None = None
    """Longer ones end at this; left out: no bound."""

    @model_validator(mode="after")
    def _has_one_shape(self) -> Self:
        self.given("max")
        return self

    @property
    def value(self) -> loads.Lifetime:
        """The lifetime as the profile has it."""
        return loads.Lifetime(self._distribution(), self.max)

    def _distribution(self) -> loads.Distribution:
        if self.exponential is not None:
            return loads.Exponential(self.exponential.mean)
        if self.uniform is not None:
            return loads.Uniform(self.uniform.from_, self.uniform.to)
        if self.lognormal is not None:
            return loads.Lognormal(self.lognormal.median, self.lognormal.sigma)
        return loads.Constant(self.constant or Duration(0))
