"""The kubelet's reports about its node: capacity and allocatable (S2.13 to S2.16), and its lease.

The status is computed every 10 s and patched when it has changed, or after 5 minutes; the lease is
renewed every 10 s. Both go by a client of their own, which has no limit (S12.2, S12.6).
"""

from __future__ import annotations

from simulator.config import KUBELET_SOCKET
from simulator.core.api_calls import ApiStored
from simulator.core.instants import Instant
from simulator.core.inventory import Capacity
from simulator.core.node_resources import resets_extended_resources
from simulator.core.records import EventEmitted
from simulator.core.resources import ResourceName
from simulator.engine.api_requests import PatchNodeStatus, RenewLease, RequestReply
from simulator.engine.kubelet_parts import KubeletParts
from simulator.engine.latencies import NODE_STATUS_PERIOD, NODE_STATUS_REPORT


class NodeStatusReporter:
    """The node status loop of one kubelet process."""

    def __init__(self, parts: KubeletParts) -> None:
        self._host = parts.host
        self._driver = parts.driver
        self._manager = parts.manager
        self._behavior = parts.behavior
        self._client = parts.api.heartbeat
        self._reported_at: Instant | None = None
        self._is_under_way = False

    def start(self) -> None:
        """Begin the loop; a node that the API takes for dead reports at once (S12.6).

        Kubelets up to 1.14 set extended resources to 0 here. Later ones do so only while the
        plugin directory has no file, and the registration socket is one by now (S2.16).
        """
        host = self._host
        node = host.api.node(host.name)
        listed = [KUBELET_SOCKET]
        if resets_extended_resources(self._behavior.extended_resource_reset, listed):
            node.capacity = dict.fromkeys(node.capacity, 0)
            node.allocatable = dict.fromkeys(node.allocatable, 0)
        if node.boot_id and node.boot_id != host.machine.boot_id:
            message = f"Node {host.name} has been rebooted, boot id: {host.machine.boot_id}"
            host.emit(EventEmitted("Warning", "Rebooted", message))
        if node not in host.api.ready_nodes():
            self._report()
        self._driver.process.after(NODE_STATUS_PERIOD, self._tick)

    def _tick(self) -> None:
        self._report()
        self._client.send(RenewLease(self._host.name), lambda _: None)
        self._driver.process.after(NODE_STATUS_PERIOD, self._tick)

    def _report(self) -> None:
        """Compute the status; expired resources leave with it (S2.10).

        One after the other (S2.15): what is on its way is not known to be there yet, and a resource
        that leaves with it would come back with the next.
        """
        if self._is_under_way:
            return
        self._driver.refresh()
        capacity = self._manager.capacity()
        if capacity.removed:
            self._driver.run_store(self._manager.expire_endpoints(), lambda _: None)
        host = self._host
        total, allocatable = self._status(capacity)
        known = host.api.node(host.name)
        boot_id = host.machine.boot_id
        has_changed = (known.capacity, known.allocatable, known.boot_id) != (
            total,
            allocatable,
            boot_id,
        )
        if has_changed or self._is_due():
            self._is_under_way = True
            self._client.send(
                PatchNodeStatus(host.name, total, allocatable, boot_id), self._reported
            )

    def _is_due(self) -> bool:
        """Tell whether a status that has not changed is to be reported all the same."""
        last = self._reported_at
        return last is None or self._host.timeline.now() - last >= NODE_STATUS_REPORT

    def _reported(self, reply: RequestReply) -> None:
        self._is_under_way = False
        if isinstance(reply, ApiStored):
            self._reported_at = self._host.timeline.now()

    def _status(
        self, capacity: Capacity
    ) -> tuple[dict[ResourceName, int], dict[ResourceName, int]]:
        """Return capacity and allocatable; what is unknown here keeps its value (S2.14)."""
        total = dict(self._host.api.node(self._host.name).capacity)
        total.update(dict.fromkeys(capacity.removed, 0))
        total.update(capacity.total)
        return total, {**total, **capacity.allocatable}
