"""The values of a benchmark: settings, what was measured under each, the noise, the whole run.

A row is one phase of one repetition under one setting. What could not be counted is None, never 0.
Rates are per second of the phase, latencies count from the scheduled start of each pod, and times
are nanoseconds where a name does not say seconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from benchmarks.results.fields import (
    DOCUMENT,
    Amount,
    Count,
    DurationText,
    EncodedLatencies,
    Json,
    Number,
    Share,
)
from benchmarks.results.slices import Slice
from simulator.core.instants import Duration
from simulator.ports import Durability

_NODES_OWN: Final = frozenset({"nodes", "nodes/status", "leases"})
"""Kinds of calls that a kubelet makes whether or not pods come."""
_WHOLE: Final = 100


class Store(StrEnum):
    """Where bindings are kept."""

    FILE = "file"
    SQLITE = "sqlite"
    POSTGRESQL = "postgresql"
    API = "api"


class TimeSource(StrEnum):
    """Whether a run takes as long as it says, or is computed in virtual time by a model."""

    REAL = "real"
    VIRTUAL = "virtual"


class Measure(StrEnum):
    """From the scheduled start of a pod to what.

    `admission`: its bindings are durable: in the file, committed, or, where they are kept nowhere
    else, in the API server. `start`: its first container may start. `running`: the
    API shows it running. `visible`: a reader of the API or the store sees its device ids.
    """

    ADMISSION = "admission"
    START = "start"
    RUNNING = "running"
    VISIBLE = "visible"


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One way to keep bindings, and what it is kept under.

    Attributes:
        persistence: Its name, e.g. `bind-resource`.
        options: Variant and other knobs by name, e.g. `("perContainer", "true")`, in order of name.
        commit_batch: Commits that are gathered at most; None where nothing is committed.
        flush_period: None where nothing is flushed.
        bulk_bind: Pods per call at most; None where that does not apply.
        qps, burst: Of each kubelet's API client; None without one, or without a limit.
        added_fsync: How much longer each fsync takes.
        existing: Bound pods on each node at the start.
        clients: Requests to the API server that are under way at most; None for any number.
    """

    __pydantic_config__ = DOCUMENT

    persistence: str
    store: Store
    clock: TimeSource = TimeSource.REAL
    durability: Durability = Durability.FULL
    options: tuple[tuple[str, str], ...] = ()
    commit_batch: Number | None = None
    flush_period: DurationText | None = None
    bulk_bind: Number | None = None
    qps: Amount | None = None
    burst: Number | None = None
    added_fsync: DurationText = Duration(0)
    nodes: Number = 1
    existing: Count = 0
    clients: Number | None = None

    @property
    def shows_running(self) -> bool:
        """Whether an API shows pods running after the time that an API server takes.

        On the real clock, kubelets that keep bindings elsewhere have none, unless they are given
        one with the limits of its client: nothing holds up their statuses.
        """
        is_served = self.store is Store.API or self.qps is not None
        return is_served or self.clock is TimeSource.VIRTUAL


