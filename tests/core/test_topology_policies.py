"""The tables of topologymanager's policy tests (upstream-tests 9) and S7.13 to S7.16."""

import pytest

from simulator.core.behavior import Behavior
from simulator.core.devices import NumaNode
from simulator.core.machine import Machine, TopologyOptions, TopologyPolicy
from simulator.core.topology import TopologyHint
from simulator.core.topology_policies import (
    HintOrder,
    ProviderHints,
    admits,
    max_of_min_affinity_counts,
    merge_hints,
)
from tests.core.hint_notation import hint, hints, providers

BEST_EFFORT = TopologyPolicy.BEST_EFFORT
RESTRICTED = TopologyPolicy.RESTRICTED
SINGLE_NUMA_NODE = TopologyPolicy.SINGLE_NUMA_NODE

FOUR_NODES = Machine.with_nodes(4)
TWO_GROUPS = Machine(
    tuple(NumaNode(node) for node in range(8)),
    (
        (10, 11, 12, 12, 30, 30, 30, 30),
        (11, 10, 12, 12, 30, 30, 30, 30),
        (12, 12, 10, 11, 30, 30, 30, 30),
        (12, 12, 11, 10, 30, 30, 30, 30),
        (30, 30, 30, 30, 10, 11, 12, 12),
        (30, 30, 30, 30, 11, 10, 12, 12),
        (30, 30, 30, 30, 12, 12, 10, 11),
        (30, 30, 30, 30, 12, 12, 13, 10),
    ),
)

COMMON = [
    ("C1", "(resource1=[{0}P]) + (resource2=[{0}P])", "{0}P"),
    ("C2", "(resource1=[{1}P]) + (resource2=[{1}P])", "{1}P"),
    ("C3", "nil + (resource=[{0}P])", "{0}P"),
    ("C4", "nil + (resource=[{1}P])", "{1}P"),
    ("C5", "(resource1=[{0}P {1}P]) + (resource2=[{0}P])", "{0}P"),
    ("C6", "(resource1=[{0}P {1}P]) + (resource2=[{1}P])", "{1}P"),
    ("C7", "(resource1=[{0}P {1}P]) + (resource2=[{0}P {0,1}n])", "{0}P"),
    ("C8", "(resource1=[{1}P {0,1}n]) + (resource2=[{0}P {1}P {0,1}n])", "{1}P"),
    ("C9", "(resource1=[{1}P {0,1}n]; resource2=[{0}P {1}P {0,1}n])", "{1}P"),
]

BEST_EFFORT_AND_RESTRICTED = [
    ("B1", "(resource1=[{0,1}P {0,2}P]) + (resource2=[{0,1}P {0,2}P])", "{0,1}P"),
    ("B2", "", "{0,1,2,3}P"),
    ("B3", "()", "{0,1,2,3}P"),
    ("B4", "(resource=null)", "{0,1,2,3}P"),
    ("B5", "(resource=[])", "{0,1,2,3}n"),
    ("B6", "(resource=[anyP])", "{0,1,2,3}P"),
    ("B7", "(resource=[anyn])", "{0,1,2,3}n"),
    ("B8", "(resource1=[{0}P]) + (resource2=[{1}P])", "{0,1,2,3}n"),
    ("B9", "(resource1=[{0}P]) + (resource2=[{0}n])", "{0}n"),
    ("B10", "(resource1=[{1}P]) + (resource2=[{1}n])", "{1}n"),
    ("B11", "(resource1=[{0}P]) + (resource2=[{0,1}P])", "{0}n"),
    ("B12", "(resource1=[{0}P {1}P]) + (resource2=[{0,1}n])", "{0}n"),
    ("B13", "(resource1=[{1}P]) + (resource2=[{0,1}P])", "{1}n"),
    ("B14", "(resource1=[{0,1,2,3}n {0,1}n]) + (resource2=[{0,1}n])", "{0,1}n"),
    ("B15", "(resource1=[{0,1,2,3}n {0,1}n]) + (resource2=[{0,3}n])", "{0,3}n"),
    ("B16", "(resource1=[{0,1,2,3}n {0,1}n]) + (resource2=[{1,2}n])", "{1,2}n"),
    ("B17", "(resource1=[{0,1,2,3}n {0,1}n]) + (resource2=[{2,3}n])", "{2,3}n"),
]

WITHOUT_PREFER_CLOSEST = [
    ("N1", "(resource1=[{0,1,2,3}n {0,1}n]) + (resource2=[{1,2}n {2,3}n])", "{1,2}n"),
    (
        "N2",
        "(resource1=[{0,1,2,3}n {0,1}n]) + (resource2=[{1,2,3}n {1,2}n {1,3}n {2,3}n])",
        "{1,2}n",
    ),
]

