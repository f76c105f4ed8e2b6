"""Phases of a churn profile: what comes when, and what befalls the nodes meanwhile."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from benchmarks.profiles import profile
from benchmarks.profiles.schema.loads import OneOf
from benchmarks.profiles.schema.numbers import Percentile, PodCount, Rate, Share
from benchmarks.results.rows import Measure
from benchmarks.results.slices import Tracked
from scenarios.schema.fields import GoDuration, Items, Model, Name, one_or_list
from simulator.core.instants import MINUTE, SECOND, Duration

WEIGHT_MAX = 1_000
"""Largest weight of a template among others."""

MeasureName = Literal["admission", "start", "running", "visible"]

_ALL = Fraction(1)


def _weights(value: object) -> object:
    return {value: 1} if isinstance(value, str) else value


class Until(OneOf):
    """What ends a phase before its time is over; one key chooses."""

    utilization: Share | None = None
    """So many of the devices are held by pods of the phases."""
    pods: PodCount | None = None
    """So many pods were offered in this phase."""
    pods_per_node: PodCount | None = None
    """So many pods for each node were offered in this phase."""

    @model_validator(mode="after")
    def _has_one_form(self) -> Self:
        self.given()
        return self

    @property
    def value(self) -> profile.Until:
        """The end as the profile has it."""
        return profile.Until(self.utilization, self.pods, self.pods_per_node)


class RestartKubelet(Model):
    """Kubelets restart while their containers go on."""

    nodes: Share = _ALL
    """Share of the nodes, at least one of them."""
    spread: GoDuration = Duration(0)
    """They restart at random instants within this time from the start of the phase."""

    @property
    def value(self) -> profile.KubeletRestarts:
        """The restarts as the profile has them."""
        return profile.KubeletRestarts(self.nodes, self.spread)


class RebootNodes(Model):
    """Nodes reboot; all their pods are admitted again, in a batch on each node."""

    nodes: Share = _ALL
    """Share of the nodes, at least one of them."""
    spread: GoDuration = Duration(0)
    """They go down at random instants within this time from the start of the phase."""
    downtime: GoDuration = Duration(MINUTE)
    """How long each is off."""

    @property
    def value(self) -> profile.NodeReboots:
        """The reboots as the profile has them."""
        return profile.NodeReboots(self.nodes, self.spread, self.downtime)


class Chaos(Model):
    """Nodes fail one after the other and come back, during the whole phase."""

    fail: Share
    """Share of the nodes that fail in each period, at least one of them."""
    every: Annotated[GoDuration, Field(ge=SECOND)] = Duration(MINUTE)
    """The period."""
    down: GoDuration = Duration(10 * MINUTE)
    """How long each is off."""

    @property
    def value(self) -> profile.Chaos:
        """The failures as the profile has them."""
        return profile.Chaos(self.fail, self.every, self.down)


class Flat(Model):
    """How much worse something may be in the last third of a phase than in its first.

    Both are medians over slices of the phase, so that a few stalls do not count.
    """

    rate: Share | None = None
    """So much the served rate may fall."""
    p99: Share | None = None
    """So much the p99 of the admission may grow."""
    memory: Share | None = None
    """So much the memory of the process with the nodes may grow, and that of an API server."""
    stored: Share | None = None
    """So much checkpoints and databases, with their logs, may grow on disk."""

    @property
    def gates(self) -> tuple[profile.FlatGate, ...]:
        """The bounds as the profile has them."""
        given = (
            (Tracked.RATE, self.rate),
            (Tracked.P99, self.p99),
            (Tracked.MEMORY, self.memory),
            (Tracked.SERVER_MEMORY, self.memory),
            (Tracked.STORED, self.stored),
        )
        return tuple(
            profile.FlatGate(tracked, within) for tracked, within in given if within is not None
        )


class ApiOutage(Model):
    """Nodes cannot reach the API server: nothing they ask is answered, and they hear of nothing."""

    nodes: Share = _ALL
    """Share of the nodes, at least one of them."""
    spread: GoDuration = Duration(0)
    """They are cut off at random instants within this time."""
    duration: Annotated[GoDuration, Field(ge=1)]
    """How long each of them is cut off, also beyond the end of the phase."""
    every: Annotated[GoDuration, Field(ge=SECOND)] | None = None
    """From one time to the next, each with other nodes, until pods come no more; left out: once, at
    the start of the phase."""

    @property
    def value(self) -> profile.ApiOutages:
        """The outages as the profile has them."""
        return profile.ApiOutages(self.nodes, self.spread, self.duration, self.every)


class LostReplies(Model):
    """Replies of the API server get lost: it has done what the kubelet does not know of (W6)."""

    share: Share
    """Share of the requests of kubelets that this happens to, at random, during the phase."""

    @property
    def value(self) -> profile.LostReplies:
        """The losses as the profile has them."""
        return profile.LostReplies(self.share)


class Gate(Model):
    """A bound that decides whether a phase passes.

    Of a latency, of the achieved rate, or of what drifts.
    """

    measure: MeasureName | None = None
    """The latency."""
    percentile: Percentile | None = None
    """Its percentile."""
    below: GoDuration | None = None
    """It must be shorter than this."""
    achieved: Rate | None = None
    """So many pods must be served in a second at least; instead of the other keys."""
    flat: Flat | None = None
    """What must stay flat in a phase of 30 s or more; instead of the other keys."""

    @model_validator(mode="after")
    def _is_of_one_kind(self) -> Self:
        latency = [self.measure, self.percentile, self.below]
        given = [value for value in latency if value is not None]
        kinds = [bool(given), self.achieved is not None, self.flat is not None]
        if len(given) not in {0, len(latency)} or sum(kinds) != 1:
            reason = 'wants either "measure", "percentile" and "below", or "achieved", or "flat"'
            raise ValueError(reason)
        return self

    @property
    def values(self) -> tuple[profile.Gate, ...]:
        """The gate as the profile has it: one for each bound."""
        if self.flat is not None:
            return self.flat.gates
        if self.measure is None or self.percentile is None or self.below is None:
            return (profile.RateGate(self.achieved or 0.0),)
        return (profile.LatencyGate(Measure(self.measure), self.percentile, self.below),)


class Phase(Model):
    """A part of a run: a load, what befalls the nodes meanwhile, or both."""

    name: Name
    """The phase's name; its random streams are named after it."""
    load: Name | None = None
    """What comes, one of `loads`."""
    pods: Annotated[
        dict[Name, Annotated[int, Field(ge=1, le=WEIGHT_MAX)]] | None, BeforeValidator(_weights)
    ] = None
    """Template of what comes, or a map of templates to their weights."""
    api_calls: bool = False
    """Whether what comes is one GET through its node's API client each, instead of a pod."""
    duration: Annotated[GoDuration, Field(ge=1)] | None = None
    """Time in which pods come; a burst and a ramp have their own."""
    until: Until | None = None
    """What ends the phase before its time is over."""
    drain: GoDuration = Duration(10 * SECOND)
    """How long what is left may take after the last pod has come, until it is served or, with
    restarts and reboots, until every pod runs again."""
    pause: GoDuration = Duration(0)
    """Rest before the phase, in which token buckets fill."""
    fresh: bool = False
    """Whether the pods of earlier phases are deleted, and gone, before it begins."""
    warmup: GoDuration = Duration(0)
    """So long at the start of the phase nothing is measured."""
    measure: bool = True
    """Whether the phase stands in the results."""
    restart_kubelet: RestartKubelet | None = None
    """Kubelets that restart at the start of the phase."""
    reboot_nodes: RebootNodes | None = None
    """Nodes that reboot at the start of the phase."""
    chaos: Chaos | None = None
    """Nodes that fail during the phase."""
    api_outage: ApiOutage | None = None
    """Nodes that cannot reach the API server for a while; beside what else happens."""
    lost_replies: LostReplies | None = None
    """Replies of the API server that get lost during the phase; beside what else happens."""
    gate: Annotated[Items[Gate], BeforeValidator(one_or_list)] = ()
    """What the phase must reach to pass: one bound or a list."""

    @model_validator(mode="after")
    def _does_something(self) -> Self:
        happens = (self.load, self.restart_kubelet, self.reboot_nodes, self.chaos)
        if all(one is None for one in happens):
            reason = "wants one of load, restartKubelet, rebootNodes, chaos, found none of them"
            raise ValueError(reason)
        has_pods = self.pods is not None or self.api_calls
        if (self.load is not None) != has_pods:
            missing, there = ("pods", "load") if self.load is not None else ("load", "pods")
            reason = f'the key "{missing}" is missing beside "{there}"'
            raise ValueError(reason)
        if self.pods is not None and self.api_calls:
            reason = 'wants "pods" or "apiCalls", found both of them'
            raise ValueError(reason)
        if self.chaos is not None and self.duration is None:
            reason = 'the key "duration" is missing; nodes fail for so long'
            raise ValueError(reason)
        again = self.api_outage is not None and self.api_outage.every is not None
        if again and self.duration is None:
            reason = 'the key "duration" is missing; nodes are cut off again and again for so long'
            raise ValueError(reason)
        return self
