"""One combination of a scenario as the engine takes it: the spec of a run, and its actions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scenarios.loading.matrix import Combination
from scenarios.loading.pod_names import pods_meant
from scenarios.schema.devices import DeviceList
from scenarios.schema.scenario import Plugin, Spec
from simulator.core.behavior import Reservations
from simulator.core.devices import Device, DeviceId
from simulator.core.transitions import NodeName
from simulator.engine.spec import (
    ApiSpec,
    Durability,
    NodeSpec,
    PluginLatency,
    PluginSpec,
    PodSpec,
    SimulationSpec,
)


def simulation_spec(
    spec: Spec,
    nodes: tuple[NodeSpec, ...],
    pods: tuple[PodSpec, ...],
    combination: Combination,
    seed: int | None,
) -> SimulationSpec:
    """Return what a run starts from; `seed` takes the place of the scenario's own."""
    return SimulationSpec(
        nodes=nodes,
        plugins=tuple(_plugin(spec, plugin) for plugin in spec.plugins),
        pods=pods,
        kubelet_version=combination.version,
        persistence=combination.persistence.name,
        persistence_options=combination.persistence.options,
        readmission=combination.readmission,
        reservations=Reservations(spec.reservations) if spec.reservations else None,
        durability=Durability(spec.durability),
        choice=spec.choice,
        seed=spec.seed if seed is None else seed,
        added_fsync=spec.added_fsync,
        plugin_call_timeout=spec.plugin_call_timeout,
        api=ApiSpec(status_coalesce=spec.status_coalesce),
        migrates=any(step.migrate is not None for step in spec.steps),
    )


def _plugin(spec: Spec, plugin: Plugin) -> PluginSpec:
    after_reboot = plugin.devices_after_reboot
    return PluginSpec(
        name=plugin.name,
        node=_node(spec, plugin.node),
        resource=plugin.resource_name,
        devices=_devices(spec, plugin, plugin.devices),
        devices_after_reboot=_devices(spec, plugin, after_reboot) if after_reboot else None,
        pre_start_required=plugin.pre_start_required,
        preferred_allocation=plugin.preferred_allocation,
        preferred=_preferred(plugin),
        reregister_after=plugin.reregister_after,
        starts_after_boot=plugin.starts_after_boot,
        latency=PluginLatency(
            plugin.latency.allocate, plugin.latency.preferred_allocation, plugin.latency.pre_start
        ),
        fail_allocate=plugin.fail_allocate,
        empty_allocate=plugin.empty_allocate,
        fail_preferred=plugin.fail_preferred,
        fail_pre_start=plugin.fail_pre_start,
        fail_dial=plugin.fail_dial,
        fail_options=plugin.fail_options,
        fail_list=plugin.fail_list_and_watch,
    )


def _preferred(plugin: Plugin) -> tuple[DeviceId, ...] | None:
    if plugin.preferred_devices is None:
        return None
    return tuple(DeviceId(device) for device in plugin.preferred_devices)


def _node(spec: Spec, name: str | None) -> NodeName:
    return NodeName(name or spec.nodes[0].name)


def _devices(spec: Spec, plugin: Plugin, devices: DeviceList) -> tuple[Device, ...]:
    name = _node(spec, plugin.node)
    node = next(node for node in spec.nodes if node.name == name)
    return devices.devices(plugin=plugin.name, numa_nodes=node.numa_nodes)


class ScenarioSurroundings:
    """A loaded scenario as its steps see it (`scenarios.schema.surroundings.Surroundings`)."""

    def __init__(self, spec: Spec, pods: Sequence[str], files: Mapping[str, bytes]) -> None:
        self._spec = spec
        self._pods = pods
        self._files = files

    def node(self, name: str | None) -> NodeName:
        """Return the node of this name, or the only one."""
        return _node(self._spec, name)

    def pods(self, name: str) -> tuple[str, ...]:
        """Return the pods that a name means: one, or all replicas of a template."""
        return pods_meant(name, self._pods)

    def devices(self, plugin: str, devices: DeviceList) -> tuple[Device, ...]:
        """Return the devices that a plugin reports with this list."""
        owner = next(one for one in self._spec.plugins if one.name == plugin)
        return _devices(self._spec, owner, devices)

    def file(self, path: str) -> bytes:
        """Return the content of a file that the scenario names."""
        return self._files[path]
