"""Rows for pods that are admitted, refused and released: the write path proper."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from simulator.core.devices import DeviceId
from simulator.core.pods import PodUid
from simulator.core.transitions import (
    DeviceBinding,
    PodAdmitted,
    PodIdentity,
    PodRejected,
    PodsReleased,
)
from simulator.ports import Committed, Standing
from store.changes import KINDS, STANDINGS, bindings_line
from store.imports import bound_ids, by_key
from store.node_entries import NodeEntry, runs_of
from store.planning.devices import known_device, known_resource
from store.planning.plan import Plan, PodKey
from store.pod_entries import PodEntry, read_bound, read_pod, read_settlements

_ADMITTED: Final = STANDINGS[Standing.ADMITTED]
_REJECTED: Final = STANDINGS[Standing.REJECTED]
_RELEASED: Final = STANDINGS[Standing.RELEASED]
_WHY_ADMITTED: Final = (_ADMITTED, "", "")
_POD_ADMITTED: Final = KINDS[PodAdmitted]


def plan_admission(plan: Plan, admitted: PodAdmitted) -> Committed:
    """Bind devices to a pod."""
    node = plan.nodes.get(admitted.node) or plan.node_or_new(admitted.node)
    identity = admitted.pod
    uid = identity.uid
    bindings: Iterable[DeviceBinding] = admitted.bindings
    if len(admitted.bindings) > 1:
        bindings = by_key(bindings).values()
    if (node.id, uid) in plan.pods:
        plan.alone(node)
        revision = plan.next_revision(node, admitted.at)
        key = readmit(plan, node, identity, list(enumerate(bindings))).id
    else:
        plan.among_others(node)
        revision = plan.next_revision(node, admitted.at)
        key = _admit_newcomer(plan, node, identity, bindings)
    line = bindings_line(admitted.bindings)
    plan.writes.changes.append((revision, plan.at, node.id, _POD_ADMITTED, key, line))
    return Committed(revision)


def _admit_newcomer(
    plan: Plan, node: NodeEntry, identity: PodIdentity, bindings: Iterable[DeviceBinding]
) -> int:
    """Add a pod that no one has seen, the common case; return its key."""
    keys = plan.keys
    keys.pod = key = keys.pod + 1
    pod = PodEntry(key, identity, _WHY_ADMITTED)
    before = keys.holding
    for ordinal, binding in enumerate(bindings):
        _bind(plan, node, pod, binding, ordinal)
    last = keys.holding
    uid, namespace, name = identity.uid, identity.namespace, identity.name
    plan.writes.pods.append(
        (key, node.id, uid, namespace, name, _ADMITTED, "", "", last > before, None)
    )
    plan.pods[node.id, uid] = (key, before + 1, last) if last > before else (key,)
    return key


def plan_rejection(plan: Plan, rejected: PodRejected) -> Committed:
    """Keep why a pod was refused; what it held before stays held."""
    node = plan.node_or_new(rejected.node)
    uid = rejected.pod.uid
    plan.alone(node)
    revision = plan.next_revision(node, rejected.at)
    pod = read_pod(plan.connection, uid, plan.pods.get((node.id, uid)))
    why = (_REJECTED, rejected.reason, rejected.message)
    if pod is None:
        pod = _newcomer(plan, rejected.pod)
        pod.why = why
        _insert(plan, node, pod, ended=revision)
    else:
        pod.identity, pod.why = named(pod.identity, rejected.pod), why
        _update(plan, pod, ended=None if pod.bound else revision)
    if not pod.bound:
        plan.pods[node.id, uid] = pod.id
    return plan.record(node, revision, rejected, ((uid, pod.id),))


def plan_release(plan: Plan, released: PodsReleased) -> Committed:
    """Give back what pods hold."""
    node = plan.node(released.node)
    uids = [uid for uid in dict.fromkeys(released.pods) if node and _is_live(plan, node, uid)]
    if node is None or not uids:
        return Committed(node.revision if node else 0)
    plan.alone(node)
    revision = plan.next_revision(node, released.at)
    return plan.record(node, revision, released, end_pods(plan, node, uids))


def readmit(
    plan: Plan,
    node: NodeEntry,
    identity: PodIdentity,
    bindings: Sequence[tuple[int, DeviceBinding]],
) -> PodEntry:
    """Admit a pod that may be known, with these bindings in place of its own of the same name."""
    uid = identity.uid
    known = read_pod(plan.connection, uid, plan.pods.get((node.id, uid)))
    pod = known or _newcomer(plan, identity)
    pod.identity, pod.why = named(pod.identity, identity), _WHY_ADMITTED
    if pod.bound:
        _replace(plan, node, pod, [binding for _, binding in bindings])
    for ordinal, binding in bindings:
        _bind(plan, node, pod, binding, ordinal)
    if known is None:
        _insert(plan, node, pod)
    else:
        _update(plan, pod)
    plan.pods[node.id, uid] = pod.runs()
    return pod


def named(known: PodIdentity, given: PodIdentity) -> PodIdentity:
    """Return a pod's identity with the names that are given now, where they are."""
    return PodIdentity(known.uid, given.namespace or known.namespace, given.name or known.name)


