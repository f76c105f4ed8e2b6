"""The pages of metrics: one for each kubelet, and one of everything."""

from __future__ import annotations

from prometheus_client.metrics_core import Metric

from simulator.core.transitions import NodeName
from simulator.wire.metric_families import page
from simulator.wire.metrics import KubeletMetrics, RebindMetrics


class MetricsPages:
    """The pages of a server: one for each kubelet, and one of everything.

    The page of everything is a kubelet's own with Rebind's beside it, while there is one node; of
    several nodes, a further label `node` tells whose a value is.
    """

    def __init__(self, own: RebindMetrics) -> None:
        self._own = own
        self._kubelets: dict[NodeName, KubeletMetrics] = {}

    def put(self, node: NodeName, metrics: KubeletMetrics) -> None:
        """Show a node's kubelet with these metrics from now on: it has started."""
        self._kubelets[node] = metrics

    def remove(self, node: NodeName) -> None:
        """Show a node no longer: its kubelet is down."""
        self._kubelets.pop(node, None)

    def everything(self) -> bytes:
        """Return the page of all nodes."""
        families: dict[str, Metric] = {}
        for node, metrics in self._kubelets.items():
            extra = {"node": node} if len(self._kubelets) > 1 else {}
            for family in metrics.collect():
                whole = families.setdefault(
                    family.name, Metric(family.name, family.documentation, family.type)
                )
                for sample in family.samples:
                    whole.add_sample(sample.name, {**sample.labels, **extra}, sample.value)
        return page([*families.values(), *self._own.collect()])

    def of_node(self, node: str) -> bytes | None:
        """Return the page of one kubelet, as that kubelet shows it; None for an unknown node."""
        metrics = self._kubelets.get(NodeName(node))
        return None if metrics is None else page(metrics.collect())
