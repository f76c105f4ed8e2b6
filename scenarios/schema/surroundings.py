"""What a step's action needs to know of the scenario around it."""

from __future__ import annotations

from abc import abstractmethod
from typing import Protocol

from scenarios.schema.devices import DeviceList
from scenarios.schema.fields import Model
from simulator.core.devices import Device
from simulator.core.instants import Duration
from simulator.core.transitions import NodeName
from simulator.engine.actions import Action


class Surroundings(Protocol):
    """The scenario that a step stands in."""

    def node(self, name: str | None) -> NodeName:
        """Return the node of this name, or the only one."""
        ...

    def pods(self, name: str) -> tuple[str, ...]:
        """Return the pods that a name means: one, or all replicas of a template."""
        ...

    def devices(self, plugin: str, devices: DeviceList) -> tuple[Device, ...]:
        """Return the devices that a plugin reports with this list."""
        ...

    def file(self, path: str) -> bytes:
        """Return the content of a file that the scenario names."""
        ...


class ActionModel(Model):
    """One action of a step."""

    @property
    def span(self) -> Duration:
        """How long it takes by its own words; 0 where that is up to the cluster."""
        return Duration(0)

    @abstractmethod
    def engine_action(self, surroundings: Surroundings) -> Action:
        """Return the action as the engine takes it."""
