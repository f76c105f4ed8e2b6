"""What the server counts, as a page for Prometheus, under the API server's own names.

Counting is two additions on the hot path; families are made when somebody asks.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from typing import Final

from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.metrics_core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector
from typing_extensions import override

from simulator.api.dialect.kinds import STORED_KINDS, WATCH
from simulator.api.serving.exchange import Exchange
from simulator.api.serving.gate import Gate
from simulator.api.serving.objects import Objects

METRICS_TYPE: Final = CONTENT_TYPE_PLAIN_0_0_4
_BOUNDS: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0)


class Metrics(Collector):
    """Counts requests; everything else is asked where it is.

    Args:
        objects: The objects.
        gate: What is under way.
    """

    def __init__(self, objects: Objects, gate: Gate) -> None:
        self._objects = objects
        self._gate = gate
        self._requests: dict[tuple[str, str, int], int] = {}
        self._buckets: dict[tuple[str, str], list[int]] = {}
        self._seconds: dict[tuple[str, str], float] = {}

    def answered(self, exchange: Exchange, seconds: float) -> None:
        """Count a request that is over."""
        about = (exchange.verb, exchange.resource)
        key = (exchange.verb, exchange.resource, exchange.code)
        self._requests[key] = self._requests.get(key, 0) + 1
        if exchange.verb == WATCH:
            return
        buckets = self._buckets.get(about)
        if buckets is None:
            buckets = self._buckets[about] = [0] * (len(_BOUNDS) + 1)
            self._seconds[about] = 0.0
        buckets[bisect_left(_BOUNDS, seconds)] += 1
        self._seconds[about] += seconds

    def page(self) -> bytes:
        """Return everything in Prometheus's text form."""
        return generate_latest(self)

    @override
    def collect(self) -> Iterable[Metric]:
        """Return the families."""
        yield self._counted()
        yield self._timed()
        gauges = (
            ("apiserver_current_inflight_requests", "Requests, not watches.", self._gate.requests),
            ("apiserver_longrunning_requests", "Watches.", len(self._objects.hub)),
            ("rebind_api_revision", "Of the newest change.", self._objects.revision),
        )
        for name, text, value in gauges:
            yield GaugeMetricFamily(name, text, value=value)
        refused = CounterMetricFamily("rebind_api_requests_refused", "Told to come again: 429.")
        refused.add_metric([], self._gate.refused)
        yield refused
        stored = GaugeMetricFamily("apiserver_storage_objects", "Objects.", labels=["resource"])
        for kind in STORED_KINDS:
            stored.add_metric([kind.resource], len(self._objects.shelf(kind)))
        yield stored

    def _counted(self) -> Metric:
        family = CounterMetricFamily(
            "apiserver_request", "Requests that are over.", labels=["verb", "resource", "code"]
        )
        for (verb, resource, code), count in self._requests.items():
            family.add_metric([verb, resource, str(code)], count)
        return family

    def _timed(self) -> Metric:
        family = HistogramMetricFamily(
            "apiserver_request_duration_seconds",
            "From a request to its answer; of all but watches.",
            labels=["verb", "resource"],
        )
        for about, counts in self._buckets.items():
            buckets: list[tuple[str, float]] = []
            below = 0
            for bound, count in zip((*_BOUNDS, float("inf")), counts, strict=True):
                below += count
                buckets.append(("+Inf" if bound == float("inf") else str(bound), below))
            family.add_metric(about, buckets, self._seconds[about])
        return family
