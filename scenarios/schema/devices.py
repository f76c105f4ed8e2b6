"""Lists of devices as a scenario writes them: a count, ids, or devices one by one."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import BeforeValidator, Field, model_validator

from scenarios.files.phrases import found
from scenarios.schema.fields import DeviceIdText, Items, Model, Wording
from simulator.core.devices import HEALTHY, Device, DeviceId, NumaNode

DEVICES_MAX = 20_000
"""Most devices of one plugin in a scenario."""
NUMA_NODES_MAX = 1024
"""NUMA nodes of devices are below this number."""


def _numa(value: object) -> tuple[int, ...] | str | None:
    if value is None or value == "spread":
        return None if value is None else "spread"
    nodes = value if isinstance(value, list) else [value]
    if all(type(node) is int and 0 <= node < NUMA_NODES_MAX for node in nodes):
        return tuple(nodes)
    reason = f"wants spread, a NUMA node or a list of them, found {found(value)}"
    raise ValueError(reason)


Numa = Annotated[
    tuple[int, ...] | str | None,
    BeforeValidator(_numa),
    Wording("spread, NUMA node or list of NUMA nodes"),
]


class OneDevice(Model):
    """One device."""

    id: DeviceIdText
    """Its id."""
    health: str = HEALTHY
    """What the plugin says; anything but `Healthy` is unhealthy (S1.5)."""
    numa: Numa = None
    """Its NUMA nodes; left out: no topology message."""


class DeviceList(Model):
    """A complete list of devices. One of `count`, `ids` and `each`."""

    count: Annotated[int, Field(ge=0, le=DEVICES_MAX)] | None = None
    """So many devices, with ids made of the prefix and a number from 0."""
    prefix: str | None = None
    """Start of the ids that `count` makes; left out: the plugin's name and a dash."""
    ids: Annotated[Items[DeviceIdText], Field(max_length=DEVICES_MAX)] | None = None
    """Devices with these ids."""
    each: Annotated[Items[OneDevice], Field(max_length=DEVICES_MAX)] | None = None
    """Devices one by one."""
    unhealthy: Items[DeviceIdText] = ()
    """Ids among them that are reported as Unhealthy."""
    numa: Numa = None
    """NUMA nodes of every device: `spread` deals them out over the node's, one after the other."""

    @model_validator(mode="after")
    def _has_one_form(self) -> Self:
        forms = [form for form in (self.count, self.ids, self.each) if form is not None]
        if len(forms) != 1:
            reason = f'wants one of "count", "ids" and "each", found {len(forms)} of them'
            raise ValueError(reason)
        ids = self._ids("")
        if len(ids) != len(set(ids)):
            reason = "one device id stands in the list twice"
            raise ValueError(reason)
        return self

    def _ids(self, prefix: str) -> list[str]:
        if self.each is not None:
            return [device.id for device in self.each]
        if self.ids is not None:
            return list(self.ids)
        start = self.prefix if self.prefix is not None else prefix
        return [f"{start}{index}" for index in range(self.count or 0)]

    def ids_of(self, plugin: str) -> tuple[str, ...]:
        """Return the ids of the devices; the plugin's name begins those that `count` makes."""
        return tuple(self._ids(f"{plugin}-"))

    def devices(self, *, plugin: str, numa_nodes: int) -> tuple[Device, ...]:
        """Return the devices that the plugin reports.

        Args:
            plugin: Its name, the start of the ids that `count` makes.
            numa_nodes: Number of NUMA nodes over which `spread` deals.
        """
        if self.each is not None:
            return tuple(
                Device(
                    DeviceId(device.id),
                    "Unhealthy" if device.id in self.unhealthy else device.health,
                    _topology(device.numa, index, numa_nodes),
                )
                for index, device in enumerate(self.each)
            )
        return tuple(
            Device(
                DeviceId(device),
                "Unhealthy" if device in self.unhealthy else HEALTHY,
                _topology(self.numa, index, numa_nodes),
            )
            for index, device in enumerate(self.ids_of(plugin))
        )


def _topology(
    numa: tuple[int, ...] | str | None, index: int, numa_nodes: int
) -> tuple[NumaNode, ...] | None:
    if numa is None:
        return None
    if isinstance(numa, str):
        return (NumaNode(index % max(numa_nodes, 1)),)
    return tuple(NumaNode(node) for node in numa)
