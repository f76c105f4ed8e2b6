"""A churn profile as values: what comes to which nodes, in which phases, and what is measured.

`benchmarks.profiles.loading` makes these from a file. Nothing here knows YAML, and nothing runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Final

from benchmarks.profiles.combinations import Combination, Matrix, nearest_first, product
from benchmarks.profiles.loads import Burst, Lifetime, Load, RampLoad
from benchmarks.results.rows import Measure, Store
from benchmarks.results.slices import Tracked
from simulator.core.instants import SECOND, Duration
from simulator.core.pods import Container, ContainerKind
from simulator.core.resources import ResourceName

SLICED_FROM: Final = Duration(30 * SECOND)
"""How long a load is measured before one can look whether something drifts meanwhile."""


@dataclass(frozen=True, slots=True)
class LatencyRange:
    """A lognormal latency by two of its percentiles; constant where both are the same."""

    p50: Duration
    p99: Duration


@dataclass(frozen=True, slots=True)
class Nodes:
    """The nodes, all alike.

    Attributes:
        existing: Pods that are bound to each node at the start.
        existing_template: Name of their template.
    """

    count: int
    numa_nodes: int
    existing: int
    existing_template: str


@dataclass(frozen=True, slots=True)
class Plugin:
    """A device plugin that every node has.

    Attributes:
        devices: On each node, beside those that its existing pods hold.
        spread: Whether the devices are dealt out over the node's NUMA nodes.
        asked_before: Whether it answers GetPreferredAllocation (S1.25).
        told_before: Whether it wants PreStartContainer calls (S1.26).
        reregister_after: From a kubelet's start to its Register call.
        starts_after_boot: From a boot to its Register call.
    """

    name: str
    resource: ResourceName
    devices: int
    spread: bool
    allocate: LatencyRange
    preferred_allocation: LatencyRange
    pre_start: LatencyRange
    asked_before: bool
    told_before: bool
    reregister_after: Duration
    starts_after_boot: Duration


@dataclass(frozen=True, slots=True)
class PodTemplate:
    """What a pod is made of.

    Attributes:
        lifetime: How long its containers run; None: until the run ends.
        finishes: Whether the pod ends by itself, as a job does; else it is deleted.
        termination_grace: From its deletion to the end of its containers.
    """

    name: str
    init_containers: tuple[Container, ...]
    containers: tuple[Container, ...]
    lifetime: Lifetime | None
    finishes: bool
    termination_grace: Duration

    def devices(self, resource: ResourceName) -> int:
        """Return how many devices of a resource the pod holds at most at the same time (S3.2)."""
        init = [(one.kind, dict(one.limits).get(resource, 0)) for one in self.init_containers]
        sidecars = sum(count for kind, count in init if kind is ContainerKind.SIDECAR)
        plain = max((count for kind, count in init if kind is ContainerKind.INIT), default=0)
        regular = sum(dict(one.limits).get(resource, 0) for one in self.containers)
        return sidecars + max(plain, regular)


@dataclass(frozen=True, slots=True)
class Share:
    """A template's weight among the pods of a phase."""

    template: str
    weight: int


@dataclass(frozen=True, slots=True)
class Until:
    """What ends a phase before its time is over; exactly one is given.

    Attributes:
        utilization: Share of the devices that pods of the phases hold or wait for.
        pods: So many pods were offered in this phase.
        pods_per_node: The same for each node.
    """

    utilization: Fraction | None = None
    pods: int | None = None
    pods_per_node: int | None = None

    def count(self, nodes: int) -> int | None:
        """Return how many pods end the phase; None where that is not up to their number."""
        return self.pods if self.pods_per_node is None else self.pods_per_node * nodes


@dataclass(frozen=True, slots=True)
class KubeletRestarts:
    """Kubelets that are restarted, their containers go on.

    Attributes:
        nodes: Share of the nodes, at least one.
        spread: They begin at random instants in this time from the start of the phase.
    """

    nodes: Fraction
    spread: Duration


@dataclass(frozen=True, slots=True)
class NodeReboots:
    """Nodes that reboot, so that all their pods are admitted again."""

    nodes: Fraction
    spread: Duration
    downtime: Duration


@dataclass(frozen=True, slots=True)
class Chaos:
    """Nodes that fail one after the other and come back, during the whole phase.

    Attributes:
        nodes: Share of the nodes that fail in each period, at least one.
    """

    nodes: Fraction
    every: Duration
    down: Duration


@dataclass(frozen=True, slots=True)
class ApiOutages:
    """Nodes that cannot reach the API server for a while, be it once or again and again.

    Attributes:
        nodes: Share of the nodes, at least one, each time.
        spread: They are cut off at random instants in this time.
        duration: How long each is cut off.
        every: From one time to the next, during the whole phase; None: once, at its start.
    """

    nodes: Fraction
    spread: Duration
    duration: Duration
    every: Duration | None


@dataclass(frozen=True, slots=True)
class LostReplies:
    """Requests of kubelets that the API server carries out and whose replies do not arrive.

    Attributes:
        share: Of the requests, at random.
    """

    share: Fraction


@dataclass(frozen=True, slots=True)
class LatencyGate:
    """A phase passes when a percentile of a latency stays below a bound."""

    measure: Measure
    percentile: float
    below: Duration


