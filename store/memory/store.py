"""The store without a database: what `SqlStore` must be equal to, in the simplest form."""

from __future__ import annotations

from collections.abc import Sequence

from simulator.core.devices import HEALTHY, DeviceId
from simulator.core.pods import PodUid
from simulator.core.resources import ResourceName
from simulator.core.transitions import (
    CheckpointImported,
    DeviceBinding,
    DevicesReported,
    NodeBooted,
    NodeName,
    NodeState,
    PhaseChanged,
    PodAdmitted,
    PodRejected,
    PodsReleased,
    ResourceRemoved,
    Transition,
)
from simulator.object_ports import ObjectWrite
from simulator.ports import (
    Change,
    Committed,
    DeviceSummary,
    Holding,
    ImportedCheckpoint,
    NodeSummary,
    Outcome,
    PodSummary,
    Refused,
    ResourceSummary,
    Together,
)
from store.changes import detail_of
from store.memory.nodes import MemoryHolding, MemoryNode, MemoryResource
from store.memory.objects import MemoryObjectStore, Revisions
from store.ordering import holding_order


class MemoryStore:
    """A `Store` that forgets everything when it is dropped."""

    def __init__(self) -> None:
        self._nodes: dict[NodeName, MemoryNode] = {}
        self._history: list[tuple[Change, tuple[PodUid, ...]]] = []
        self._revisions = Revisions()
        self.objects = MemoryObjectStore(self._revisions)

    def apply(self, transitions: Sequence[Transition]) -> list[Outcome]:
        """Apply a batch; see `simulator.ports.Store`."""
        return [self._apply(transition) for transition in transitions]

    def apply_together(
        self, transitions: Sequence[Transition], writes: Sequence[ObjectWrite]
    ) -> Together:
        """Apply a batch of both; see `simulator.ports.Store`."""
        return self.apply(transitions), self.objects.apply(writes)

    def load(self, node: NodeName) -> NodeState:
        """Return a node's state."""
        known = self._nodes.get(node, MemoryNode(node))
        return NodeState(
            node=node,
            revision=known.revision,
            bindings=tuple(_ascending(binding) for binding in known.bindings.values()),
            registered=tuple(sorted(n for n, r in known.resources.items() if r.registered)),
            phase=known.phase,
        )

    def nodes(self) -> list[NodeSummary]:
        """Return all nodes, by name."""
        return [
            NodeSummary(
                node=name,
                revision=node.revision,
                boot_id=node.boots[-1] if node.boots else "",
                pods=sum(not pod.ended for pod in node.pods.values()),
                resources=tuple(_summary(node, r) for r in sorted(node.resources)),
            )
            for name, node in sorted(self._nodes.items())
        ]

    def devices(self, *, node: NodeName | None = None) -> list[DeviceSummary]:
        """Return devices by node and resource; listed ones first, in the plugin's order."""
        return [
            DeviceSummary(
                node=known.name,
                resource=name,
                device=id_,
                listed=resource.devices[id_].slot is not None,
                health=resource.devices[id_].health,
                numa_nodes=resource.devices[id_].numa_nodes,
                holders=tuple(
                    known.pods[holding.pod].identity
                    for holding in sorted(known.held(), key=lambda h: (h.disputed, h.pod))
                    if (holding.resource, holding.device) == (name, id_)
                ),
            )
            for known in self._chosen(node)
            for name, resource in sorted(known.resources.items())
            for id_ in _in_list_order(resource)
        ]

    def pods(self, *, node: NodeName | None = None) -> list[PodSummary]:
        """Return pods by node, in the order in which they became known."""
        return [
            PodSummary(
                node=known.name,
                pod=pod.identity,
                standing=pod.standing,
                reason=pod.reason,
                message=pod.message,
                devices=tuple(
                    (resource, count)
                    for resource in sorted(known.resources)
                    if (count := sum((h.pod, h.resource) == (uid, resource) for h in known.held()))
                ),
            )
            for known in self._chosen(node)
            for uid, pod in known.pods.items()
        ]

    def holders(
        self, *, node: NodeName | None = None, device: DeviceId | None = None, past: bool = False
    ) -> list[Holding]:
        """Return holdings, those that ended too if `past`."""
        holdings = [
            _public(known, holding)
            for known in self._chosen(node)
            for holding in known.holdings
            if (past or holding.until is None) and device in {None, holding.device}
        ]
        return sorted(holdings, key=holding_order)

    def history(
        self,
        *,
        node: NodeName | None = None,
        pod: PodUid | None = None,
        until_revision: int | None = None,
    ) -> list[Change]:
        """Return changes in order of revision."""
        return [
            change
            for change, pods in self._history
            if node in {None, change.node}
            and (pod is None or pod in pods)
            and (until_revision is None or change.revision <= until_revision)
        ]

    def imported_checkpoint(self, node: NodeName) -> ImportedCheckpoint | None:
        """Return the file last imported for the node, if any."""
        known = self._nodes.get(node)
        if known is None or known.imported is None:
            return None
        revision, content = known.imported
        return ImportedCheckpoint(content, revision)

    def close(self) -> None:
        """Do nothing: there is nothing to let go of."""

    def _chosen(self, node: NodeName | None) -> list[MemoryNode]:
        return [known for name, known in sorted(self._nodes.items()) if node in {None, name}]

    def _apply(self, transition: Transition) -> Outcome:
        node = self._nodes.get(transition.node, MemoryNode(transition.node))
        revision = self._revisions.last + 1
        pods = _change(node, transition, revision)
        if isinstance(pods, Refused):
            return pods
        if pods is None:
            return Committed(node.revision)
        self._nodes[node.name] = node
        self._revisions.last = node.revision = revision
        if isinstance(transition, CheckpointImported):
            node.imported = (revision, transition.content)
            node.phase = transition.phase or node.phase
        change = Change(
            revision=revision,
            at=transition.at,
            node=node.name,
            kind=type(transition).__name__,
            pod=pods[0] if len(pods) == 1 else None,
            detail=detail_of(transition, pods),
        )
        self._history.append((change, pods))
        return Committed(revision)


