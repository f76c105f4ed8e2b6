"""Rows for boots, reports of plugins and resources that go."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from sys import intern

from simulator.core.devices import Device, DeviceId
from simulator.core.resources import ResourceName
from simulator.core.transitions import DevicesReported, NodeBooted, ResourceRemoved
from simulator.ports import Committed
from store.node_entries import UNKNOWN, DeviceFacts, NodeEntry, ResourceEntry, numa_text
from store.planning.plan import Plan


def plan_boot(plan: Plan, booted: NodeBooted) -> Committed:
    """Begin a new boot of the node."""
    node = plan.node_or_new(booted.node)
    plan.alone(node)
    if node.boot is not None and node.boot_id == booted.boot_id:
        return Committed(node.revision)
    revision = plan.next_revision(node, booted.at)
    plan.keys.boot += 1
    node.boot, node.boot_id = plan.keys.boot, booted.boot_id
    node.generation += 1
    plan.writes.boots.append((node.boot, node.id, node.generation, booted.boot_id, revision))
    return plan.record(node, revision, booted, ())


def plan_report(plan: Plan, report: DevicesReported) -> Committed:
    """Fold in the list of a plugin: only what differs becomes a row."""
    node = plan.node_or_new(report.node)
    plan.alone(node)
    resource = known_resource(plan, node, report.resource)
    changed = _changed(resource, report.devices)
    if resource.registered and not changed:
        return Committed(node.revision)
    revision = plan.next_revision(node, report.at)
    register(plan, resource)
    follow(plan, resource, changed, revision)
    resource.share(plan.places)
    return plan.record(node, revision, report, ())


def plan_removal(plan: Plan, removed: ResourceRemoved) -> Committed:
    """Forget that a resource is registered; its devices stay known."""
    node = plan.node(removed.node)
    resource = node.resources.get(removed.resource) if node else None
    if node is None or resource is None or not resource.registered:
        return Committed(node.revision if node else 0)
    plan.alone(node)
    revision = plan.next_revision(node, removed.at)
    register(plan, resource, registered=False)
    unlisted = {id_: (None, *resource.facts[id_][1:]) for id_ in resource.listed()}
    follow(plan, resource, unlisted, revision)
    return plan.record(node, revision, removed, ())


def known_resource(plan: Plan, node: NodeEntry, name: ResourceName) -> ResourceEntry:
    """Return a node's resource, made if it is unknown."""
    resource = node.resources.get(name)
    if resource is None:
        plan.keys.resource += 1
        name = ResourceName(intern(name))
        resource = node.resources[name] = ResourceEntry(plan.keys.resource, name, registered=False)
        plan.writes.resources.append((resource.id, node.id, name, False))
    return resource


def known_device(plan: Plan, resource: ResourceEntry, id_: DeviceId, revision: int) -> int:
    """Return a device's key, made, unlisted, if it is unknown."""
    if id_ not in resource.places:
        follow(plan, resource, {id_: UNKNOWN}, revision)
    return resource.first + resource.places[id_]


def register(plan: Plan, resource: ResourceEntry, *, registered: bool = True) -> None:
    """Note whether a plugin serves the resource."""
    if resource.registered != registered:
        resource.registered = registered
        plan.writes.resource_updates.append((registered, resource.id))


def follow(
    plan: Plan, resource: ResourceEntry, facts: Mapping[DeviceId, DeviceFacts], revision: int
) -> None:
    """Bring devices in line with new facts: new devices are added, the same facts cost nothing."""
    for id_, fact in facts.items():
        key = resource.key_of(id_)
        if key is None:
            plan.keys.device = key = plan.keys.device + 1
            plan.writes.devices.append((key, resource.id, id_, *fact, revision, None))
            resource.add(id_, key)
        elif resource.facts[id_] != fact:
            last_seen = revision if fact[0] is None else None
            plan.writes.device_updates.append((*fact, last_seen, key))
        resource.facts[id_] = fact


def _changed(resource: ResourceEntry, devices: Iterable[Device]) -> dict[DeviceId, DeviceFacts]:
    """Return the new facts of the devices that a plugin's list changes.

    Devices keep their places in the list, and new ones follow. Of tens of thousands of devices, as
    a rule one has changed.
    """
    reported = {device.id: device for device in devices}
    texts = {nodes: numa_text(nodes) for nodes in {each.topology for each in reported.values()}}
    facts = resource.facts
    changed: dict[DeviceId, DeviceFacts] = {}
    next_slot = 0
    for id_, (slot, health, numa_nodes) in facts.items():
        if slot is None:
            continue
        if id_ not in reported:
            changed[id_] = (None, health, numa_nodes)
        elif slot >= next_slot:
            next_slot = slot + 1
    for id_, device in reported.items():
        before = facts.get(id_, UNKNOWN)
        slot = before[0]
        if slot is None:
            slot = next_slot
            next_slot += 1
        fact = (slot, device.health, texts[device.topology])
        if fact != before:
            changed[id_] = fact
    return changed
