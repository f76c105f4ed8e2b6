"""Rows for pods that are admitted, refused and released: the write path proper."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Final

from simulator.core.devices import DeviceId
from simulator.core.instants import Instant
from simulator.core.pods import PodUid
from simulator.core.transitions import (
    DeviceBinding,
    PodAdmitted,
    PodIdentity,
    PodRejected,
    PodsReleased,
)
from simulator.ports import Committed, Standing
from store.changes import STANDINGS
from store.imports import bound_ids, by_key
from store.node_entries import NodeEntry, PodEntry, PodRow, read_bound, revive
from store.plan import Plan, PodKey
from store.planned_devices import known_device, known_resource

ENDED_PODS_MAX: Final = 4_096
"""How many ended pods of a node the writer remembers; one that it forgot costs a second try."""

NumberedBinding = tuple[int, DeviceBinding, Collection[DeviceId]]
"""A binding with its place in the transition and those of its ids that are disputed."""

_ADMITTED: Final = STANDINGS[Standing.ADMITTED]
_REJECTED: Final = STANDINGS[Standing.REJECTED]
_RELEASED: Final = STANDINGS[Standing.RELEASED]
_HOLDS_DEVICES: Final = 5
"""Place in `PodRow`."""


def plan_admission(plan: Plan, admitted: PodAdmitted) -> Committed:
    """Bind devices to a pod."""
    node = plan.node_or_new(admitted.node)
    revision = plan.next_revision(node, admitted.at)
    bindings: Sequence[DeviceBinding] = admitted.bindings
    if len(bindings) > 1:
        bindings = tuple(by_key(bindings).values())
    pod = admitted_pod(plan, node, admitted.pod, bindings)
    if pod.bound:
        _replace(plan, node, pod, bindings, (revision, admitted.at))
    numbered = ((ordinal, binding, ()) for ordinal, binding in enumerate(bindings))
    bind(plan, node, pod, numbered, (revision, admitted.at))
    if bool(pod.holdings) != pod.row[_HOLDS_DEVICES]:
        update_pod(plan, pod, (*pod.row[:_HOLDS_DEVICES], bool(pod.holdings), None))
    return plan.record(node, revision, admitted, ((admitted.pod.uid, pod.id),))


def plan_rejection(plan: Plan, rejected: PodRejected) -> Committed:
    """Keep why a pod was refused; what it held before stays held."""
    node = plan.node_or_new(rejected.node)
    revision = plan.next_revision(node, rejected.at)
    uid = rejected.pod.uid
    why = (_REJECTED, rejected.reason, rejected.message)
    pod = node.pods.get(uid) or _ended_pod(plan, node, uid)
    if pod is None:
        plan.keys.pod += 1
        row = (rejected.pod.namespace, rejected.pod.name, *why, False, revision)
        pod = PodEntry(plan.keys.pod, row)
        plan.writes.pods.append((pod.id, node.id, uid, *row))
    else:
        ended = None if pod.bound else revision
        holds = bool(pod.holdings)
        update_pod(plan, pod, _row(pod.row, rejected.pod, why, holds=holds, ended=ended))
    if not pod.bound:
        node.pods.pop(uid, None)
        _remember(node, uid)
    return plan.record(node, revision, rejected, ((uid, pod.id),))


def plan_release(plan: Plan, released: PodsReleased) -> Committed:
    """Give back what pods hold."""
    node = plan.node(released.node)
    uids = [uid for uid in dict.fromkeys(released.pods) if node and uid in node.pods]
    if node is None or not uids:
        return Committed(node.revision if node else 0)
    revision = plan.next_revision(node, released.at)
    pods = end_pods(plan, node, uids, (revision, released.at))
    return plan.record(node, revision, released, pods)


def admitted_pod(
    plan: Plan, node: NodeEntry, identity: PodIdentity, bindings: Iterable[DeviceBinding]
) -> PodEntry:
    """Return the entry of a pod that is admitted with these bindings."""
    uid = identity.uid
    pod = node.pods.get(uid) or _ended_pod(plan, node, uid)
    holds = bool(pod and pod.holdings) or any(map(_has_ids, bindings))
    if pod is None:
        plan.keys.pod += 1
        row: PodRow = (identity.namespace, identity.name, _ADMITTED, "", "", holds, None)
        pod = PodEntry(plan.keys.pod, row)
        plan.writes.pods.append((pod.id, node.id, uid, *row))
    else:
        update_pod(plan, pod, _row(pod.row, identity, (_ADMITTED, "", ""), holds=holds))
    node.pods[uid] = pod
    return pod


def update_pod(plan: Plan, pod: PodEntry, row: PodRow) -> None:
    """Bring a pod's row in line."""
    if pod.row != row:
        pod.row = row
        plan.writes.pod_updates.append((*row, pod.id))


