"""Metrics: each kubelet's under the kubelet's names (S11), and Rebind's own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from prometheus_client import Histogram
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector
from typing_extensions import override

from simulator.core.behavior import Behavior
from simulator.core.kubelet_counts import KubeletCounts
from simulator.core.machine import TopologyOptions
from simulator.core.pod_resources import GET, GET_ALLOCATABLE, LIST, V1
from simulator.core.records import AdmissionDecided, Record, Stamped
from simulator.core.resources import ResourceName
from simulator.core.transitions import NodeName
from simulator.wire.metric_families import counter, with_values, without_creation

_ALLOCATE_BUCKETS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
_ADMISSION_BUCKETS_MS: Final = tuple(0.05 * 2**power for power in range(15))
_BATCH_BUCKETS: Final = tuple(2**power for power in range(10))
_COMMIT_BUCKETS: Final = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 1)
_METHOD_SUFFIXES: Final = {
    LIST: "list",
    GET_ALLOCATABLE: "get_allocatable",
    GET: "get",
}


class KubeletMetrics(Collector):
    """The metrics of one kubelet process; a restarted kubelet has new ones (S11).

    Attributes:
        counts: The counters.
        plugin_sockets: Who tells the sockets of `plugins_registry` with each state they are in;
            None while there is no plugin watcher.
    """

    def __init__(self, behavior: Behavior, topology: TopologyOptions) -> None:
        self.counts = KubeletCounts(behavior, topology)
        self.plugin_sockets: Callable[[], Sequence[tuple[str, str]]] | None = None
        self._allocations = Histogram(
            "kubelet_device_plugin_alloc_duration_seconds",
            "Seconds that Allocate calls took, failed ones too.",
            ["resource_name"],
            buckets=_ALLOCATE_BUCKETS,
            registry=None,
        )
        self._admissions = Histogram(
            "kubelet_topology_manager_admission_duration_ms",
            "Milliseconds in which the topology manager decided about a pod.",
            buckets=_ADMISSION_BUCKETS_MS,
            registry=None,
        )

    def take(self, record: Record) -> None:
        """Count what a record of the kubelet's node tells."""
        self.counts.take(record)

    def registered(self, resource: str) -> None:
        """A Register call has come in, whatever becomes of it (S1.12.1)."""
        self.counts.registration_requested(resource)

    def allocate_answered(self, resource: ResourceName, seconds: float) -> None:
        """An Allocate call was answered or has failed, so long after its endpoint was looked up."""
        self._allocations.labels(resource).observe(seconds)

    def admission_took(self, seconds: float) -> None:
        """The topology manager has admitted or refused a pod."""
        self._admissions.observe(1000 * seconds)

    def pod_resources_requested(self, version: str, method: str) -> None:
        """A PodResources call has reached its method."""
        self.counts.requests[version, method] += 1

    def pod_resources_failed(self, version: str, method: str) -> None:
        """A PodResources call was answered with an error."""
        self.counts.errors[version, method] += 1

    @override
    def collect(self) -> Iterator[Metric]:
        """Yield the present values; what has none is left out (S11.1)."""
        yield from with_values(self._all())

    def _all(self) -> Iterator[Metric]:
        counts = self.counts
        yield counter(
            "kubelet_device_plugin_registration_total",
            "Register calls by the resource they named, refused ones too.",
            [({"resource_name": name}, count) for name, count in counts.registrations.items()],
        )
        yield from without_creation(self._allocations)
        yield from self._pod_resources()
        yield counter(
            "kubelet_topology_manager_admission_requests_total",
            "Pods that the topology manager has decided about.",
            [({}, counts.admissions)],
        )
        yield counter(
            "kubelet_topology_manager_admission_errors_total",
            "Pods that the topology manager has refused under a policy.",
            [({}, counts.admission_errors)],
        )
        yield from without_creation(self._admissions)
        for name, text, by_scope in (
            ("count", "Containers or pods on one NUMA node.", counts.aligned),
            ("failure_count", "Refused since they fit no NUMA node.", counts.misaligned),
        ):
            yield counter(
                f"kubelet_container_aligned_compute_resources_{name}",
                text,
                [
                    ({"scope": scope.value, "boundary": "numa_node"}, count)
                    for scope, count in by_scope.items()
                ],
            )
        if counts.rejections is not None:
            yield counter(
                "kubelet_admission_rejections_total",
                "Refused pods by reason.",
                [({"reason": reason}, count) for reason, count in counts.rejections.items()],
            )
        yield self._plugin_totals()

    def _pod_resources(self) -> Iterator[Metric]:
        """Yield the calls of PodResources; those of a method only under v1 (S11)."""
        totals: dict[str, int] = {}
        for (version, _), count in self.counts.requests.items():
            totals[version] = totals.get(version, 0) + count
        yield counter(
            "kubelet_pod_resources_endpoint_requests_total",
            "PodResources calls that were handled.",
            [({"server_api_version": version}, count) for version, count in totals.items()],
        )
        for kind, calls in (("requests", self.counts.requests), ("errors", self.counts.errors)):
            for method, suffix in _METHOD_SUFFIXES.items():
                found = calls[V1, method]
                yield counter(
                    f"kubelet_pod_resources_endpoint_{kind}_{suffix}",
                    f"PodResources calls of {method}: {kind}.",
                    [({"server_api_version": V1}, found)] if found else [],
                )

    def _plugin_totals(self) -> Metric:
        metric = Metric(
            "plugin_manager_total_plugins",
            "Sockets of plugins_registry by the states that they are in.",
            "gauge",
        )
        for path, state in self.plugin_sockets() if self.plugin_sockets else ():
            metric.add_sample(metric.name, {"socket_path": path, "state": state}, 1)
        return metric