def _change(
    node: MemoryNode, transition: Transition, revision: int
) -> tuple[PodUid, ...] | Refused | None:
    pods: tuple[PodUid, ...] | Refused | None
    match transition:
        case NodeBooted():
            pods = node.boot(transition)
        case DevicesReported():
            pods = node.report(transition)
        case ResourceRemoved():
            pods = node.remove(transition)
        case PodAdmitted():
            pods = node.admit(transition, revision)
        case PodRejected():
            pods = node.reject(transition)
        case PodsReleased():
            pods = node.release(transition, revision)
        case PhaseChanged():
            pods = node.change_phase(transition, revision)
        case _:
            pods = node.import_(transition, revision)
    return pods


def _ascending(binding: DeviceBinding) -> DeviceBinding:
    devices = dict(sorted(binding.devices.items()))
    return DeviceBinding(
        binding.pod, binding.container, binding.resource, devices, binding.response
    )


def _in_list_order(resource: MemoryResource) -> list[DeviceId]:
    listed = resource.listed()
    return [*listed, *sorted(id_ for id_ in resource.devices if id_ not in listed)]


def _summary(node: MemoryNode, name: ResourceName) -> ResourceSummary:
    resource = node.resources[name]
    listed = [resource.devices[id_] for id_ in resource.listed()]
    return ResourceSummary(
        resource=name,
        devices=len(listed),
        healthy=sum(device.health == HEALTHY for device in listed),
        held=len({h.device for h in node.held() if h.resource == name}),
        registered=resource.registered,
    )


def _public(node: MemoryNode, holding: MemoryHolding) -> Holding:
    return Holding(
        node=node.name,
        resource=holding.resource,
        device=holding.device,
        pod=node.pods[holding.pod].identity,
        containers=holding.containers,
        since_revision=holding.since[0],
        since=holding.since[1],
        until_revision=holding.until[0] if holding.until else None,
        until=holding.until[1] if holding.until else None,
        boot_id=holding.boot_id,
        disputed=holding.disputed,
    )
