"""The node's NUMA layout and the topology manager's configuration.

Both are fixed for the life of a kubelet process. A machine without NUMA nodes is one of which
nothing is known; it is of use only under the policy `none`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final

from simulator.core.devices import NumaNode
from simulator.core.numa_masks import NUMA_NODES_MAX, mask_of
from simulator.errors import ConfigError

NUMA_NODES_ALLOWED: Final = 8
"""NUMA nodes with which a topology manager starts unless the option allows more (S7.11)."""


class TopologyPolicy(Enum):
    """The kubelet's `topologyManagerPolicy` (S7.10)."""

    NONE = "none"
    BEST_EFFORT = "best-effort"
    RESTRICTED = "restricted"
    SINGLE_NUMA_NODE = "single-numa-node"


class TopologyScope(Enum):
    """The kubelet's `topologyManagerScope` (S7.10)."""

    CONTAINER = "container"
    POD = "pod"


@dataclass(frozen=True, slots=True)
class Machine:
    """The NUMA nodes of a node.

    Attributes:
        numa_nodes: Ids, ascending, each from 0 to 63 (S7.17).
        distances: One row a node in the order of `numa_nodes`, one column likewise; empty when
            unknown, and then all node sets of one size are equally close.

    Raises:
        ConfigError: Ids are not ascending or not from 0 to 63, or the distances are not square.
    """

    numa_nodes: tuple[NumaNode, ...] = ()
    distances: tuple[tuple[int, ...], ...] = ()

    def __post_init__(self) -> None:
        """Refuse a layout that the kubelet could not represent."""
        nodes = self.numa_nodes
        if any(not 0 <= node < NUMA_NODES_MAX for node in nodes):
            message = f"NUMA nodes {list(nodes)} are not usable; ids from 0 to 63 are"
            raise ConfigError(message)
        if list(nodes) != sorted(set(nodes)):
            message = f"NUMA nodes {list(nodes)} are not ascending; name each id once, in order"
            raise ConfigError(message)
        if self.distances and [len(row) for row in self.distances] != [len(nodes)] * len(nodes):
            message = f"the NUMA distances are not a table of {len(nodes)} rows and columns"
            raise ConfigError(message)

    @classmethod
    def with_nodes(cls, count: int) -> Machine:
        """Return a machine with the nodes 0 to `count` - 1 and unknown distances."""
        return cls(tuple(NumaNode(node) for node in range(count)))

    @property
    def mask(self) -> int:
        """The mask of all nodes."""
        return mask_of(self.numa_nodes)

    def total_distance(self, mask: int) -> int:
        """Return the sum of the distances between all pairs of `mask`, self-distances included.

        Between masks of one size, comparing sums is comparing averages (S7.14.2).
        """
        inside = [index for index, node in enumerate(self.numa_nodes) if mask >> node & 1]
        return sum(row[column] for row in self._rows(inside) for column in inside)

    def _rows(self, indexes: list[int]) -> list[tuple[int, ...]]:
        return [self.distances[index] for index in indexes] if self.distances else []


@dataclass(frozen=True, slots=True, kw_only=True)
class TopologyOptions:
    """How the topology manager is configured.

    Attributes:
        scope: Without meaning under the policy `none`.
        prefer_closest_numa_nodes: Looked at by best-effort and restricted only (S7.14.2).
        max_allowable_numa_nodes: At least 8 (S7.11).

    Raises:
        ConfigError: `max_allowable_numa_nodes` is less than 8.
    """

    policy: TopologyPolicy = TopologyPolicy.NONE
    scope: TopologyScope = TopologyScope.CONTAINER
    prefer_closest_numa_nodes: bool = False
    max_allowable_numa_nodes: int = NUMA_NODES_ALLOWED

    def __post_init__(self) -> None:
        """Refuse an option that the kubelet refuses."""
        if self.max_allowable_numa_nodes < NUMA_NODES_ALLOWED:
            message = (
                f"max-allowable-numa-nodes is {self.max_allowable_numa_nodes}; "
                f"the least that can be allowed is {NUMA_NODES_ALLOWED}"
            )
            raise ConfigError(message)


def topology_start_error(machine: Machine, options: TopologyOptions) -> str:
    """Return the text with which the kubelet refuses to start on `machine`; empty if it starts.

    Kubelet: topologymanager.NewManager (S7.11); the policy `none` does not look at the machine.
    """
    allowed = options.max_allowable_numa_nodes
    if options.policy is TopologyPolicy.NONE or len(machine.numa_nodes) <= allowed:
        return ""
    return f"unsupported on machines with more than {allowed} NUMA Nodes"
