"""From a profile and one of its combinations to the cluster that is run.

Nodes are called `n0`, `n1` and so on, since sockets have short paths. Existing pods hold devices of
their own, beside those that a plugin has for the pods that come.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from benchmarks import workload
from benchmarks.profiles.combinations import Combination
from benchmarks.profiles.profile import LatencyRange, Nodes, Plugin, PodTemplate, Profile
from benchmarks.results.rows import TimeSource
from simulator.core.behavior import Behavior
from simulator.core.calls import AllocateCall
from simulator.core.checkpoint.bindings import checkpoint_of
from simulator.core.checkpoint.render import render
from simulator.core.devices import NO_NUMA_NODE, Device, DeviceId, DevicesPerNuma, NumaNode
from simulator.core.instants import Duration
from simulator.core.pods import ContainerKind, Pod, PodUid
from simulator.core.resources import ResourceName
from simulator.core.switches import behavior_for
from simulator.core.transitions import DeviceBinding, NodeName
from simulator.engine.latencies import NO_DELAYS, USUAL_DELAYS, Delays
from simulator.engine.plugin_answers import allocate_answer
from simulator.engine.pod_factory import uuid_text
from simulator.engine.spec import (
    ApiSpec,
    ClientLimit,
    NodeSpec,
    PluginLatency,
    PluginSpec,
    PodSpec,
    SimulationSpec,
)
from simulator.engine.streams import RandomStreams
from simulator.ports import Durability

NAMESPACE: Final = "default"
"""Of the pods, unless the API server is somebody else's."""
NO_LIMIT: Final = ClientLimit(qps=0, burst=0)
"""Of a kubelet's API client where no API server is measured."""


def node_name(number: int) -> NodeName:
    """Return the name of a node."""
    return NodeName(f"n{number}")


def plugin_name(plugin: Plugin, node: NodeName) -> str:
    """Return the name of a node's plugin, which is unique in the cluster."""
    return f"{plugin.name}-{node}"


def pod_spec(
    template: PodTemplate, *, grace_min: Duration = Duration(0), namespace: str = NAMESPACE
) -> PodSpec:
    """Return what pods of a template are made from; their containers take `grace_min` to end."""
    pod = Pod(
        PodUid(""),
        template.name,
        namespace,
        init_containers=template.init_containers,
        containers=template.containers,
    )
    return PodSpec(template.name, pod, termination_grace=max(template.termination_grace, grace_min))


def cluster(
    profile: Profile,
    combination: Combination,
    *,
    seed: int,
    uids: Mapping[str, PodUid] = MappingProxyType({}),
    namespace: str = NAMESPACE,
) -> SimulationSpec:
    """Return what a combination of a profile starts from.

    Args:
        profile: The profile.
        combination: One of its combinations.
        seed: From which everything follows that is drawn.
        uids: Those of existing pods, by name, where a server has given them.
        namespace: Theirs.
    """
    nodes = replace(profile.nodes, count=combination.nodes, existing=combination.existing)
    behavior = behavior_for(combination.kubelet_version)
    inventory = _Inventory(profile, nodes, namespace)
    is_virtual = combination.clock is TimeSource.VIRTUAL
    return SimulationSpec(
        nodes=tuple(_nodes(inventory, nodes, behavior, _Uids(seed, uids))),
        plugins=tuple(_plugins(profile, inventory, nodes)),
        kubelet_version=combination.kubelet_version,
        persistence=combination.persistence.name,
        persistence_options=combination.persistence_options,
        durability=combination.durability or Durability.FULL,
        seed=seed,
        added_fsync=combination.added_fsync,
        delays=_delays(profile) if is_virtual else NO_DELAYS,
        api=_api(profile, combination, is_virtual=is_virtual),
    )


def _delays(profile: Profile) -> Delays:
    return replace(USUAL_DELAYS, container_start=profile.container_start)


def _api(profile: Profile, combination: Combination, *, is_virtual: bool) -> ApiSpec:
    client = combination.kube_api
    if client is None and not (is_virtual or combination.has_api_server):
        client = NO_LIMIT
    latency = profile.api_latency if is_virtual else LatencyRange(Duration(0), Duration(0))
    return ApiSpec(
        latency.p50,
        latency.p99,
        client,
        status_coalesce=combination.status_coalesce is not False,
        bulk_bind=combination.bulk_bind or 1,
    )


@dataclass(frozen=True, slots=True)
class ExistingPod:
    """A pod that is there at the start.

    Attributes:
        node: Where it runs.
        pod: Its uid is given by whoever creates it.
        bindings: Its devices.
    """

    node: NodeName
    pod: Pod
    bindings: tuple[DeviceBinding, ...]


@dataclass(frozen=True, slots=True)
class _Existing:
    """A pod that is there at the start, with its devices; alike on all nodes but for its uid."""

    pod: Pod
    bindings: tuple[DeviceBinding, ...]


