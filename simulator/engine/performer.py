"""Performs actions on a simulated cluster and tells when each is complete."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from simulator.core.instants import Instant, after
from simulator.core.pods import Pod
from simulator.core.resource_bindings import bind, bound_devices, told
from simulator.core.transitions import NodeName
from simulator.engine import actions
from simulator.engine.actions import Action
from simulator.engine.api_objects import ApiPod
from simulator.engine.cluster import Cluster
from simulator.engine.faults import Fault, FaultKind, Op
from simulator.engine.node import Node
from simulator.engine.plugin_ports import InstalledPlugin
from simulator.engine.pod_factory import PodFactory
from simulator.errors import ScenarioError

Completed = Callable[[], bool]
"""Tells whether an action is complete."""


def at_once() -> bool:
    """Tell that an action is complete when it is performed."""
    return True


class Performer:
    """Turns each action into what happens."""

    def __init__(
        self,
        cluster: Cluster,
        nodes: Mapping[NodeName, Node],
        plugins: Mapping[str, InstalledPlugin],
        factory: PodFactory,
    ) -> None:
        self._timeline = cluster.timeline
        self._api = cluster.api
        self._effects = cluster.effects
        self._behaviors = cluster.run.behaviors
        self._pod_specs = {pod.name: pod for pod in cluster.run.pods}
        self._nodes = nodes
        self._plugins = plugins
        self._factory = factory
        self._outages: dict[NodeName, Instant] = {}

    def perform(self, action: Action) -> Completed:
        """Perform `action` now; return how to tell that it is complete.

        Raises:
            ScenarioError: It names a pod, plugin or node that is not there.
            ConfigError: It names a kubelet version that is not known.
        """
        match action:
            case actions.Advance(duration):
                end = after(self._timeline.now(), duration)
                self._timeline.call_at(end, lambda: None)
                return lambda: self._timeline.now() >= end
            case actions.ApiOutage(node, duration):
                return self._cut_off(self._node(node), duration)
            case (
                actions.CreatePod()
                | actions.CreatePods()
                | actions.DeletePod()
                | actions.FinishPod()
                | actions.RestartContainer()
            ):
                return self._perform_on_pod(action)
            case (
                actions.StartPlugin()
                | actions.StopPlugin()
                | actions.CrashPlugin()
                | actions.HangPlugin()
                | actions.ReportDevices()
                | actions.BreakStream()
            ):
                return self._perform_on_plugin(action, self._plugin(action.name))
            case (
                actions.CheckpointFile()
                | actions.DatabaseFile()
                | actions.DiskFull()
                | actions.SlowDisk()
            ):
                return self._perform_on_disk(action, self._node(action.node))
            case _:
                return self._perform_on_node(action, self._node(action.node))

    def _perform_on_pod(
        self,
        action: actions.CreatePod
        | actions.CreatePods
        | actions.DeletePod
        | actions.FinishPod
        | actions.RestartContainer,
    ) -> Completed:
        match action:
            case actions.CreatePod(name, node, assigned):
                return self._create(name, node, assigned)
            case actions.CreatePods(names, node, assigned):
                return _all_of([self._create(name, node, assigned) for name in names])
            case actions.DeletePod(name, force):
                return self._delete(self._pod(name), force=force)
            case actions.FinishPod(name, succeeded):
                return self._finish(self._pod(name), succeeded=succeeded)
            case actions.RestartContainer(name, container):
                return self._restart_container(self._pod(name), container)

    def _perform_on_plugin(
        self,
        action: actions.StartPlugin
        | actions.StopPlugin
        | actions.CrashPlugin
        | actions.HangPlugin
        | actions.ReportDevices
        | actions.BreakStream,
        plugin: InstalledPlugin,
    ) -> Completed:
        match action:
            case actions.StartPlugin():
                plugin.start()
                return lambda: plugin.listed or plugin.failed
            case actions.StopPlugin():
                plugin.stop()
            case actions.CrashPlugin(_, restart_after):
                self._nodes[plugin.spec.node].crash_plugin(plugin, restart_after)
            case actions.HangPlugin(_, duration):
                plugin.hang(duration)
                return at_once
            case actions.ReportDevices(_, devices):
                plugin.report(devices)
            case actions.BreakStream():
                plugin.break_stream()
        return lambda: plugin.settled

    def _perform_on_node(
        self,
        action: actions.RestartKubelet
        | actions.CrashKubelet
        | actions.UpgradeKubelet
        | actions.Migrate
        | actions.RebootNode
        | actions.RecreateNode
        | actions.PowerCut
        | actions.FailEffect,
        node: Node,
    ) -> Completed:
        match action:
            case actions.RestartKubelet(_, downtime):
                node.restart_kubelet(downtime)
            case actions.CrashKubelet():
                return self._crash(node, action)
            case actions.UpgradeKubelet(_, version, downtime):
                node.restart_kubelet(downtime, behavior=self._behaviors(version))
            case actions.Migrate(_, to, downtime):
                node.migrate(to, downtime)
            case actions.RebootNode(_, downtime):
                node.reboot(downtime)
            case actions.RecreateNode(_, downtime):
                node.recreate(downtime)
            case actions.PowerCut():
                return self._cut_power(node, action)
            case actions.FailEffect(_, effect, message, nth):
                self._plan(node, effect, Fault(FaultKind.ERROR, message=message, nth=nth))
                return at_once
        return lambda: node.settled

    def _perform_on_disk(
        self,
        action: actions.CheckpointFile | actions.DatabaseFile | actions.DiskFull | actions.SlowDisk,
        node: Node,
    ) -> Completed:
        match action:
            case actions.CheckpointFile(_, kind, content):
                node.storage.damage_checkpoint(kind, content)
            case actions.DatabaseFile(_, kind):
                node.storage.damage_database(kind)
            case actions.DiskFull(_, duration):
                node.storage.fill(duration)
            case actions.SlowDisk(_, added_fsync, duration):
                node.storage.slow_down(added_fsync, duration)
        return at_once

    def _create(self, name: str, node: NodeName | None, assigned: actions.Assigned) -> Completed:
        spec = self._pod_specs.get(name)
        if spec is None:
            message = f'"{name}" is not a pod of this run; {_known(self._pod_specs)}'
            raise ScenarioError(message)
        if node is not None:
            self._node(node)
        bound = bind(spec.pod, bound_devices(assigned))
        if not isinstance(bound, Pod):
            raise ScenarioError(told(spec.pod, bound))
        spec = replace(spec, pod=bound)
        pod = self._factory.create(spec, name=spec.name, node=node or spec.node)
        return lambda: pod.is_decided

    def _delete(self, pod: ApiPod, *, force: bool) -> Completed:
        if force:
            self._api.remove(pod.uid)
        else:
            self._api.mark_deleting(pod)
        return lambda: pod.deleted

    def _finish(self, pod: ApiPod, *, succeeded: bool) -> Completed:
        node = self._node_of(pod)
        node.runtime.finish(pod.uid, succeeded=succeeded)
        if node.kubelet is not None:
            node.kubelet.container_exited(pod.uid)
        return lambda: pod.deleted or pod.status.is_terminal

    def _restart_container(self, pod: ApiPod, container: str) -> Completed:
        node = self._node_of(pod)
        runtime = node.runtime
        old = next((each for each in runtime.running(pod.uid) if each.container == container), None)
        if old is None:
            message = f'pod "{pod.pod.name}" has no running container "{container}"'
            raise ScenarioError(message)
        restarts = pod.status.restarts
        runtime.exit(old, succeeded=False, cause="crashed")
        if node.kubelet is not None:
            node.kubelet.container_exited(pod.uid)

        def is_complete() -> bool:
            present = runtime.current(pod.uid, old.container)
            runs = present is not None and present.running and pod.status.restarts > restarts
            return runs or bool(pod.status.waiting) or pod.deleted or pod.status.is_terminal

        return is_complete

    def _cut_off(self, node: Node, duration: int) -> Completed:
        """Cut a node off from the API; of two outages the one that ends later counts."""
        end = Instant(self._timeline.now() + duration)
        self._outages[node.name] = max(end, self._outages.get(node.name, end))
        self._api.cut_off(node.name)

        def restore() -> None:
            if self._timeline.now() >= self._outages[node.name]:
                self._api.restore(node.name)

        self._timeline.call_at(end, restore)
        return at_once

    def _cut_power(self, node: Node, action: actions.PowerCut) -> Completed:
        boots = node.boots
        if action.effect is None:
            node.cut_power(action.downtime, action.loss)
        else:
            fault = Fault(FaultKind.POWER_CUT, duration=action.downtime, loss=action.loss)
            self._plan(node, action.effect, replace(fault, when=action.when, nth=action.nth))
        return lambda: node.boots > boots and node.settled

    def _crash(self, node: Node, action: actions.CrashKubelet) -> Completed:
        stops = node.stops
        if action.effect is None:
            node.crash_kubelet(action.downtime)
        else:
            fault = Fault(FaultKind.CRASH, duration=action.downtime)
            self._plan(node, action.effect, replace(fault, when=action.when, nth=action.nth))
        return lambda: node.stops > stops and node.settled

    def _plan(self, node: Node, effect: str, fault: Fault) -> None:
        self._effects.add(replace(fault, op=Op(effect), node=node.name))

    def _pod(self, name: str) -> ApiPod:
        pod = self._api.pod_named(name)
        if pod is None or pod.deleted:
            message = f'there is no pod "{name}" at this time; create it in an earlier step'
            raise ScenarioError(message)
        return pod

    def _node_of(self, pod: ApiPod) -> Node:
        if pod.node is None:
            message = f'pod "{pod.pod.name}" is on no node at this time'
            raise ScenarioError(message)
        return self._node(pod.node)

    def _plugin(self, name: str) -> InstalledPlugin:
        plugin = self._plugins.get(name)
        if plugin is None:
            message = f'"{name}" is not a plugin of this run; {_known(self._plugins)}'
            raise ScenarioError(message)
        return plugin

    def _node(self, name: NodeName) -> Node:
        node = self._nodes.get(name)
        if node is None:
            message = f'"{name}" is not a node of this run; {_known(self._nodes)}'
            raise ScenarioError(message)
        return node


def _all_of(parts: Sequence[Completed]) -> Completed:
    return lambda: all(is_complete() for is_complete in parts)


def _known(names: Mapping[str, object] | Mapping[NodeName, object]) -> str:
    return f"there are: {', '.join(names) or 'none'}"
