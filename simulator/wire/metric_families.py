"""Families of metrics whose names come out exactly as they are given, and the page of them.

prometheus-client keeps histograms and writes the page. It gives every counter the suffix `_total`
and every series a time of creation; a kubelet's counters have neither where S11 names none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from prometheus_client import Histogram
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector
from typing_extensions import override

CONTENT_TYPE: Final = CONTENT_TYPE_PLAIN_0_0_4
"""Of a page."""

_TOTAL: Final = "_total"

Labels = Mapping[str, str]


class _Families(Collector):
    """Families that are known already."""

    def __init__(self, families: Iterable[Metric]) -> None:
        self._families = list(families)

    @override
    def collect(self) -> Iterable[Metric]:
        return self._families


def page(families: Iterable[Metric]) -> bytes:
    """Return families in Prometheus's text form, each under its own name."""
    collected = _Families(families)
    text = generate_latest(collected).decode()
    for family in collected.collect():
        if family.type == "counter" and family.samples[0].name == family.name:
            for word in ("HELP", "TYPE"):
                text = text.replace(
                    f"# {word} {family.name}{_TOTAL} ", f"# {word} {family.name} ", 1
                )
    return text.encode()


def counter(name: str, text: str, values: Iterable[tuple[Labels, int]]) -> Metric:
    """Return a counter whose samples have exactly this name."""
    metric = Metric(name.removesuffix(_TOTAL), text, "counter")
    for labels, value in values:
        metric.add_sample(name, dict(labels), value)
    return metric


def without_creation(histogram: Histogram) -> Iterator[Metric]:
    """Yield a histogram's family without the times at which its series were made."""
    for metric in histogram.collect():
        metric.samples = [each for each in metric.samples if not each.name.endswith("_created")]
        yield metric


def with_values(families: Iterable[Metric]) -> Iterator[Metric]:
    """Leave out families that have no series yet, as the kubelet does (S11.1)."""
    return (family for family in families if family.samples)