PREFER_CLOSEST = [
    ("D1", "(resource1=[{0,4}P {0,2}P]) + (resource2=[{0,4}P {0,2}P])", "{0,2}P"),
    ("D2", "(resource1=[{4}P {0,2}P]) + (resource2=[{4}P {0,2}P])", "{4}P"),
    ("D3", "(resource1=[{0,1,2,3}n {0,1}n]) + (resource2=[{1,2}n {2,3}n])", "{2,3}n"),
    (
        "D4",
        "(resource1=[{0,1,2,3}n {0,1}n]) + (resource2=[{1,2,3}n {1,2}n {1,3}n {2,3}n])",
        "{2,3}n",
    ),
]

SINGLE = [
    ("S1", "", "anyP"),
    ("S2", "()", "anyP"),
    ("S3", "(resource=null)", "anyP"),
    ("S4", "(resource=[])", "anyn"),
    ("S5", "(resource=[anyP])", "anyP"),
    ("S6", "(resource=[anyn])", "anyn"),
    ("S7", "(resource1=[{0}P]) + (resource2=[{1}P])", "anyn"),
    ("S8", "(resource1=[{0}P]) + (resource2=[{0}n])", "anyn"),
    ("S9", "(resource1=[{1}P]) + (resource2=[{1}n])", "anyn"),
    ("S10", "(resource1=[{0}P {1}P]) + (resource2=[{0,1}n])", "anyn"),
    ("S11", "(resource1=[{0,1}P]; resource2=[{0}P {1}P {0,1}n])", "anyn"),
    ("S12", "(resource1=[{0}P {1}P {0,1}n]) + nil", "{0}P"),
]


def merge(
    offered: list[ProviderHints],
    policy: TopologyPolicy,
    *,
    machine: Machine = FOUR_NODES,
    closest: bool = False,
    equal_masks: bool = True,
) -> TopologyHint:
    return merge_hints(
        offered,
        machine=machine,
        options=TopologyOptions(policy=policy, prefer_closest_numa_nodes=closest),
        behavior=Behavior(merge_needs_equal_masks=equal_masks),
    )


@pytest.mark.parametrize("policy", [BEST_EFFORT, RESTRICTED, SINGLE_NUMA_NODE])
@pytest.mark.parametrize(("case", "offered", "merged"), COMMON)
def test_policy_merge_common_to_all_policies(
    policy: TopologyPolicy, case: str, offered: str, merged: str
) -> None:
    assert hint(merged) == merge(providers(offered), policy), case


@pytest.mark.parametrize("policy", [BEST_EFFORT, RESTRICTED])
@pytest.mark.parametrize("closest", [False, True])
@pytest.mark.parametrize(("case", "offered", "merged"), BEST_EFFORT_AND_RESTRICTED)
def test_policy_merge_of_best_effort_and_restricted(
    policy: TopologyPolicy, case: str, offered: str, merged: str, *, closest: bool
) -> None:
    assert hint(merged) == merge(providers(offered), policy, closest=closest), case


@pytest.mark.parametrize("policy", [BEST_EFFORT, RESTRICTED])
@pytest.mark.parametrize(("case", "offered", "merged"), WITHOUT_PREFER_CLOSEST)
def test_policy_merge_without_prefer_closest(
    policy: TopologyPolicy, case: str, offered: str, merged: str
) -> None:
    assert hint(merged) == merge(providers(offered), policy), case


@pytest.mark.parametrize("policy", [BEST_EFFORT, RESTRICTED])
@pytest.mark.parametrize(("case", "offered", "merged"), PREFER_CLOSEST)
def test_policy_merge_with_prefer_closest(
    policy: TopologyPolicy, case: str, offered: str, merged: str
) -> None:
    found = merge(providers(offered), policy, machine=TWO_GROUPS, closest=True)

    assert hint(merged) == found, case


@pytest.mark.parametrize(("case", "offered", "merged"), SINGLE)
def test_policy_merge_of_single_numa_node(case: str, offered: str, merged: str) -> None:
    assert hint(merged) == merge(providers(offered), SINGLE_NUMA_NODE), case


@pytest.mark.parametrize(
    ("policy", "merged", "admitted"),
    [
        (TopologyPolicy.NONE, "anyn", True),
        (BEST_EFFORT, "{0}P", True),
        (BEST_EFFORT, "{0,1,2,3}n", True),
        (RESTRICTED, "{0}P", True),
        (RESTRICTED, "{0}n", False),
        (SINGLE_NUMA_NODE, "anyP", True),
        (SINGLE_NUMA_NODE, "anyn", False),
    ],
)
def test_restricted_and_single_numa_node_admit_only_what_is_preferred(
    policy: TopologyPolicy, merged: str, *, admitted: bool
) -> None:
    """S7.16."""
    assert admitted == admits(policy, hint(merged))


