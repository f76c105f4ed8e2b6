"""What a live cluster measures: each kubelet's metrics, Rebind's own, and what is healthy (S11)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from simulator.core.devices import DeviceId
from simulator.core.instants import SECOND, Duration
from simulator.core.records import KubeletStarted, KubeletStopped, Stamped
from simulator.core.resources import ResourceName
from simulator.core.transitions import NodeName
from simulator.engine.kubelet_settings import topology_of
from simulator.engine.node import Node
from simulator.live.meters import Meters, NoMeters
from simulator.live.sockets import LiveSockets
from simulator.wire.metrics import KubeletMetrics, RebindMetrics
from simulator.wire.metrics_pages import MetricsPages
from simulator.wire.registration_server import HEALTH_CHECK_NAME
from simulator.wire.status_pages import HealthCheck

EVENTS_CHECK_NAME: Final = "events"
"""The check that fails for good once an event on the nodes has gone wrong."""
_NOT_RUNNING: Final = "the kubelet is not running"


class Metering:
    """Measures the nodes of one world from its start on.

    Args:
        nodes: The world's nodes by name, once they are made.
        sockets: Returns the sockets of a node.
        queue_depth: Returns how many events wait.

    Attributes:
        pages: The pages of metrics.
        failure: What has gone wrong in an event, which is a fault of Rebind; empty if nothing has.
    """

    def __init__(
        self,
        nodes: Callable[[], Mapping[NodeName, Node]],
        sockets: Callable[[NodeName], LiveSockets],
        queue_depth: Callable[[], int],
    ) -> None:
        self._nodes = nodes
        self._sockets = sockets
        self.failure = ""
        self._own = RebindMetrics()
        self._own.queue_depth = queue_depth
        self._own.bound_devices = self._bound_devices
        self.pages = MetricsPages(self._own)
        self._kubelets: dict[NodeName, KubeletMetrics] = {}

    def take(self, stamped: Stamped) -> None:
        """Count what a record tells; a kubelet that starts begins at 0."""
        node, record = stamped.node, stamped.record
        if isinstance(record, KubeletStarted):
            self._started(node)
        elif isinstance(record, KubeletStopped):
            self._kubelets.pop(node, None)
            self.pages.remove(node)
        self._own.take(stamped)
        if node in self._kubelets:
            self._kubelets[node].take(record)

    def decided(self, node: NodeName, span: Duration) -> None:
        """Take down how long a decision about a pod has taken."""
        if node in self._kubelets:
            self._kubelets[node].admission_took(span / SECOND)

    def committed(self, transitions: int, seconds: float) -> None:
        """Take down a commit, in whatever thread it was made."""
        self._own.committed(transitions, seconds)

    def meters(self, node: NodeName) -> Meters:
        """Return who counts for the kubelet that runs on a node."""
        return self._kubelets.get(node) or NoMeters()

    def checks(self) -> Sequence[HealthCheck]:
        """Return the checks of `/healthz`; of several nodes, under their names (S1.11)."""
        nodes = self._nodes()
        found = []
        for name, node in nodes.items():
            place = f"{name}/" if len(nodes) > 1 else ""
            present = self._sockets(name).present
            error = _NOT_RUNNING
            if present is not None:
                error = present.registration.health(node.behavior)
            found.append(HealthCheck(f"{place}{HEALTH_CHECK_NAME}", error))
        if self.failure:
            found.append(HealthCheck(EVENTS_CHECK_NAME, self.failure))
        return found

    def _started(self, name: NodeName) -> None:
        node = self._nodes()[name]
        metrics = self._kubelets[name] = KubeletMetrics(node.behavior, topology_of(node.spec))
        metrics.plugin_sockets = lambda: self._plugin_sockets(name)
        self.pages.put(name, metrics)

    def _plugin_sockets(self, name: NodeName) -> Sequence[tuple[str, str]]:
        present = self._sockets(name).present
        return () if present is None else present.watcher.totals()

    def _bound_devices(self) -> Mapping[tuple[NodeName, ResourceName], int]:
        """Count devices that pods hold; one that containers of a pod share counts once."""
        found: dict[tuple[NodeName, ResourceName], set[DeviceId]] = {}
        for name, node in self._nodes().items():
            if node.kubelet is not None:
                for binding in node.kubelet.manager.snapshot().bindings:
                    held = found.setdefault((name, binding.resource), set())
                    held.update(*binding.devices.values())
        return {place: len(devices) for place, devices in found.items()}