def bind(
    plan: Plan,
    node: NodeEntry,
    pod: PodEntry,
    bindings: Iterable[NumberedBinding],
    when: tuple[int, Instant],
) -> None:
    """Add the rows of bindings; `when` is revision and time."""
    revision = when[0]
    writes = plan.writes
    for ordinal, binding, disputed in bindings:
        container = pod.containers.get(binding.container)
        if container is None:
            container = pod.containers[binding.container] = len(pod.containers)
            writes.containers.append((pod.id, container, binding.container))
        resource = node.resources.get(binding.resource)
        if resource is None:
            resource = known_resource(plan, node, binding.resource)
        pod.bound.add((container, resource.id))
        place = 0
        empty: list[int] = []
        for numa_node, ids in binding.devices.items():
            if not ids:
                empty.append(numa_node)
            for id_ in ids:
                device = resource.devices.get(id_) or known_device(plan, resource, id_, revision)
                holding = pod.holdings.get(device.id)
                if holding is None:
                    contested = id_ in disputed
                    plan.keys.holding += 1
                    holding = pod.holdings[device.id] = plan.keys.holding
                    writes.holdings.append(
                        (holding, device.id, pod.id, node.boot, *when, None, None, contested)
                    )
                    if contested:
                        node.disputes.setdefault(device.id, []).append(holding)
                writes.bindings.append((holding, container, place, numa_node))
                place += 1
        writes.responses.append(
            (
                pod.id,
                container,
                resource.id,
                revision,
                ordinal,
                ",".join(map(str, sorted(empty))) if empty else None,
                binding.response,
            )
        )


def end_pods(
    plan: Plan, node: NodeEntry, uids: Iterable[PodUid], when: tuple[int, Instant]
) -> tuple[PodKey, ...]:
    """End all that pods hold; they are no longer part of the node's state."""
    ended: list[PodKey] = []
    given: list[tuple[int, int]] = []
    for uid in uids:
        pod = node.pods.pop(uid)
        given.extend(pod.holdings.items())
        plan.writes.response_deletes.extend((pod.id, *key) for key in sorted(pod.bound))
        namespace, name, standing, reason, message, *_ = pod.row
        if standing == _ADMITTED:
            standing = _RELEASED
        update_pod(plan, pod, (namespace, name, standing, reason, message, False, when[0]))
        _remember(node, uid)
        ended.append((uid, pod.id))
    _give_back(plan, node, given, when)
    return tuple(ended)


def _give_back(
    plan: Plan, node: NodeEntry, given: list[tuple[int, int]], when: tuple[int, Instant]
) -> None:
    """End holdings; of a device that pods dispute the oldest one left then holds it."""
    plan.writes.holding_ends.extend((*when, holding) for _, holding in given)
    if not node.disputes:
        return
    ended: dict[int, list[int]] = {}
    for device, holding in given:
        if device in node.disputes:
            ended.setdefault(device, []).append(holding)
    for device, holdings in ended.items():
        disputed = node.disputes.pop(device)
        left = [holding for holding in disputed if holding not in holdings]
        if left and any(holding not in disputed for holding in holdings):
            plan.writes.settlements.append((False, left.pop(0)))
        if left:
            node.disputes[device] = left


def _replace(
    plan: Plan,
    node: NodeEntry,
    pod: PodEntry,
    bindings: Iterable[DeviceBinding],
    when: tuple[int, Instant],
) -> None:
    """Take away bindings in whose place others come, and devices that no container has then."""
    replaced: set[tuple[int, int]] = set()
    wanted: set[int] = set()
    for binding in bindings:
        container = pod.containers.get(binding.container, -1)
        resource = node.resources.get(binding.resource)
        if resource is not None:
            replaced.add((container, resource.id))
            known = (resource.devices.get(id_) for id_ in bound_ids(binding))
            wanted.update(device.id for device in known if device is not None)
    replaced &= pod.bound
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
    given = [(device, holding) for device, holding in pod.holdings.items() if device not in kept]
    for device, _ in given:
        del pod.holdings[device]
    _give_back(plan, node, given, when)


def _ended_pod(plan: Plan, node: NodeEntry, uid: PodUid) -> PodEntry | None:
    if plan.careful or uid in node.ended:
        return revive(plan.connection, node, uid)
    return None


def _remember(node: NodeEntry, uid: PodUid) -> None:
    if len(node.ended) >= ENDED_PODS_MAX:
        node.ended.clear()
    node.ended.add(uid)


def _has_ids(binding: DeviceBinding) -> bool:
    return any(binding.devices.values())


def _row(
    known: PodRow,
    given: PodIdentity,
    why: tuple[int, str, str],
    *,
    holds: bool,
    ended: int | None = None,
) -> PodRow:
    """Return a pod's new row; `why` is standing, reason and message."""
    return (given.namespace or known[0], given.name or known[1], *why, holds, ended)