@dataclass(frozen=True, slots=True)
class ApiCallCount:
    """How many API calls of a kind there were.

    Attributes:
        verb: As Kubernetes says, e.g. `patch`.
        kind: The resource with its subresource, e.g. `pods/status`.
    """

    __pydantic_config__ = DOCUMENT

    verb: str
    kind: str
    count: Count


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What one phase gave.

    Attributes:
        repetition: From 1.
        seconds: Length of the phase as it was scheduled, without its warm-up.
        elapsed: Seconds until the last pod was served, or until the phase was cut.
        offered: Pods scheduled in that time.
        served: Pods whose bindings became durable.
        late: Pods that began later than scheduled because the load generator was behind.
        skipped: Pods that were not begun at all, as their turn did not come.
        errors: Pods that were refused or failed.
        waited: Pods for which no node had room at first; that wait is part of their latencies.
        latencies: By measure; a measure that does not apply is left out. Pods that have not come
            to it count with the time that they had waited when the phase was cut, and those that
            never will, as they failed or were deleted before, as the longest.
        unreached: How many of the latencies of a measure are of such pods.
        served_each_second: From the end of the warm-up; a second in which nothing was served is 0.
        over_time: Slices of a long phase, in order; empty of a short one.
        counted_s: Seconds in which fsyncs, bytes, calls and CPU time were counted: those of a step
            of a ramp end with it, of other phases when the last pod is served.
        fsyncs, bytes_written: Of all who keep bindings; bytes are those given to the operating
            system. Of a PostgreSQL server those of its log; None where they cannot be known.
        bindings: Devices that were bound and became durable.
        at_risk_max, at_risk_end: Bindings that a crash would have lost, at most and at the end.
        cpu_client_s, cpu_server_s: Seconds of CPU time of what offers load and of what serves it;
            None for the server where both are one process.
        memory_peak: Bytes, of the process that serves.
        lost_replies: Requests of kubelets that were carried out and whose replies were lost.
        interrupted: Whether the phase was cut by Ctrl-C.
    """

    __pydantic_config__ = DOCUMENT

    setting: Setting
    phase: str
    repetition: Number = 1
    seconds: Amount
    elapsed: Amount
    offered: Count
    served: Count
    late: Count = 0
    skipped: Count = 0
    errors: Count = 0
    waited: Count = 0
    latencies: Mapping[Measure, EncodedLatencies] = field(default_factory=dict)
    unreached: Mapping[Measure, Count] = field(default_factory=dict)
    served_each_second: tuple[Count, ...] = ()
    over_time: tuple[Slice, ...] = ()
    counted_s: Amount | None = None
    fsyncs: Count | None = None
    bytes_written: Count | None = None
    bindings: Count = 0
    api_calls: tuple[ApiCallCount, ...] = ()
    at_risk_max: Count | None = None
    at_risk_end: Count | None = None
    cpu_client_s: Amount | None = None
    cpu_server_s: Amount | None = None
    memory_peak: Count | None = None
    lost_replies: Count | None = None
    interrupted: bool = False

    @property
    def offered_per_second(self) -> float:
        """Pods per second that were scheduled."""
        return self.offered / self.seconds if self.seconds else 0.0

    @property
    def achieved_per_second(self) -> float:
        """Pods per second that were served, over the time that it took."""
        return self.served / self.elapsed if self.elapsed else 0.0

    @property
    def unserved(self) -> int:
        """Pods that were neither served nor refused; with any, percentiles are lower bounds."""
        return max(self.offered - self.served - self.errors, 0)

    def is_lower_bound(self, measure: Measure, percent: float) -> bool:
        """Tell whether a percentile is only a bound: so many pods have not come to the measure."""
        latencies = self.latencies.get(measure)
        if latencies is None:
            return False
        unreached = self.unreached.get(measure, 0)
        return unreached > 0 and percent > _WHOLE * (1 - unreached / max(len(latencies), 1))

    @property
    def calls_per_pod(self) -> float | None:
        """API calls for each served pod, without those that a node makes for itself."""
        if not self.api_calls or not self.served:
            return None
        calls = sum(call.count for call in self.api_calls if call.kind not in _NODES_OWN)
        return calls / self.served


@dataclass(frozen=True, slots=True)
class PlainFsync:
    """What it costs here to append a block to a file and fsync it, with nothing else in the way.

    Attributes:
        samples: How many were measured.
    """

    __pydantic_config__ = DOCUMENT

    samples: Count
    p50: DurationText
    p99: DurationText


@dataclass(frozen=True, slots=True)
class MachineLoad:
    """What else the machine did.

    Attributes:
        average: Load average of the last minute.
        steal: Share of CPU time that the hypervisor gave to others, 0 to 1; None where the
            operating system does not tell.
    """

    __pydantic_config__ = DOCUMENT

    average: Amount
    steal: Share | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """What may have blurred the figures.

    Attributes:
        fsync: Measured before everything else; None where no real file is written.
        before: The machine before the run; its `steal` is that of the fsync measurement.
        after: The machine after the run; its `steal` is that of the run. None while it goes on.
    """

    __pydantic_config__ = DOCUMENT

    fsync: PlainFsync | None
    before: MachineLoad
    after: MachineLoad | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineFacts:
    """What the run was measured on.

    Attributes:
        processor: Its name as the operating system gives it.
        memory: Bytes; None where the operating system does not tell.
        filesystem: Type of the file system that was written to, e.g. `ext4`.
    """

    __pydantic_config__ = DOCUMENT

    processor: str
    cpus: Number
    system: str
    memory: Count | None = None
    filesystem: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One run of a profile.

    Attributes:
        name: The profile's.
        started: When, in UTC as RFC 3339, e.g. `2026-11-30T20:47:00Z`.
        versions: Of everything that takes part, by name, e.g. `rebind`, `python`, `sqlite`.
        profile: The profile as a document, with every preset's default filled in.
        seed: From which the schedule was made.
        rows: In the order in which they were measured.
        expected_rows: How many there are when the run is complete.
    """

    __pydantic_config__ = DOCUMENT

    name: str
    started: str
    machine: MachineFacts
    versions: Mapping[str, str] = field(default_factory=dict)
    profile: Mapping[str, Json] = field(default_factory=dict)
    seed: int
    noise: Noise
    rows: tuple[Row, ...] = ()
    expected_rows: Count | None = None

    @property
    def is_complete(self) -> bool:
        """Whether every row was measured to its end."""
        expected = len(self.rows) if self.expected_rows is None else self.expected_rows
        return len(self.rows) >= expected and not any(row.interrupted for row in self.rows)
