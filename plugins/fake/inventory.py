"""The devices of a fake plugin: how many, what they are called, on which NUMA nodes they are."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from simulator.core.devices import Device, DeviceId, NumaNode


class IdStyle(Enum):
    """What ids look like: `gpu-0`, or `GPU-1f0a7c3e-52b4-4d19-9e6a-0c8d3b7a51e0`."""

    INDEX = "index"
    UUID = "uuid"


class NumaLayout(Enum):
    """How devices are laid out on NUMA nodes.

    Spread deals them out one after the other, blocks gives each node a run of them; under `all`
    every device is near every node, and under `empty` its topology message names none (R100).
    """

    SPREAD = "spread"
    BLOCKS = "blocks"
    ALL = "all"
    EMPTY = "empty"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceLayout:
    """The devices of one resource.

    Attributes:
        count: How many pieces of hardware there are.
        replicas: How many devices each one is shared as; with more than one, ids end in `::N`.
        numa_nodes: On how many NUMA nodes the devices are; 0 for devices without topology.
        seed: What UUIDs are made from, together with the resource's name.
    """

    count: int = 8
    id_style: IdStyle = IdStyle.INDEX
    replicas: int = 1
    numa_nodes: int = 0
    numa_layout: NumaLayout = NumaLayout.SPREAD
    seed: int = 0

    def devices(self, resource: str) -> tuple[Device, ...]:
        """Return the devices of a resource, all healthy; the same ones each time."""
        kind = resource.rpartition("/")[2]
        return tuple(
            Device(DeviceId(id_), topology=self._topology(index))
            for index in range(self.count)
            for id_ in self._shares(self._id(resource, kind, index))
        )

    def _id(self, resource: str, kind: str, index: int) -> str:
        if self.id_style is IdStyle.INDEX:
            return f"{kind}-{index}"
        digest = hashlib.sha256(f"{self.seed}/{resource}/{index}".encode()).hexdigest()
        parts = (digest[:8], digest[8:12], f"4{digest[12:15]}", f"a{digest[15:18]}", digest[18:30])
        return f"{kind.upper()}-{'-'.join(parts)}"

    def _shares(self, id_: str) -> Sequence[str]:
        return (
            [id_] if self.replicas == 1 else [f"{id_}::{share}" for share in range(self.replicas)]
        )

    def _topology(self, index: int) -> tuple[NumaNode, ...] | None:
        if self.numa_layout is NumaLayout.EMPTY:
            return ()
        if not self.numa_nodes:
            return None
        if self.numa_layout is NumaLayout.ALL:
            return tuple(NumaNode(node) for node in range(self.numa_nodes))
        if self.numa_layout is NumaLayout.BLOCKS:
            return (NumaNode(index * self.numa_nodes // self.count),)
        return (NumaNode(index % self.numa_nodes),)
