"""The API server, as far as a kubelet, the controllers and the scheduler need it.

Watchers are told which pod changed and
look at its present state, so a watcher that was cut off sees the last state and not each one in
between, as after a relist. Writes of a kubelet wait while its node cannot reach the server.

Behind it may be a real server (`writer`): then this is a copy that follows it
(`simulator.engine.api_copy`), and what others than kubelets write goes there and comes back.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from simulator.core.instants import Duration
from simulator.core.pods import PodUid
from simulator.core.records import (
    EventEmitted,
    NodeStatusReported,
    PodDeleted,
    PodPhaseChanged,
    Record,
)
from simulator.core.resources import ResourceName
from simulator.core.transitions import DeviceBinding, NodeName, PodIdentity
from simulator.engine.api_devices import DeviceObjects
from simulator.engine.api_objects import NO_NODE, ApiNode, ApiPod, PodStatus
from simulator.engine.latencies import NODE_MONITOR_GRACE, WATCH_DELAY
from simulator.engine.pod_writer import PodWriter
from simulator.engine.reachability import Reachability
from simulator.engine.timeline import Timeline


class ApiServer(Reachability):
    """Pods, nodes, and who watches them.

    Attributes:
        revision: Grows with each change of an object.
        devices: Device bindings as objects, and in the pods' specs.
        writer: Where the real objects are; None if these are.
        watch_delay: From a change to its arrival at a kubelet.

    Args:
        timeline: Its time.
        emit: Keeps a record.
        remembered_max: Of how many deleted pods it is still known what they were; None for all.
        forgotten: Told of each of which it is known no longer.
    """

    def __init__(
        self,
        timeline: Timeline,
        emit: Callable[[NodeName, Record], None],
        *,
        remembered_max: int | None = None,
        forgotten: Callable[[ApiPod], None] = lambda _: None,
        watch_delay: Duration = WATCH_DELAY,
    ) -> None:
        super().__init__()
        self.watch_delay = watch_delay
        self._timeline = timeline
        self._remembered_max = remembered_max
        self._remembered: deque[ApiPod] = deque()
        self._forgotten = forgotten
        self.emit = emit
        self.writer: PodWriter | None = None
        self.revision = 0
        self._pods: dict[PodUid, ApiPod] = {}
        self._created = 0
        self._bound: dict[NodeName, dict[PodUid, ApiPod]] = {}
        self._by_name: dict[str, ApiPod] = {}
        self._nodes: dict[NodeName, ApiNode] = {}
        self._pod_watchers: list[Callable[[ApiPod], None]] = []
        self._node_watchers: list[Callable[[], None]] = []
        self._kubelets: dict[NodeName, Callable[[PodUid], None]] = {}
        self.devices = DeviceObjects(self._present, self._rebound, self._next_revision)

    # Reading

    def pod(self, uid: PodUid) -> ApiPod | None:
        """Return a pod; None when it is gone."""
        return self._pods.get(uid)

    def pod_named(self, name: str) -> ApiPod | None:
        """Return the newest pod of this name, a deleted one too."""
        return self._by_name.get(name)

    def pods(self, node: NodeName | None = None) -> list[ApiPod]:
        """Return the pods, all or those bound to `node`, in order of creation."""
        if node is None:
            return list(self._pods.values())
        return sorted(self._bound.get(node, {}).values(), key=lambda pod: pod.number)

    def node(self, name: NodeName) -> ApiNode:
        """Return a Node object, which is made when it is first asked for."""
        return self._nodes.setdefault(name, ApiNode(name))

    def ready_nodes(self) -> list[ApiNode]:
        """Return the nodes with a recent heartbeat, by name (S12.6)."""
        oldest = self._timeline.now() - NODE_MONITOR_GRACE
        return [
            node
            for _, node in sorted(self._nodes.items())
            if node.heartbeat is not None and node.heartbeat >= oldest
        ]

    # Watching

    def watch_pods(self, watcher: Callable[[ApiPod], None]) -> None:
        """Tell `watcher` of every change of every pod, at once (controllers, scheduler)."""
        self._pod_watchers.append(watcher)

    def watch_nodes(self, watcher: Callable[[], None]) -> None:
        """Tell `watcher` of every node status."""
        self._node_watchers.append(watcher)

    def connect(self, node: NodeName, kubelet: Callable[[PodUid], None]) -> None:
        """Let a kubelet watch the pods of its node; it takes the place of an earlier one."""
        self._kubelets[node] = kubelet

    def disconnect(self, node: NodeName) -> None:
        """End a kubelet's watch."""
        self._kubelets.pop(node, None)

    # Writing

    def create(self, pod: ApiPod) -> None:
        """Create a pod."""
        if self.writer is None:
            self.place(pod)
        else:
            self.writer.create(pod)

    def place(self, pod: ApiPod) -> None:
        """Have a pod here that was created, be it elsewhere."""
        self._created += 1
        pod.number = self._created
        self._pods[pod.uid] = pod
        self._by_name[pod.pod.name] = pod
        if pod.node is not None:
            self._bound.setdefault(pod.node, {})[pod.uid] = pod
        self._record_phase(pod)
        if pod.revision:
            self.tell(pod)
        else:
            self._changed(pod)

    def bind(self, pod: ApiPod, node: NodeName) -> None:
        """Bind a pod to a node."""
        if self.writer is not None:
            self.writer.bind(pod, node)
            return
        self.put_on(pod, node)
        self._changed(pod)

    def leave_waiting(self, pod: ApiPod, event: EventEmitted) -> None:
        """Say of a pod why no node has room for it."""
        pod.unschedulable = True
        self.emit(NO_NODE, event)
        if self.writer is not None:
            self.writer.leave_waiting(pod, event)

    def put_on(self, pod: ApiPod, node: NodeName) -> None:
        """Know that a pod is bound to a node; nobody is told yet."""
        pod.node = node
        self._bound.setdefault(node, {})[pod.uid] = pod
        pod.unschedulable = False

    def set_status(
        self, uid: PodUid, status: PodStatus, devices: tuple[DeviceBinding, ...] = ()
    ) -> None:
        """Store a status; a pod that is gone is left alone (UID precondition, S12.4)."""
        pod = self._pods.get(uid)
        if pod is None or (pod.status, pod.status_devices) == (status, devices):
            return
        self.note_status(pod, status, devices)
        self._changed(pod)

    def note_status(
        self, pod: ApiPod, status: PodStatus, devices: tuple[DeviceBinding, ...]
    ) -> None:
        """Know a pod's status; nobody is told yet."""
        pod.status_devices = devices
        shown = (pod.status.phase, pod.status.reason, pod.status.message)
        pod.status = status
        if shown != (status.phase, status.reason, status.message):
            self._record_phase(pod)

    def mark_deleting(self, pod: ApiPod) -> None:
        """Set the deletion timestamp; a pod without a node is gone at once."""
        if self.writer is not None:
            self.writer.delete(pod, force=False)
            return
        pod.deleting = True
        if pod.node is None:
            self.remove(pod.uid)
        else:
            self._changed(pod)

    def remove(self, uid: PodUid) -> None:
        """Delete a pod for good."""
        if self.writer is None:
            self.drop(uid)
        elif uid in self._pods:
            self.writer.delete(self._pods[uid], force=True)

    def drop(self, uid: PodUid) -> None:
        """Have a pod here no more that was deleted, be it elsewhere."""
        pod = self._pods.pop(uid, None)
        if pod is not None:
            if pod.node is not None:
                self._bound[pod.node].pop(uid, None)
            pod.deleted = True
            self.emit(pod.node or NO_NODE, PodDeleted(uid, pod.pod.name))
            self._changed(pod)
            self._remember(pod)

    def report_node(
        self,
        name: NodeName,
        *,
        capacity: dict[ResourceName, int],
        allocatable: dict[ResourceName, int],
        boot_id: str,
    ) -> None:
        """Store a node status, which is a heartbeat too (S2.13, S2.15)."""
        node = self.node(name)
        node.boot_id = boot_id
        self.revision += 1
        if (node.capacity, node.allocatable) != (capacity, allocatable):
            node.capacity, node.allocatable = dict(capacity), dict(allocatable)
            status = tuple(sorted(capacity.items())), tuple(sorted(allocatable.items()))
            self.emit(name, NodeStatusReported(*status))
        self.renew_lease(name)

    def renew_lease(self, name: NodeName) -> None:
        """Take a heartbeat (S12.6)."""
        self.node(name).heartbeat = self._timeline.now()
        for watcher in self._node_watchers:
            watcher()

    def cordon(self, name: NodeName, *, cordoned: bool) -> None:
        """Let schedulers bind no new pods to a node, or bind them again."""
        self.node(name).cordoned = cordoned
        for watcher in self._node_watchers:
            watcher()

    def _present(self, pod: PodIdentity) -> ApiPod | None:
        """Return the pod that has this name now, in its namespace."""
        meant = self._pods.get(pod.uid)
        if meant is not None:
            return meant
        found = self._by_name.get(pod.name)
        if found is None or found.deleted or found.pod.namespace != pod.namespace:
            return None
        return found

    def _rebound(self, uid: PodUid) -> None:
        self._changed(self._pods[uid])

    def _next_revision(self) -> int:
        self.revision += 1
        return self.revision

    def _remember(self, pod: ApiPod) -> None:
        """Keep a deleted pod until many others were deleted after it."""
        if self._remembered_max is None:
            return
        self._remembered.append(pod)
        while len(self._remembered) > self._remembered_max:
            oldest = self._remembered.popleft()
            if self._by_name.get(oldest.pod.name) is oldest:
                del self._by_name[oldest.pod.name]
            self._forgotten(oldest)

    def _record_phase(self, pod: ApiPod) -> None:
        status = pod.status
        self.emit(
            pod.node or NO_NODE,
            PodPhaseChanged(pod.uid, pod.pod.name, status.phase, status.reason, status.message),
        )

    def _changed(self, pod: ApiPod) -> None:
        if self.writer is None:
            self.revision += 1
            pod.revision = self.revision
        self.tell(pod)

    def tell(self, pod: ApiPod) -> None:
        """Tell all who watch that a pod has changed."""
        for watcher in self._pod_watchers:
            watcher(pod)
        node = pod.node
        if node is not None:
            self._timeline.call_after(self.watch_delay, lambda: self._deliver(node, pod))

    def _deliver(self, node: NodeName, pod: ApiPod) -> None:
        """Tell a node's kubelet; of a static pod it learns from a file of its own (S5.3)."""
        if pod.spec.static:
            self._notify(node, pod.uid)
        else:
            self.when_reachable(node, lambda: self._notify(node, pod.uid))

    def _notify(self, node: NodeName, uid: PodUid) -> None:
        kubelet = self._kubelets.get(node)
        if kubelet is not None:
            kubelet(uid)