class _Inventory:
    """The devices of each plugin, and who holds them at the start; the same on every node."""

    def __init__(self, profile: Profile, nodes: Nodes, namespace: str) -> None:
        self._nodes = nodes
        self._namespace = namespace
        self.plugins = profile.plugins
        self._plugins = {plugin.resource: plugin for plugin in profile.plugins}
        self._given = dict.fromkeys(self._plugins, 0)
        self.existing: list[_Existing] = []
        if nodes.existing:
            template = profile.templates[nodes.existing_template]
            self.existing = [self._pod(template, number) for number in range(nodes.existing)]

    def devices(self, plugin: Plugin) -> tuple[Device, ...]:
        """Return the devices that a plugin lists."""
        count = plugin.devices + self._given[plugin.resource]
        return tuple(self._device(plugin, number) for number in range(count))

    def _device(self, plugin: Plugin, number: int) -> Device:
        identifier = workload.device_of(number).id
        if not plugin.spread or not self._nodes.numa_nodes:
            return Device(identifier)
        return Device(identifier, topology=(NumaNode(number % self._nodes.numa_nodes),))

    def _pod(self, template: PodTemplate, number: int) -> _Existing:
        pod = replace(pod_spec(template, namespace=self._namespace).pod, name=f"existing-{number}")
        bindings = tuple(
            binding
            for container in pod.all_containers()
            if container.kind is not ContainerKind.INIT
            for resource, count in container.limits
            if resource in self._plugins and count
            for binding in [self._bind(pod, container.name, resource, count)]
        )
        return _Existing(pod, bindings)

    def _bind(self, pod: Pod, container: str, resource: ResourceName, count: int) -> DeviceBinding:
        plugin = self._plugins[resource]
        first = self._given[resource]
        self._given[resource] += count
        devices = [self._device(plugin, number) for number in range(first, first + count)]
        name = next(each.name for each in pod.all_containers() if each.name == container)
        call = AllocateCall(resource, tuple(each.id for each in devices), pod.uid, name)
        return DeviceBinding(
            pod.uid, name, resource, _by_numa(devices), allocate_answer(call, with_envs=True)
        )


def _by_numa(devices: list[Device]) -> DevicesPerNuma:
    groups: dict[NumaNode, tuple[DeviceId, ...]] = {}
    for device in devices:
        node = device.topology[0] if device.topology else NO_NUMA_NODE
        groups[node] = (*groups.get(node, ()), device.id)
    return groups


class _Uids:
    """Gives existing pods their uids: a server's, or ones that follow from the seed."""

    def __init__(self, seed: int, given: Mapping[str, PodUid]) -> None:
        self._streams = RandomStreams(seed)
        self._given = given

    def of(self, name: str) -> PodUid:
        """Return the uid of the pod of this name."""
        given = self._given.get(name)
        return given or PodUid(uuid_text(self._streams.number(f"existing/{name}")))


def _nodes(
    inventory: _Inventory, nodes: Nodes, behavior: Behavior, uids: _Uids
) -> Iterator[NodeSpec]:
    for number in range(nodes.count):
        name = node_name(number)
        made = NodeSpec(name, numa_nodes=nodes.numa_nodes)
        if not inventory.existing:
            yield made
            continue
        pods: list[Pod] = []
        bindings: list[DeviceBinding] = []
        for each in inventory.existing:
            pod_name = f"{name}-{each.pod.name}"
            uid = uids.of(pod_name)
            pods.append(replace(each.pod, uid=uid, name=pod_name))
            bindings += (replace(binding, pod=uid) for binding in each.bindings)
        registered = [
            (plugin.resource, [device.id for device in inventory.devices(plugin)])
            for plugin in inventory.plugins
        ]
        file = render(checkpoint_of(bindings, registered, behavior.checkpoint_written))
        yield replace(made, checkpoint=file, pods=tuple(pods))


def _plugins(profile: Profile, inventory: _Inventory, nodes: Nodes) -> Iterator[PluginSpec]:
    for plugin in profile.plugins:
        devices = inventory.devices(plugin)
        for number in range(nodes.count):
            node = node_name(number)
            yield PluginSpec(
                name=plugin_name(plugin, node),
                node=node,
                resource=plugin.resource,
                devices=devices,
                pre_start_required=plugin.told_before,
                preferred_allocation=plugin.asked_before,
                reregister_after=plugin.reregister_after,
                starts_after_boot=plugin.starts_after_boot,
                latency=PluginLatency(
                    plugin.allocate.p50, plugin.preferred_allocation.p50, plugin.pre_start.p50
                ),
            )


def existing_pods(
    profile: Profile, combination: Combination, namespace: str = NAMESPACE
) -> Iterator[ExistingPod]:
    """Iterate over the pods that are there at the start, for a server that is to have them."""
    nodes = replace(profile.nodes, count=combination.nodes, existing=combination.existing)
    inventory = _Inventory(profile, nodes, namespace)
    for number in range(nodes.count):
        node = node_name(number)
        for each in inventory.existing:
            pod = replace(each.pod, name=f"{node}-{each.pod.name}")
            yield ExistingPod(node, pod, each.bindings)


def devices_of(profile: Profile) -> Mapping[ResourceName, int]:
    """Return how many devices each node has for the pods that come, by resource."""
    return {plugin.resource: plugin.devices for plugin in profile.plugins}
