"""NUMA nodes: what hints are given and how they are merged."""

from __future__ import annotations

from typing import Final

from simulator.core.behavior import HintNodes
from simulator.core.switch_rows.row import UNNAMED, Switch, change

# fmt: off
ROWS: Final[tuple[Switch, ...]] = (
    Switch(
        "device_topology_known",
        "the NUMA nodes of a device are looked at",
        "S1.7", first=False, changes=(
        change("1.16.0", "S1.7 [?]", value=True),
    )),
    Switch(
        "recorded_devices_hinted",
        "a pod that is admitted again gets hints for the devices that it has",
        "issue 84479", first=False, changes=(
        change("1.17.0", "PR 84525", value=True),
    )),
    Switch(
        "empty_topology_counts",
        "a topology without nodes makes a resource take part in alignment",
        "1.20.2 list 13", first=True, changes=(
        change("1.25.0", UNNAMED, value=False),
    )),
    Switch(
        "hint_nodes",
        "NUMA nodes over which hints are given",
        "S7.6", first=HintNodes.MACHINE, changes=(
        change("1.36.0", "PR 138244", value=HintNodes.DEVICE_BEARING),
    )),
    Switch(
        "sidecars_in_pod_request",
        "in scope `pod` sidecars are counted as running beside the other containers",
        "1.20.2 list 15", first=False, changes=(
        change("1.29.0", "details 1", value=True),
    )),
    Switch(
        "merge_needs_equal_masks",
        "a merged hint is preferred only when all resources are on the same nodes",
        "1.20.2 list 16", first=False, changes=(
        change("1.25.0", UNNAMED, value=True),
    )),
    Switch(
        "node_order_is_arbitrary",
        "chance decides whether a device on several NUMA nodes counts as aligned",
        "1.20.2 list 12", first=True, changes=(
        change("1.25.0", UNNAMED, value=False),
    )),
)
# fmt: on