def test_policy_none_prefers_any_node() -> None:
    """S7.10: no hints are asked for."""
    assert hint("anyP") == merge(providers("(resource=[{0}n])"), TopologyPolicy.NONE)


def test_single_numa_node_ignores_prefer_closest() -> None:
    """S7.14.2: the option is looked at by best-effort and restricted only."""
    offered = providers("(resource=[{1}P {2}P])")
    far_from_itself = Machine(TWO_GROUPS.numa_nodes[:3], ((10, 9, 9), (9, 20, 9), (9, 9, 10)))

    assert hint("{1}P") == merge(offered, SINGLE_NUMA_NODE, machine=far_from_itself, closest=True)
    assert hint("{2}P") == merge(offered, BEST_EFFORT, machine=far_from_itself, closest=True)


def test_single_numa_node_on_a_machine_with_one_node_sets_no_mask() -> None:
    """S7.15: the full-machine mask becomes no mask."""
    machine = Machine.with_nodes(1)

    assert hint("anyP") == merge(providers("(resource=[{0}P])"), SINGLE_NUMA_NODE, machine=machine)


@pytest.mark.parametrize(
    ("offered", "merged_1_20", "merged"),
    [
        # 1.20.2/DIFFERENCES 16: traces 312, 313 and the non-preferred ones.
        ("(gpu=[{1}P {0,1}n]) + (nic=[{0,1}P])", "{1}P", "{0,1}n"),
        ("(gpu=[{0}n {0,1}n]) + (nic=[{0,1}n])", "{0}n", "{0,1}n"),
    ],
)
def test_merging_before_masks_had_to_be_equal(offered: str, merged_1_20: str, merged: str) -> None:
    machine = Machine.with_nodes(2)

    old = merge(providers(offered), BEST_EFFORT, machine=machine, equal_masks=False)

    assert hint(merged_1_20) == old
    assert hint(merged) == merge(providers(offered), BEST_EFFORT, machine=machine)


@pytest.mark.parametrize(
    ("resources", "count"),
    [
        ([], 0),
        ([""], 0),
        (["{}n"], 0),
        (["{0}n"], 1),
        (["{0,1}n"], 2),
        (["{0,1}n {0,1,2}n"], 2),
        (["{0,1}n {0,1,2}n", "{0,1,2}n"], 3),
        (["{0,1}n {0,1,2}n", "{0,1,2}n {0,1,2,3}n"], 3),
        (["anyP", "anyn {0}n"], 1),
    ],
)
def test_max_of_min_affinity_counts(resources: list[str], count: int) -> None:
    """TestMaxOfMinAffinityCounts; the last row is that hints without a mask do not count."""
    assert count == max_of_min_affinity_counts([hints(text) for text in resources])


COMPARISONS = [
    (0, None, "{}n", "current"),
    (0, "{}P", "{}n", "current"),
    (0, None, "{0}P", "candidate"),
    (0, None, "{0}n", "candidate"),
    (0, "{0}n", "{0}P", "candidate"),
    (0, "{0}P", "{0}n", "current"),
    (0, "{0}P", "{0}P", "current"),
    (0, "{0,1}P", "{0}P", "candidate"),
    (0, "{0}P", "{0,1}P", "current"),
    (1, "{0,1}n", "{0,1}n", "current"),
    (1, "{1,2}n", "{0,1}n", "candidate"),
    (1, "{0,1}n", "{1,2}n", "current"),
    (2, "{0,1}n", "{0}n", "current"),
    (2, "{0,1}n", "{0,1}n", "current"),
    (2, "{1,2}n", "{0,1}n", "candidate"),
    (2, "{0,1}n", "{1,2}n", "current"),
    (2, "{0}n", "{0,1,2}n", "current"),
    (2, "{0}n", "{0,1}n", "candidate"),
    (3, "{0}n", "{0,1}n", "candidate"),
    (3, "{0}n", "{1,2}n", "candidate"),
    (4, "{0,1}n", "{1,2,3}n", "candidate"),
    (4, "{1,2,3}n", "{0,1}n", "current"),
    (4, "{0,1,2}n", "{0,1,2}n", "current"),
    (4, "{0,1,2}n", "{1,2,3}n", "current"),
    (4, "{1,2,3}n", "{0,1,2}n", "candidate"),
]


@pytest.mark.parametrize(("best_count", "current", "candidate", "winner"), COMPARISONS)
def test_compare_hints_narrowest(
    best_count: int, current: str | None, candidate: str, winner: str
) -> None:
    """TestCompareHintsNarrowest; the very object is returned, so equal hints keep the current."""
    offered = {"current": hint(current) if current else None, "candidate": hint(candidate)}
    assert offered["candidate"] is not None
    order = HintOrder(best_count, FOUR_NODES, TopologyOptions(), Behavior())

    assert offered[winner] is order.better(offered["current"], offered["candidate"])
