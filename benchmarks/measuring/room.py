"""Where a pod finds room: the devices that each node has left for the pods that come.

A scheduler that only counts, as the engine's own does, but one that spreads: nodes with room are
tried in random order, from a seed.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from simulator.core.resources import ResourceName
from simulator.core.transitions import NodeName

_TRIES: Final = 8
"""Random nodes that are tried before all are looked at in order."""


class Room:
    """The devices that are left on each node.

    Args:
        nodes: The nodes.
        devices: On each of them at the start, by resource.
        serves: Tells whether a node takes pods now.
        chance: Which node is tried first.
    """

    def __init__(
        self,
        nodes: Sequence[NodeName],
        devices: Mapping[ResourceName, int],
        serves: Callable[[NodeName], bool],
        chance: random.Random,
    ) -> None:
        self._nodes = nodes
        self._left = {node: dict(devices) for node in nodes}
        self._serves = serves
        self._chance = chance
        self._total = sum(devices.values()) * len(nodes)
        self._held = 0

    @property
    def utilization(self) -> float:
        """The share of devices that pods hold or wait for."""
        return self._held / self._total if self._total else 1.0

    def find(self, wanted: Mapping[ResourceName, int]) -> NodeName | None:
        """Return a node with room; None when there is none."""
        count = len(self._nodes)
        for _ in range(min(_TRIES, count)):
            node = self._nodes[self._chance.randrange(count)]
            if self.has(node, wanted):
                return node
        first = self._chance.randrange(count)
        for index in range(count):
            node = self._nodes[(first + index) % count]
            if self.has(node, wanted):
                return node
        return None

    def has(self, node: NodeName, wanted: Mapping[ResourceName, int]) -> bool:
        """Tell whether a node serves and has these devices left."""
        left = self._left[node]
        fits = all(left.get(resource, 0) >= number for resource, number in wanted.items())
        return fits and self._serves(node)

    def take(self, node: NodeName, wanted: Mapping[ResourceName, int]) -> None:
        """Take devices of a node."""
        self._change(node, wanted, -1)

    def give_back(self, node: NodeName, wanted: Mapping[ResourceName, int]) -> None:
        """Give devices of a node back."""
        self._change(node, wanted, 1)

    def _change(self, node: NodeName, wanted: Mapping[ResourceName, int], sign: int) -> None:
        left = self._left[node]
        for resource, number in wanted.items():
            left[resource] = left.get(resource, 0) + sign * number
            self._held -= sign * number
