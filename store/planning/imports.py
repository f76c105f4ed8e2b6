"""Rows for a checkpoint file that becomes a node's state."""

from __future__ import annotations

from simulator.core.devices import HEALTHY
from simulator.core.pods import PodUid
from simulator.core.transitions import CheckpointImported, DeviceBinding, PodIdentity
from simulator.ports import Committed, ImportedCheckpoint, Outcome
from store.changes import has_other_state
from store.imports import Listed, by_key, contested, listed_in, refusal_of_conflicts
from store.node_entries import UNKNOWN, NodeEntry, read_live
from store.planning.devices import follow, known_resource, register
from store.planning.phases import keep_file, keep_phase
from store.planning.plan import Plan, PodKey
from store.planning.pods import end_pods, named, readmit
from store.pod_entries import PodEntry, read_pod
from store.queries import imported_by, load_state, phase_by


def plan_import(plan: Plan, imported: CheckpointImported) -> Outcome:
    """Take a checkpoint file for the node's state."""
    node = plan.node(imported.node)
    if node is not None:
        plan.alone(node)
    if node is not None and _is_state_of(plan, node, imported):
        return _import_again(plan, node, imported)
    registered = [r for r in node.resources.values() if r.registered] if node else []
    pods = [uid for uid, _ in read_live(plan.connection, node)] if node else []
    if (pods or registered) and not imported.replace:
        return has_other_state(imported.node, pods=len(pods), resources=len(registered))
    bindings = tuple(by_key(imported.bindings).values())
    refused = refusal_of_conflicts(imported, bindings)
    if refused is not None:
        return refused
    node = plan.node_or_new(imported.node)
    plan.alone(node)
    revision = plan.next_revision(node, imported.at)
    dropped = end_pods(plan, node, pods)
    plan.let_read(node)  # A pod that is in the file too is looked up again.
    _relist(plan, node, listed_in(imported), revision)
    restored = _restore(plan, node, imported, bindings)
    return _keep(plan, node, revision, imported, tuple(dict.fromkeys((*dropped, *restored))))


def _is_state_of(plan: Plan, node: NodeEntry, imported: CheckpointImported) -> bool:
    registered = {
        name: sorted(resource.listed())
        for name, resource in node.resources.items()
        if resource.registered
    }
    if registered != {name: sorted(ids) for name, ids in listed_in(imported).items()}:
        return False
    state = load_state(plan.connection, imported.node)
    return by_key(state.bindings) == by_key(imported.bindings)


def _import_again(plan: Plan, node: NodeEntry, imported: CheckpointImported) -> Committed:
    """Take the same state again: only the file and names of pods can be new."""
    pods = tuple(read_live(plan.connection, node))
    renamed: list[PodEntry] = []
    for given in imported.pods:
        known = plan.pods.get((node.id, given.uid))
        is_live = isinstance(known, tuple)
        pod = read_pod(plan.connection, given.uid, known) if is_live else None
        if pod is not None and pod.identity != named(pod.identity, given):
            pod.identity = named(pod.identity, given)
            renamed.append(pod)
    kept = imported_by(plan.connection, imported.node)
    same_phase = imported.phase in {None, phase_by(plan.connection, imported.node)}
    same_file = kept == ImportedCheckpoint(imported.content, node.revision)
    if not renamed and same_phase and same_file:
        return Committed(node.revision)
    revision = plan.next_revision(node, imported.at)
    plan.writes.pod_updates.extend((*pod.row(), pod.id) for pod in renamed)
    return _keep(plan, node, revision, imported, pods)


def _keep(
    plan: Plan,
    node: NodeEntry,
    revision: int,
    imported: CheckpointImported,
    pods: tuple[PodKey, ...],
) -> Committed:
    keep_file(plan, node, imported.content)
    if imported.phase is not None:
        keep_phase(plan, node, imported.phase)
    return plan.record(node, revision, imported, pods)


def _relist(plan: Plan, node: NodeEntry, listed: Listed, revision: int) -> None:
    """List what the file lists and nothing else; what plugins said before counts no more."""
    for name in listed:
        known_resource(plan, node, name)
    for name, resource in node.resources.items():
        register(plan, resource, registered=name in listed)
        facts = dict.fromkeys(resource.places, UNKNOWN)
        for slot, id_ in enumerate(listed.get(name, ())):
            facts[id_] = (slot, HEALTHY, None)
        follow(plan, resource, facts, revision)


def _restore(
    plan: Plan,
    node: NodeEntry,
    imported: CheckpointImported,
    bindings: tuple[DeviceBinding, ...],
) -> list[PodKey]:
    names = {pod.uid: pod for pod in imported.pods}
    plan.contested = {
        (binding.pod, binding.resource, device) for binding, device, _ in contested(bindings)
    }
    numbered: dict[PodUid, list[tuple[int, DeviceBinding]]] = {}
    for ordinal, binding in enumerate(bindings):
        numbered.setdefault(binding.pod, []).append((ordinal, binding))
    restored: list[PodKey] = []
    for uid, own in numbered.items():
        pod = readmit(plan, node, names.get(uid, PodIdentity(uid)), own)
        restored.append((uid, pod.id))
    node.disputed = bool(plan.contested)
    plan.contested = set()
    return restored
