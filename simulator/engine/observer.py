"""Looks at a simulated cluster: the values that expectations compare (`observation`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from simulator.core.devices import device_ids
from simulator.core.inventory import Capacity
from simulator.core.pods import PodUid
from simulator.core.resources import ResourceName
from simulator.core.transitions import DeviceBinding, NodeName
from simulator.engine.actions import DeviceCounts
from simulator.engine.api import ApiServer
from simulator.engine.api_objects import DELETED, ApiPod
from simulator.engine.node import Node
from simulator.engine.observation import (
    HoldingObservation,
    NodeObservation,
    PluginObservation,
    PodObservation,
)
from simulator.engine.plugin_ports import InstalledPlugin

DeviceIds = tuple[tuple[ResourceName, tuple[str, ...]], ...]
"""Resource to sorted ids, sorted by resource."""
Instances = tuple[tuple[str, object], ...]
"""Running containers of a pod: ids and what they were started with."""


class PodHistory:
    """What pods looked like before the last restart or reboot of their node."""

    def __init__(self) -> None:
        self._before: dict[PodUid, Instances] = {}
        self._recorded: dict[NodeName, dict[PodUid, DeviceIds]] = {}

    def remember(self, node: Node) -> None:
        """Keep the running containers of a node that is about to be disturbed."""
        for uid in node.runtime.pods():
            self._before[uid] = _instances(node, uid)
        bindings: dict[PodUid, list[DeviceBinding]] = {}
        for binding in _recorded(node):
            bindings.setdefault(binding.pod, []).append(binding)
        self._recorded[node.name] = {uid: _device_ids(each) for uid, each in bindings.items()}

    def forget(self, uid: PodUid) -> None:
        """Forget a pod that was deleted long ago."""
        self._before.pop(uid, None)

    def devices_before(self, node: Node, uid: PodUid) -> DeviceIds | None:
        """Return what the records gave a pod then; None when there was no restart yet."""
        recorded = self._recorded.get(node.name)
        return None if recorded is None else recorded.get(uid, ())

    def is_unchanged(self, node: Node, uid: PodUid) -> bool:
        """Tell whether the pod's containers are still those of then."""
        now = _instances(node, uid)
        return self._before.get(uid, now) == now


def observe_pod(
    pod: ApiPod, node: Node | None, history: PodHistory, plugins: Mapping[str, InstalledPlugin]
) -> PodObservation:
    """Return a pod as the API and its node show it."""
    ids = _device_ids(_bindings(node, pod.uid)) if node is not None else ()
    before = history.devices_before(node, pod.uid) if node is not None else None
    status = pod.status
    return PodObservation(
        uid=pod.uid,
        name=pod.pod.name,
        phase=DELETED if pod.deleted else status.phase,
        reason=status.reason,
        message=status.message,
        devices=tuple((resource, len(devices)) for resource, devices in ids),
        device_ids=ids,
        unchanged=node is not None and history.is_unchanged(node, pod.uid),
        plugin_calls=sum(plugin.counts.by_pod.get(pod.uid, 0) for plugin in plugins.values()),
        restarts=status.restarts,
        devices_before=ids if before is None else before,
        waiting=status.waiting,
    )


def observe_node(node: Node, api: ApiServer) -> NodeObservation:
    """Return a node; without a kubelet its device manager answers nothing."""
    kubelet = node.kubelet
    capacity = Capacity({}, {}, ())
    named: dict[ResourceName, int] = {}
    if kubelet is not None and kubelet.serving:
        kubelet.driver.refresh()
        capacity = kubelet.manager.capacity()
        listed = kubelet.manager.allocatable_devices()
        named = {resource: len(devices) for resource, devices in listed.items()}
    status = api.node(node.name)
    return NodeObservation(
        up=kubelet is not None and kubelet.serving,
        capacity=_counts(capacity.total),
        allocatable=_counts(capacity.allocatable),
        status_capacity=_counts(status.capacity),
        status_allocatable=_counts(status.allocatable),
        named_allocatable=_counts(named),
    )


def observe_plugin(plugin: InstalledPlugin) -> PluginObservation:
    """Return a plugin."""
    return PluginObservation(plugin.registered, tuple(sorted(plugin.counts.by_rpc.items())))


def observe_holdings(node: Node) -> tuple[HoldingObservation, ...]:
    """Return who holds what according to the durable state, by resource, device and pod."""
    bindings = node.authority.state(node.behavior).bindings
    held = {
        (each.resource, device, each.pod)
        for each in bindings
        for device in device_ids(each.devices)
    }
    return tuple(HoldingObservation(*each) for each in sorted(held))


def _bindings(node: Node, uid: PodUid) -> tuple[DeviceBinding, ...]:
    """Return a pod's records: the device manager's, or the durable ones while no kubelet runs."""
    if node.kubelet is not None and node.kubelet.serving:
        return tuple(node.kubelet.manager.bindings_of(uid))
    return tuple(binding for binding in _recorded(node) if binding.pod == uid)


def _recorded(node: Node) -> tuple[DeviceBinding, ...]:
    """Return the records of all pods."""
    if node.kubelet is not None and node.kubelet.serving:
        return tuple(node.kubelet.manager.snapshot().bindings)
    return node.authority.state(node.behavior).bindings


def _device_ids(bindings: Iterable[DeviceBinding]) -> DeviceIds:
    ids: dict[ResourceName, set[str]] = {}
    for binding in bindings:
        ids.setdefault(binding.resource, set()).update(device_ids(binding.devices))
    return tuple((resource, tuple(sorted(ids[resource]))) for resource in sorted(ids))


def _instances(node: Node, uid: PodUid) -> Instances:
    return tuple((each.container_id, each.devices) for each in node.runtime.running(uid))


def _counts(counts: Mapping[ResourceName, int]) -> DeviceCounts:
    return tuple(sorted(counts.items()))
