"""What a plugin can say of a device's NUMA nodes, under every policy (R100, S7.3, S7.16)."""

from __future__ import annotations

from itertools import product

import pytest

from simulator.core.machine import Machine, TopologyOptions, TopologyPolicy
from simulator.core.switches import behavior_for
from tests.core.driving import GPU, Rig, device, pod

STRICT = {TopologyPolicy.RESTRICTED, TopologyPolicy.SINGLE_NUMA_NODE}
MESSAGES = {"absent": None, "without nodes": [], "node 0": [0], "both nodes": [0, 1]}
VERSIONS = ["1.20.2", "1.24.17", "1.25.0", "1.36.2"]


@pytest.mark.parametrize(
    ("version", "policy", "message"), list(product(VERSIONS, TopologyPolicy, MESSAGES))
)
def test_only_old_kubelets_refuse_a_message_without_nodes_and_only_under_strict_policies(
    version: str, policy: TopologyPolicy, message: str
) -> None:
    rig = Rig(
        behavior=behavior_for(version),
        machine=Machine.with_nodes(2),
        topology=TopologyOptions(policy=policy),
    )
    rig.plug(GPU, device("g0", nodes=MESSAGES[message]))
    admission = rig.admit(pod("p1", {GPU: 1}))
    old = version in {"1.20.2", "1.24.17"}

    assert admission.admitted is not (old and message == "without nodes" and policy in STRICT)
    assert admission.reason in {"", "TopologyAffinityError"}
