"""How close two GPUs are, as NVML tells it: NVLink first, then what lies between them on PCI.

A number per pair, higher is closer; only the order has a meaning. GPUs joined by NVLink, whether
directly or through a switch, are closer than any two that are not, and more links between two GPUs
are better than fewer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from itertools import combinations
from typing import Final, TypeVar

import pynvml

from plugins.nvml.gpus import Pair
from plugins.nvml.library import Handle, NvmlError, answered

T = TypeVar("T")

_PCI_CLOSENESS: Final = {
    pynvml.NVML_TOPOLOGY_INTERNAL: 60,
    pynvml.NVML_TOPOLOGY_SINGLE: 50,
    pynvml.NVML_TOPOLOGY_MULTIPLE: 40,
    pynvml.NVML_TOPOLOGY_HOSTBRIDGE: 30,
    pynvml.NVML_TOPOLOGY_NODE: 20,
    pynvml.NVML_TOPOLOGY_SYSTEM: 10,
}
"""On one board; one switch, several switches, one host bridge between them; one NUMA node; none."""
_NVLINK_CLOSENESS: Final = 100


def closeness_of(handles: Mapping[int, Handle]) -> dict[Pair, int]:
    """Return the closeness of each pair of GPUs about which NVML says something.

    Args:
        handles: pynvml's handles by GPU index.
    """
    links = _links_between(handles)
    closeness: dict[Pair, int] = {}
    for pair in combinations(sorted(handles), 2):
        ends = [handles[index] for index in pair]
        level = _asked(pynvml.nvmlDeviceGetTopologyCommonAncestor, *ends)
        linked = max(links[pair], int(_are_switched(*ends)))
        value = _PCI_CLOSENESS.get(level, 0) + _NVLINK_CLOSENESS * linked
        if value:
            closeness[pair] = value
    return closeness


def _links_between(handles: Mapping[int, Handle]) -> Counter[Pair]:
    """Count the active NVLinks between each two GPUs."""
    index_of_bus: dict[str, int] = {}
    for index, handle in handles.items():
        pci = _asked(pynvml.nvmlDeviceGetPciInfo, handle)
        if pci is not None:
            index_of_bus[pci.busId] = index
    links: Counter[Pair] = Counter()
    for index, handle in handles.items():
        for link in range(pynvml.NVML_NVLINK_MAX_LINKS):
            active = _asked(pynvml.nvmlDeviceGetNvLinkState, handle, link)
            if active is None:
                break
            remote = _asked(pynvml.nvmlDeviceGetNvLinkRemotePciInfo, handle, link)
            peer = index_of_bus.get(remote.busId) if active and remote is not None else None
            if peer is not None and index < peer:
                # The other end counts the same link once more.
                links[index, peer] += 1
    return links


def _are_switched(one: Handle, other: Handle) -> bool:
    """Tell whether two GPUs reach each other by NVLink at all, be it through a switch."""
    status = _asked(pynvml.nvmlDeviceGetP2PStatus, one, other, pynvml.NVML_P2P_CAPS_INDEX_NVLINK)
    return bool(status == pynvml.NVML_P2P_STATUS_OK)


def _asked(question: Callable[..., T], *arguments: object) -> T | None:
    """Ask NVML; a GPU that is lost while asked has no neighbors."""
    try:
        return answered(question, *arguments)
    except NvmlError:
        return None
