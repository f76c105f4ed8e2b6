"""Rows for boots, reports of plugins and resources that go."""

from __future__ import annotations

from simulator.core.devices import DeviceId
from simulator.core.resources import ResourceName
from simulator.core.transitions import DevicesReported, NodeBooted, ResourceRemoved
from simulator.ports import Committed
from store.node_entries import DeviceEntry, NodeEntry, ResourceEntry
from store.plan import Plan


def plan_boot(plan: Plan, booted: NodeBooted) -> Committed:
    """Begin a new boot of the node."""
    node = plan.node_or_new(booted.node)
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
    resource = known_resource(plan, node, report.resource)
    reported = {device.id: device for device in report.devices}
    revision = node.revision
    changed: list[DeviceEntry] = []
    for id_, entry in resource.devices.items():
        if entry.slot is not None and id_ not in reported:
            entry.slot = None
            changed.append(entry)
    slot = resource.next_slot()
    added: list[tuple[DeviceId, DeviceEntry]] = []
    for id_, device in reported.items():
        known = resource.devices.get(id_)
        if known is None:
            plan.keys.device += 1
            known = resource.devices[id_] = DeviceEntry(plan.keys.device)
            added.append((id_, known))
        elif known.slot is None or known.differs_from(device):
            changed.append(known)
        known.follow(device)
        if known.slot is None:
            known.slot = slot
            slot += 1
    if resource.registered and not changed and not added:
        return Committed(revision)
    revision = plan.next_revision(node, report.at)
    register(plan, resource)
    insert_devices(plan, resource, added, revision)
    update_devices(plan, changed, revision)
    return plan.record(node, revision, report, ())


def plan_removal(plan: Plan, removed: ResourceRemoved) -> Committed:
    """Forget that a resource is registered; its devices stay known."""
    node = plan.node(removed.node)
    resource = node.resources.get(removed.resource) if node else None
    if node is None or resource is None or not resource.registered:
        return Committed(node.revision if node else 0)
    revision = plan.next_revision(node, removed.at)
    register(plan, resource, registered=False)
    listed = [entry for entry in resource.devices.values() if entry.slot is not None]
    for entry in listed:
        entry.slot = None
    update_devices(plan, listed, revision)
    return plan.record(node, revision, removed, ())


def known_resource(plan: Plan, node: NodeEntry, name: ResourceName) -> ResourceEntry:
    """Return a node's resource, made if it is unknown."""
    resource = node.resources.get(name)
    if resource is None:
        plan.keys.resource += 1
        resource = node.resources[name] = ResourceEntry(plan.keys.resource, registered=False)
        plan.writes.resources.append((resource.id, node.id, name, False))
    return resource


def known_device(plan: Plan, resource: ResourceEntry, id_: DeviceId, revision: int) -> DeviceEntry:
    """Return a resource's device, made, unlisted, if it is unknown."""
    device = resource.devices.get(id_)
    if device is None:
        plan.keys.device += 1
        device = resource.devices[id_] = DeviceEntry(plan.keys.device)
        insert_devices(plan, resource, [(id_, device)], revision)
    return device


def register(plan: Plan, resource: ResourceEntry, *, registered: bool = True) -> None:
    """Note whether a plugin serves the resource."""
    if resource.registered != registered:
        resource.registered = registered
        plan.writes.resource_updates.append((registered, resource.id))


def insert_devices(
    plan: Plan,
    resource: ResourceEntry,
    added: list[tuple[DeviceId, DeviceEntry]],
    revision: int,
) -> None:
    """Add rows for devices that were not known."""
    plan.writes.devices.extend(
        (entry.id, resource.id, id_, entry.slot, entry.health, entry.numa_nodes, revision, None)
        for id_, entry in added
    )


def update_devices(plan: Plan, changed: list[DeviceEntry], revision: int) -> None:
    """Bring rows of known devices in line with their entries."""
    plan.writes.device_updates.extend(
        (
            entry.slot,
            entry.health,
            entry.numa_nodes,
            revision if entry.slot is None else None,
            entry.id,
        )
        for entry in changed
    )
