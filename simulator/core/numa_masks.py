"""Sets of NUMA nodes as integers: node n is bit n, as in the kubelet's bitmask package.

Hints are computed and merged during admission, where integer masks cost a fraction of sets. Ids
outside 0 to 63 have no bit and belong to no mask (S7.17).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from simulator.core.devices import NumaNode

NUMA_NODES_MAX: Final = 64
"""Number of NUMA node ids that a mask can hold: 0 to 63."""


def mask_of(nodes: Iterable[NumaNode]) -> int:
    """Return the mask of `nodes`; ids that have no bit are left out."""
    mask = 0
    for node in nodes:
        if 0 <= node < NUMA_NODES_MAX:
            mask |= 1 << node
    return mask


def nodes_of(mask: int) -> tuple[NumaNode, ...]:
    """Return the nodes of `mask`, ascending."""
    nodes: list[NumaNode] = []
    while mask:
        lowest = mask & -mask
        nodes.append(NumaNode(lowest.bit_length() - 1))
        mask ^= lowest
    return tuple(nodes)