def end_pods(plan: Plan, node: NodeEntry, uids: Iterable[PodUid]) -> tuple[PodKey, ...]:
    """End all that pods hold; they are no longer part of the node's state."""
    ended: list[PodKey] = []
    writes = plan.writes
    for uid in uids:
        known = plan.pods[node.id, uid]
        key, *runs = known if isinstance(known, tuple) else (known,)
        _end_runs(plan, node, runs)
        writes.responses_of_pods.append((key,))
        writes.pod_ends.append((_ADMITTED, _RELEASED, node.revision, key))
        plan.pods[node.id, uid] = key
        ended.append((uid, key))
    _settle(plan, node)
    return tuple(ended)


def _is_live(plan: Plan, node: NodeEntry, uid: PodUid) -> bool:
    return isinstance(plan.pods.get((node.id, uid)), tuple)


def _newcomer(plan: Plan, identity: PodIdentity) -> PodEntry:
    plan.keys.pod = key = plan.keys.pod + 1
    return PodEntry(key, identity, _WHY_ADMITTED)


def _insert(plan: Plan, node: NodeEntry, pod: PodEntry, *, ended: int | None = None) -> None:
    plan.writes.pods.append((pod.id, node.id, pod.identity.uid, *pod.row(ended)))


def _update(plan: Plan, pod: PodEntry, *, ended: int | None = None) -> None:
    plan.writes.pod_updates.append((*pod.row(ended), pod.id))


def _bind(plan: Plan, node: NodeEntry, pod: PodEntry, binding: DeviceBinding, ordinal: int) -> None:
    """Add the rows of a binding, of the node's present revision and the plan's instant."""
    writes = plan.writes
    pod_id = pod.id
    name = binding.container
    containers = pod.containers
    if name in containers:
        container = containers.index(name)
    else:
        container = len(containers)
        containers.append(name)
        writes.containers.append((pod_id, container, name))
    resource = node.resources.get(binding.resource) or known_resource(plan, node, binding.resource)
    first, places = resource.first, resource.places
    holdings = pod.holdings
    revision = node.revision
    place = 0
    without_ids: str | None = None
    for numa_node, ids in binding.devices.items():
        for id_ in ids:
            known = places.get(id_)
            if known is None:
                device = known_device(plan, resource, id_, revision)
                first, places = resource.first, resource.places
            else:
                device = first + known
            holding = holdings.get(device)
            if holding is None:
                keys = plan.keys
                keys.holding = holdings[device] = holding = keys.holding + 1
                contested = bool(plan.contested) and _is_contested(plan, pod, binding, id_)
                writes.holdings.append(
                    (holding, device, pod_id, node.boot, revision, plan.at, None, None, contested)
                )
            writes.bindings.append((holding, container, place, numa_node))
            place += 1
        if not ids:
            without_ids = _without_ids(binding)
    writes.responses.append(
        (pod_id, container, resource.id, revision, ordinal, without_ids, binding.response)
    )


def _without_ids(binding: DeviceBinding) -> str:
    return ",".join(str(node) for node, ids in sorted(binding.devices.items()) if not ids)


def _is_contested(plan: Plan, pod: PodEntry, binding: DeviceBinding, id_: DeviceId) -> bool:
    return (pod.identity.uid, binding.resource, id_) in plan.contested


def _end_runs(plan: Plan, node: NodeEntry, runs: Sequence[int]) -> None:
    plan.writes.holding_ends.extend(
        (node.revision, plan.at, first, last)
        for first, last in zip(runs[::2], runs[1::2], strict=True)
    )


def _settle(plan: Plan, node: NodeEntry) -> None:
    """Of a device that pods dispute the oldest one left holds it when the holder is gone."""
    if node.disputed:
        plan.let_read(node)
        settled = read_settlements(plan.connection, node)
        plan.writes.settlements.extend((False, holding) for holding in settled)


def _replace(plan: Plan, node: NodeEntry, pod: PodEntry, bindings: Iterable[DeviceBinding]) -> None:
    """Take away bindings in whose place others come, and devices that no container has then."""
    replaced: set[tuple[int, int]] = set()
    wanted: set[int] = set()
    for binding in bindings:
        resource = node.resources.get(binding.resource)
        if resource is not None and binding.container in pod.containers:
            replaced.add((pod.containers.index(binding.container), resource.id))
        if resource is not None:
            keys = map(resource.key_of, bound_ids(binding))
            wanted.update(device for device in keys if device is not None)
    replaced.intersection_update(pod.bound)
    if not replaced:
        return
    plan.writes.response_deletes.extend((pod.id, *key) for key in sorted(replaced))
    bound = read_bound(plan.connection, pod)
    kept = wanted.union(row.device_id for row in bound if row.key not in replaced)
    plan.writes.binding_deletes.extend(
        (row.holding_id, row.key[0])
        for row in bound
        if row.key in replaced and row.device_id in kept
    )
    given = [holding for device, holding in pod.holdings.items() if device not in kept]
    pod.holdings = {device: held for device, held in pod.holdings.items() if device in kept}
    _end_runs(plan, node, runs_of(pod.id, sorted(given))[1:])
    _settle(plan, node)
