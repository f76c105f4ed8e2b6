"""What a schema cannot say: names that must exist, be unique, and come in order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from scenarios.files.documents import Document, Path
from scenarios.files.phrases import nearest
from scenarios.loading.matrix import combinations, selects
from scenarios.loading.pod_names import pods_meant, replaced_pod
from scenarios.schema import node_steps, pod_steps
from scenarios.schema.devices import DeviceList
from scenarios.schema.problems import say
from scenarios.schema.scenario import Scenario
from simulator.core.pods import Pod
from simulator.engine.spec import Controller, PodSpec


@dataclass(frozen=True, slots=True)
class Names:
    """The names that a scenario declares.

    Attributes:
        containers: Each pod's.
        described: The pods that have a manifest in `spec.pods`.
        controlled: Those of them that a controller replaces.
    """

    nodes: tuple[str, ...]
    plugins: tuple[str, ...]
    containers: Mapping[str, Sequence[str]]
    described: AbstractSet[str]
    controlled: AbstractSet[str]
    steps: tuple[str, ...]

    @property
    def pods(self) -> Iterable[str]:
        """The pods, those of checkpoints too."""
        return self.containers


def check_references(
    document: Document, scenario: Scenario, pods: Sequence[PodSpec], known: Sequence[Pod]
) -> None:
    """Check all names of a scenario.

    Args:
        document: Where they stand.
        scenario: The scenario.
        pods: Those of its manifests.
        known: Those of its nodes' checkpoints.

    Raises:
        ScenarioError: A name is unknown or used twice, or a row is meant for no combination.
    """
    spec = scenario.spec
    names = Names(
        tuple(node.name for node in spec.nodes),
        tuple(plugin.name for plugin in spec.plugins),
        {
            pod.name: [one.name for one in (*pod.init_containers, *pod.containers)]
            for pod in (*(one.pod for one in pods), *known)
        },
        {pod.name for pod in pods},
        {pod.name for pod in pods if pod.controller is not Controller.NONE},
        tuple(step.name for step in spec.steps),
    )
    _Check(document, names).run(scenario)


class _Check:
    """Checks the names of one document."""

    def __init__(self, document: Document, names: Names) -> None:
        self._document = document
        self._names = names

    def run(self, scenario: Scenario) -> None:
        self._unique("nodes", self._names.nodes)
        self._unique("plugins", self._names.plugins)
        self._unique("steps", self._names.steps)
        self._known_pods(scenario)
        self._plugins(scenario)
        self._steps(scenario)
        self._expectations(scenario)

    def _unique(self, key: str, names: Sequence[str]) -> None:
        for index, name in enumerate(names):
            if name in names[:index]:
                path = ("spec", key, index, "name")
                raise self._document.fault(path, say(path, f'a second one of the name "{name}"'))

    def _known_pods(self, scenario: Scenario) -> None:
        """Check that the pods of the nodes' checkpoints have names and uids of their own."""
        names, uids = {*self._names.described}, set[str]()
        for index, node in enumerate(scenario.spec.nodes):
            for number, pod in enumerate(node.pods):
                path: Path = ("spec", "nodes", index, "pods", number)
                for key, value, taken in (("name", pod.name, names), ("uid", pod.uid, uids)):
                    if value in taken:
                        reason = f'a second pod of the {key} "{value}"'
                        raise self._document.fault((*path, key), say((*path, key), reason))
                    taken.add(value)

    def _devices(self, path: Path, plugin: str, devices: DeviceList | None) -> None:
        """Check that what is reported as unhealthy is reported."""
        if devices is not None and devices.unhealthy:
            known = dict.fromkeys(devices.ids_of(plugin))
            for index, device in enumerate(devices.unhealthy):
                if device not in known:
                    where = (*path, "unhealthy", index)
                    self._known(where, device, "device in this list named", known)

    def _known(self, path: Path, name: str | None, what: str, known: Iterable[str]) -> None:
        names = tuple(known)
        if name is not None and name not in names:
            reason = f'there is no {what} "{name}"{nearest(name, names)}'
            raise self._document.fault(path, say(path, reason))

    def _pod(self, path: Path, name: str | None) -> None:
        """Check the name of a pod, which may be a replacement by a controller."""
        names = self._names
        if name is not None and (
            name in names.containers or replaced_pod(name, names.controlled) is None
        ):
            self._known(path, name, "pod", names.pods)

    def _node(self, path: Path, name: str | None) -> None:
        self._known(path, name, "node", self._names.nodes)
        if name is None and len(self._names.nodes) > 1:
            reason = f'the key "node" is missing; nodes are {", ".join(self._names.nodes)}'
            raise self._document.fault(path[:-1], say(path[:-1], reason))

    def _plugins(self, scenario: Scenario) -> None:
        for index, plugin in enumerate(scenario.spec.plugins):
            path: Path = ("spec", "plugins", index)
            self._node((*path, "node"), plugin.node)
            self._devices((*path, "devices"), plugin.name, plugin.devices)
            self._devices((*path, "devicesAfterReboot"), plugin.name, plugin.devices_after_reboot)
        for index, pod in enumerate(scenario.spec.pods):
            path = ("spec", "pods", index, "node")
            self._known(path, pod.node, "node", self._names.nodes)

    def _steps(self, scenario: Scenario) -> None:
        for index, step in enumerate(scenario.spec.steps):
            path: Path = ("spec", "steps", index)
            earlier = self._names.steps[:index]
            self._known((*path, "after"), step.after, "step before this one", earlier)
            where = (*path, step.action_key)
            match step.action:
                case node_steps.NodeAction() as action:
                    key = "name" if action.name else "node"
                    self._node((*where, key), action.node_name)
                case pod_steps.CreatePod() as action:
                    self._known((*where, "node"), action.node, "node", self._names.nodes)
                    if not pods_meant(action.name, self._names.pods):
                        self._known((*where, "name"), action.name, "pod", self._names.pods)
                case pod_steps.DeletePod() | pod_steps.FinishPod() as action:
                    self._pod((*where, "name"), action.name)
                case pod_steps.RestartContainer() as action:
                    self._pod((*where, "pod"), action.pod)
                    own = replaced_pod(action.pod, self._names.controlled) or action.pod
                    containers = self._names.containers[own]
                    what = f'container of pod "{action.pod}" named'
                    self._known((*where, "container"), action.container, what, containers)
                case pod_steps.PluginAction() as action:
                    self._known((*where, "name"), action.name, "plugin", self._names.plugins)
                    if isinstance(action, pod_steps.ReportDevices):
                        self._devices((*where, "devices"), action.name, action.devices)

    def _expectations(self, scenario: Scenario) -> None:
        runs = combinations(scenario.spec)
        for index, row in enumerate(scenario.spec.expect):
            path: Path = ("spec", "expect", index)
            self._known((*path, "after"), row.after, "step", self._names.steps)
            self._pod((*path, "pod"), row.pod)
            self._known((*path, "plugin"), row.plugin, "plugin", self._names.plugins)
            if row.subject() == "node":
                self._node((*path, "node"), row.node)
            event_pod = row.event.pod if row.event is not None else None
            self._pod((*path, "event", "pod"), event_pod)
            for resource, holders in (row.holdings or {}).items():
                for device, pod in holders.items():
                    place = (*path, "holdings", resource, device)
                    self._pod(place, pod)
            if not any(selects(row, run) for run in runs):
                labels = ", ".join(run.label for run in runs)
                reason = f"no combination of this scenario selects the row; there are: {labels}"
                raise self._document.fault(path, say(path, reason))