@dataclass(frozen=True, slots=True)
class RateGate:
    """A phase passes when so many pods are served in a second at least."""

    achieved: float


@dataclass(frozen=True, slots=True)
class FlatGate:
    """A phase passes when something is no worse in its last third than in its first.

    Attributes:
        within: By what share it may be worse all the same.
    """

    tracked: Tracked
    within: Fraction


Gate = LatencyGate | RateGate | FlatGate


@dataclass(frozen=True, slots=True)
class Phase:
    """A part of a run.

    Attributes:
        load: What comes; None where a phase only restarts or reboots.
        pods: Templates of what comes; empty where there is no load, or where it is API calls.
        api_calls: Whether each arrival is one GET by its node's API client instead of a pod.
        duration: Time of the load; what comes is over then at the latest.
        expected: How long the load probably takes; shorter where something else ends it.
        until: What ends it earlier.
        drain: How long what is left may take after the last arrival; with reboots or restarts, how
            long it may take until every pod runs again.
        pause: Rest before the phase.
        fresh: Whether all pods of earlier phases are deleted, and gone, before it begins.
        warmup: So long at the start nothing is measured.
        measured: Whether the phase has a row in the results.
    """

    name: str
    load: Load | None
    pods: tuple[Share, ...]
    api_calls: bool
    duration: Duration
    until: Until | None
    drain: Duration
    pause: Duration
    fresh: bool
    warmup: Duration
    measured: bool
    expected: Duration = Duration(0)
    restarts: KubeletRestarts | None = None
    reboots: NodeReboots | None = None
    chaos: Chaos | None = None
    outages: ApiOutages | None = None
    lost_replies: LostReplies | None = None
    gates: tuple[Gate, ...] = ()

    @property
    def steady(self) -> Duration:
        """How long a load is measured that goes on as it began; 0 where nobody knows before."""
        if self.load is None or isinstance(self.load, Burst | RampLoad) or self.until is not None:
            return Duration(0)
        return Duration(max(self.duration - self.warmup, 0))

    @property
    def is_sliced(self) -> bool:
        """Whether one can look whether something drifts in it."""
        return self.steady >= SLICED_FROM


@dataclass(frozen=True, slots=True)
class Reads:
    """What is read beside the load.

    Attributes:
        pod_resources_list: PodResources List calls per second on each node.
        get: Reads of one pod's devices per second, over all nodes.
        watchers: That follow all pods, or the store's changes.
    """

    pod_resources_list: float = 0.0
    get: float = 0.0
    watchers: int = 0


class LatencyStart(StrEnum):
    """Where latencies begin."""

    SCHEDULED_START = "scheduledStart"
    """When the pod was to come: a stall is paid for by every pod that it delays."""
    SENT = "sent"
    """When the pod was really offered (coordinated omission: for comparison only)."""


@dataclass(frozen=True, slots=True)
class Measuring:
    """What the results show.

    Attributes:
        shown: Latencies, in the order of their columns.
    """

    start: LatencyStart
    percentiles: tuple[float, ...]
    shown: tuple[Measure, ...]


@dataclass(frozen=True, slots=True)
class Profile:
    """A churn profile.

    Attributes:
        description: One or a few sentences for people.
        seed: From which every schedule is made.
        takes: How long its own combinations take about; None where the file does not say.
        repetitions: Of every combination; they are interleaved.
        api_latency: Of a modelled API server, in virtual time.
        container_start: Of a modelled container runtime, in virtual time.
        retention: Changes of history that are kept while it runs; None: all.
        matrix: The whole of what can be combined.
        listed: Combinations that the profile lists itself, as matrices; empty: its whole matrix.
        combinations_max: How many are run unless all are asked for; None: all that are listed.
    """

    name: str
    labels: Mapping[str, str]
    description: str
    takes: Duration | None
    seed: int
    repetitions: int
    nodes: Nodes
    plugins: tuple[Plugin, ...]
    templates: Mapping[str, PodTemplate]
    phases: tuple[Phase, ...]
    reads: Reads
    api_latency: LatencyRange
    container_start: Duration
    retention: int | None
    measuring: Measuring
    matrix: Matrix
    listed: tuple[Matrix, ...]
    combinations_max: int | None

    def combinations(
        self, *, whole_matrix: bool = False, postgresql: bool = False
    ) -> tuple[Combination, ...]:
        """Return what is run, in order.

        Args:
            whole_matrix: Everything that can be combined, and not only what the profile picks.
            postgresql: Whether there is a PostgreSQL server; without one its rows are left out.
        """
        matrices = self.listed if self.listed and not whole_matrix else (self.matrix,)
        every = dict.fromkeys(
            one
            for matrix in matrices
            for one in product(matrix.of(nodes=self.nodes.count, existing=self.nodes.existing))
            if postgresql or one.store is not Store.POSTGRESQL
        )
        if whole_matrix or self.combinations_max is None:
            return tuple(every)
        return nearest_first(tuple(every), self.combinations_max)

    @property
    def about(self) -> str:
        """The first sentence of the description, without its end."""
        return self.description.partition(". ")[0].removesuffix(".")