class RebindMetrics(Collector):
    """What Rebind itself does, of all nodes.

    Attributes:
        bound_devices: Who tells how many devices are bound, by node and resource.
        queue_depth: Who tells how many events wait.
    """

    def __init__(self) -> None:
        self.bound_devices: Callable[[], Mapping[tuple[NodeName, ResourceName], int]] = dict
        self.queue_depth: Callable[[], int] = int
        self._commits = 0
        self._admissions: dict[tuple[NodeName, str], int] = {}
        self._batches = Histogram(
            "rebind_store_commit_batch_size",
            "Transitions in one commit.",
            buckets=_BATCH_BUCKETS,
            registry=None,
        )
        self._durations = Histogram(
            "rebind_store_commit_seconds",
            "Duration in seconds of one commit.",
            buckets=_COMMIT_BUCKETS,
            registry=None,
        )

    def committed(self, transitions: int, seconds: float) -> None:
        """The store has acknowledged a commit."""
        self._commits += 1
        self._batches.observe(transitions)
        self._durations.observe(seconds)

    def take(self, stamped: Stamped) -> None:
        """Count what a record tells."""
        record = stamped.record
        if isinstance(record, AdmissionDecided):
            result = "waiting" if record.waiting else "admitted" if record.admitted else "refused"
            key = stamped.node, result
            self._admissions[key] = self._admissions.get(key, 0) + 1

    @override
    def collect(self) -> Iterator[Metric]:
        """Yield the present values; what has none is left out."""
        yield from with_values(self._all())

    def _all(self) -> Iterator[Metric]:
        yield counter(
            "rebind_store_commits_total", "Commits of the database.", [({}, self._commits)]
        )
        yield from without_creation(self._batches)
        yield from without_creation(self._durations)
        yield counter(
            "rebind_admissions_total",
            "Decisions of device managers about pods, by result.",
            [
                ({"node": node, "result": result}, count)
                for (node, result), count in self._admissions.items()
            ],
        )
        bound = Metric("rebind_bound_devices", "Devices that pods hold.", "gauge")
        for (node, resource), count in self.bound_devices().items():
            bound.add_sample(bound.name, {"node": node, "resource_name": resource}, count)
        yield bound
        depth = Metric("rebind_event_queue_depth", "Events that wait for their time.", "gauge")
        depth.add_sample(depth.name, {}, self.queue_depth())
        yield depth
