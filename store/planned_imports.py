"""Rows for a checkpoint file that becomes a node's state."""

from __future__ import annotations

from simulator.core.devices import HEALTHY, DeviceId
from simulator.core.instants import Instant
from simulator.core.pods import PodUid
from simulator.core.resources import ResourceName
from simulator.core.transitions import CheckpointImported, DeviceBinding, PodIdentity
from simulator.ports import Committed, ImportedCheckpoint, Outcome
from store.changes import has_other_state
from store.imports import Listed, by_key, contested, listed_in, refusal_of_conflicts
from store.node_entries import DeviceEntry, NodeEntry, PodEntry, PodRow
from store.plan import Plan, PodKey
from store.planned_devices import insert_devices, known_resource, register, update_devices
from store.planned_pods import NumberedBinding, admitted_pod, bind, end_pods, update_pod
from store.queries import imported_by, load_state


def plan_import(plan: Plan, imported: CheckpointImported) -> Outcome:
    """Take a checkpoint file for the node's state."""
    node = plan.node(imported.node)
    if node is not None and _is_state_of(plan, node, imported):
        return _import_again(plan, node, imported)
    registered = [r for r in node.resources.values() if r.registered] if node else []
    pods = list(node.pods) if node else []
    if (pods or registered) and not imported.replace:
        return has_other_state(imported.node, pods=len(pods), resources=len(registered))
    bindings = tuple(by_key(imported.bindings).values())
    refused = refusal_of_conflicts(imported, bindings)
    if refused is not None:
        return refused
    node = plan.node_or_new(imported.node)
    revision = plan.next_revision(node, imported.at)
    dropped = end_pods(plan, node, pods, (revision, imported.at))
    plan.flush()  # A pod that is in the file too is looked up again.
    _relist(plan, node, listed_in(imported), revision)
    restored = _restore(plan, node, imported, bindings, (revision, imported.at))
    return _keep(plan, node, revision, imported, tuple(dict.fromkeys((*dropped, *restored))))


def _is_state_of(plan: Plan, node: NodeEntry, imported: CheckpointImported) -> bool:
    registered = {
        name: sorted(id_ for id_, device in resource.devices.items() if device.slot is not None)
        for name, resource in node.resources.items()
        if resource.registered
    }
    if registered != {name: sorted(ids) for name, ids in listed_in(imported).items()}:
        return False
    state = load_state(plan.connection, imported.node)
    return by_key(state.bindings) == by_key(imported.bindings)


def _import_again(plan: Plan, node: NodeEntry, imported: CheckpointImported) -> Committed:
    """Take the same state again: only the file and names of pods can be new."""
    renamed = [
        (node.pods[pod.uid], row)
        for pod in imported.pods
        if pod.uid in node.pods
        and (row := _named(node.pods[pod.uid], pod)) != node.pods[pod.uid].row
    ]
    known = imported_by(plan.connection, imported.node)
    if not renamed and known == ImportedCheckpoint(imported.content, node.revision):
        return Committed(node.revision)
    revision = plan.next_revision(node, imported.at)
    for pod, row in renamed:
        update_pod(plan, pod, row)
    pods = tuple((uid, pod.id) for uid, pod in node.pods.items())
    return _keep(plan, node, revision, imported, pods)


def _named(pod: PodEntry, given: PodIdentity) -> PodRow:
    return (given.namespace or pod.row[0], given.name or pod.row[1], *pod.row[2:])


def _keep(
    plan: Plan,
    node: NodeEntry,
    revision: int,
    imported: CheckpointImported,
    pods: tuple[PodKey, ...],
) -> Committed:
    plan.writes.checkpoint_deletes.append((node.id,))
    plan.writes.checkpoints.append((node.id, revision, imported.content))
    return plan.record(node, revision, imported, pods)


def _relist(plan: Plan, node: NodeEntry, listed: Listed, revision: int) -> None:
    """List what the file lists and nothing else; what plugins said before counts no more."""
    before = {
        device.id: (device.slot, device.health, device.numa_nodes)
        for resource in node.resources.values()
        for device in resource.devices.values()
    }
    for name, resource in node.resources.items():
        register(plan, resource, registered=name in listed)
        for device in resource.devices.values():
            device.slot, device.health, device.numa_nodes = None, None, None
    for name, ids in listed.items():
        resource = known_resource(plan, node, name)
        register(plan, resource)
        added: list[tuple[DeviceId, DeviceEntry]] = []
        for slot, id_ in enumerate(ids):
            known = resource.devices.get(id_)
            if known is None:
                plan.keys.device += 1
                known = resource.devices[id_] = DeviceEntry(plan.keys.device)
                added.append((id_, known))
            known.slot, known.health = slot, HEALTHY
        insert_devices(plan, resource, added, revision)
    changed = [
        device
        for resource in node.resources.values()
        for device in resource.devices.values()
        if device.id in before
        and before[device.id] != (device.slot, device.health, device.numa_nodes)
    ]
    update_devices(plan, changed, revision)


def _restore(
    plan: Plan,
    node: NodeEntry,
    imported: CheckpointImported,
    bindings: tuple[DeviceBinding, ...],
    when: tuple[int, Instant],
) -> list[PodKey]:
    names = {pod.uid: pod for pod in imported.pods}
    disputed: dict[tuple[PodUid, ResourceName], set[DeviceId]] = {}
    for binding, device, _ in contested(bindings):
        disputed.setdefault((binding.pod, binding.resource), set()).add(device)
    numbered: dict[PodUid, list[NumberedBinding]] = {}
    for ordinal, binding in enumerate(bindings):
        among = disputed.get((binding.pod, binding.resource), set())
        numbered.setdefault(binding.pod, []).append((ordinal, binding, among))
    restored: list[PodKey] = []
    for uid, own in numbered.items():
        identity = names.get(uid, PodIdentity(uid))
        pod = admitted_pod(plan, node, identity, [binding for _, binding, _ in own])
        bind(plan, node, pod, own, when)
        restored.append((uid, pod.id))
    return restored
