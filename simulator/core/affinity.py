"""Which free devices are on the NUMA nodes that the topology manager chose (S3.19).

Only classification is decided here; which devices of a group are given is the allocation's choice.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from simulator.core.behavior import Behavior
from simulator.core.devices import NO_NUMA_NODE, Device, DeviceId, DeviceInstances, NumaNode

NodeOrder = Callable[[Sequence[NumaNode]], Sequence[NumaNode]]
"""The order in which a kubelet without node order looks at nodes (`Choices.order_nodes`)."""


@dataclass(frozen=True, slots=True)
class AlignedDevices:
    """Free devices in three disjoint groups, by node and then in the order they were given.

    Attributes:
        aligned: On a node of the hint.
        unaligned: On other nodes only.
        no_affinity: Without NUMA node, or all of them when alignment does not apply.
    """

    aligned: tuple[DeviceId, ...]
    unaligned: tuple[DeviceId, ...]
    no_affinity: tuple[DeviceId, ...]


def cares_about_topology(devices: Iterable[Device], behavior: Behavior) -> bool:
    """Tell whether a resource takes part in alignment: some device names a NUMA node (S7.3).

    In 1.20.2 a topology message without nodes is enough (1.20.2/DIFFERENCES 13).
    """
    if behavior.empty_topology_counts:
        return any(device.topology is not None for device in devices)
    return any(device.topology for device in devices)


def split_by_affinity(
    available: Iterable[DeviceId],
    *,
    affinity: int | None,
    devices: DeviceInstances,
    behavior: Behavior,
    node_order: NodeOrder,
) -> AlignedDevices:
    """Sort free devices into aligned, unaligned and without topology.

    Aligned devices are given first, because the topology manager has already promised them. A
    device on a node of the mask and on another one is aligned; before the sort by node was
    repaired, chance decided that (1.20.2/DIFFERENCES 12) and `node_order` is asked.

    Args:
        available: Free, healthy devices of one resource, sorted.
        affinity: The mask of the stored hint; None without one.
        devices: All devices of the resource, the available ones among them.
        behavior: The kubelet version's switches.
        node_order: Consulted under `node_order_is_arbitrary` only.

    Kubelet: filterByAffinity. Differs: ties are broken by node, then device id.
    """
    if affinity is None or not cares_about_topology(devices.values(), behavior):
        return AlignedDevices((), (), tuple(available))
    by_node: dict[NumaNode, dict[DeviceId, None]] = {}
    for device in available:
        for node in devices[device].numa_nodes or (NO_NUMA_NODE,):
            by_node.setdefault(node, {})[device] = None
    groups: tuple[list[DeviceId], list[DeviceId], list[DeviceId]] = ([], [], [])
    given: set[DeviceId] = set()
    for node in _ordered(
        by_node, affinity, node_order if behavior.node_order_is_arbitrary else None
    ):
        group = groups[_rank(node, affinity)]
        for device in by_node[node]:
            if device not in given:
                given.add(device)
                group.append(device)
    aligned, unaligned, no_affinity = groups
    return AlignedDevices(tuple(aligned), tuple(unaligned), tuple(no_affinity))


def _rank(node: NumaNode, affinity: int) -> int:
    """Return 0 for a node of the mask, 2 for no node, 1 for any other."""
    if node == NO_NUMA_NODE:
        return 2
    return 0 if node >= 0 and affinity >> node & 1 else 1


def _ordered(
    by_node: Mapping[NumaNode, Collection[DeviceId]], affinity: int, node_order: NodeOrder | None
) -> Sequence[NumaNode]:
    if node_order is not None:
        return node_order(sorted(by_node))
    return sorted(by_node, key=lambda node: (_rank(node, affinity), len(by_node[node]), node))
