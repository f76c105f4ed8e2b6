"""What the server counts, as a page for Prometheus, under the API server's own names.

Counting is two additions on the hot path; families are made when somebody asks.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, field
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


@dataclass(slots=True)
class _Answered:
    """Requests of one verb and resource that were answered with one code.

    Attributes:
        buckets: How many took up to each of `_BOUNDS`, and how many longer.
        seconds: All of them together.
    """

    buckets: list[int] = field(default_factory=lambda: [0] * (len(_BOUNDS) + 1))
    seconds: float = 0.0


class Metrics(Collector):
    """Counts requests; everything else is asked where it is.

    Args:
        objects: The objects.
        gate: What is under way.
    """

    def __init__(self, objects: Objects, gate: Gate) -> None:
        self._objects = objects
        self._gate = gate
        self._answered: dict[tuple[str, str, int], _Answered] = {}

    def answered(self, exchange: Exchange, seconds: float) -> None:
        """Count a request that is over."""
        key = (exchange.verb, exchange.resource, exchange.code)
        answered = self._answered.get(key)
        if answered is None:
            answered = self._answered[key] = _Answered()
        answered.buckets[bisect_left(_BOUNDS, seconds)] += 1
        answered.seconds += seconds

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
        for (verb, resource, code), answered in self._answered.items():
            family.add_metric([verb, resource, str(code)], sum(answered.buckets))
        return family

    def _timed(self) -> Metric:
        family = HistogramMetricFamily(
            "apiserver_request_duration_seconds",
            "From a request to its answer; of all but watches.",
            labels=["verb", "resource"],
        )
        timed: dict[tuple[str, str], list[_Answered]] = {}
        for (verb, resource, _), answered in self._answered.items():
            if verb != WATCH:
                timed.setdefault((verb, resource), []).append(answered)
        for about, of_codes in timed.items():
            buckets: list[tuple[str, float]] = []
            below = 0
            counts = map(sum, zip(*(each.buckets for each in of_codes), strict=True))
            for bound, count in zip((*_BOUNDS, float("inf")), counts, strict=True):
                below += count
                buckets.append(("+Inf" if bound == float("inf") else str(bound), below))
            family.add_metric(about, buckets, sum(each.seconds for each in of_codes))
        return family
