"""What steps do to pods and plugins, as written in the file and as the engine takes it."""

from __future__ import annotations

from pydantic import Field
from typing_extensions import override

from scenarios.schema.devices import DeviceList
from scenarios.schema.fields import DeviceIdText, GoDuration, Items, Name, Resource
from scenarios.schema.surroundings import ActionModel, Surroundings
from simulator.core.devices import DeviceId
from simulator.core.instants import Duration
from simulator.core.pods import ContainerName
from simulator.core.transitions import NodeName
from simulator.engine import actions


class CreatePod(ActionModel):
    """Create a pod. Done when it is admitted and started, or refused."""

    name: Name
    """A pod of spec.pods, or a template there: all its replicas, one after the other."""
    node: Name | None = None
    """The node to which it is bound; left out: the pod's own, else the scheduler chooses."""
    compute_devices: dict[Name, dict[Resource, Items[DeviceIdText]]] = Field(default_factory=dict)
    """Devices that its spec names from the beginning, by container and resource, as a scheduler
    that knows devices would write them."""

    @override
    def engine_action(self, surroundings: Surroundings) -> actions.Action:
        names = surroundings.pods(self.name)
        node = NodeName(self.node) if self.node else None
        assigned = tuple(
            ((ContainerName(container), resource), tuple(map(DeviceId, ids)))
            for container, resources in self.compute_devices.items()
            for resource, ids in resources.items()
        )
        if len(names) == 1:
            return actions.CreatePod(names[0], node, assigned)
        return actions.CreatePods(names, node, assigned)


class DeletePod(ActionModel):
    """Delete a pod. Done when it is gone from the API."""

    name: Name
    """The pod."""
    force: bool = False
    """Whether it vanishes at once, although its containers may still run (S6.5)."""

    @override
    def engine_action(self, surroundings: Surroundings) -> actions.Action:
        del surroundings
        return actions.DeletePod(self.name, self.force)


class FinishPod(ActionModel):
    """All containers of a pod exit."""

    name: Name
    """The pod."""
    succeeded: bool = True
    """Whether the phase becomes Succeeded; else Failed."""

    @override
    def engine_action(self, surroundings: Surroundings) -> actions.Action:
        del surroundings
        return actions.FinishPod(self.name, self.succeeded)


class RestartContainer(ActionModel):
    """A container exits and is started in place. Done when it runs or waits with an error."""

    pod: Name
    """The pod."""
    container: Name
    """The container."""

    @override
    def engine_action(self, surroundings: Surroundings) -> actions.Action:
        del surroundings
        return actions.RestartContainer(self.pod, self.container)


class PluginAction(ActionModel):
    """What happens to a plugin."""

    name: Name
    """A plugin of spec.plugins."""


class StartPlugin(PluginAction):
    """A plugin starts and registers. Done with its first list of devices."""

    @override
    def engine_action(self, surroundings: Surroundings) -> actions.Action:
        del surroundings
        return actions.StartPlugin(self.name)


class StopPlugin(PluginAction):
    """A plugin ends and does not come back by itself."""

    @override
    def engine_action(self, surroundings: Surroundings) -> actions.Action:
        del surroundings
        return actions.StopPlugin(self.name)


class CrashPlugin(PluginAction):
    """A plugin's process dies."""

    restart_after: GoDuration | None = None
    """When it is started again; left out: never."""

    @override
    def engine_action(self, surroundings: Surroundings) -> actions.Action:
        del surroundings
        return actions.CrashPlugin(self.name, self.restart_after)


class HangPlugin(PluginAction):
    """Calls to a plugin are not answered."""

    duration: GoDuration | None = None
    """For how long; left out: for good."""

    @override
    def engine_action(self, surroundings: Surroundings) -> actions.Action:
        del surroundings
        return actions.HangPlugin(self.name, self.duration)


class ReportDevices(PluginAction):
    """A plugin sends a new, complete list of devices (S1.17)."""

    devices: DeviceList
    """The list."""

    @override
    def engine_action(self, surroundings: Surroundings) -> actions.Action:
        devices = surroundings.devices(self.name, self.devices)
        return actions.ReportDevices(self.name, devices)


class BreakStream(PluginAction):
    """A plugin's ListAndWatch stream breaks while the plugin lives on (S1.22)."""

    @override
    def engine_action(self, surroundings: Surroundings) -> actions.Action:
        del surroundings
        return actions.BreakStream(self.name)


class Advance(ActionModel):
    """Nothing but time passes."""

    duration: GoDuration
    """How much."""

    @property
    @override
    def span(self) -> Duration:
        return self.duration

    @override
    def engine_action(self, surroundings: Surroundings) -> actions.Action:
        del surroundings
        return actions.Advance(self.duration)
