"""NUMA layouts and the topology manager's options (S7.10, S7.11, S7.17)."""

from collections.abc import Callable

import pytest

from simulator.core.devices import NumaNode
from simulator.core.machine import (
    Machine,
    TopologyOptions,
    TopologyPolicy,
    topology_start_error,
)
from simulator.errors import ConfigError

NINE = Machine.with_nodes(9)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (
            lambda: Machine((NumaNode(64),)),
            "NUMA nodes [64] are not usable; ids from 0 to 63 are",
        ),
        (
            lambda: Machine((NumaNode(1), NumaNode(0))),
            "NUMA nodes [1, 0] are not ascending; name each id once, in order",
        ),
        (
            lambda: Machine((NumaNode(0), NumaNode(1)), ((10, 20), (20,))),
            "the NUMA distances are not a table of 2 rows and columns",
        ),
        (
            lambda: TopologyOptions(max_allowable_numa_nodes=7),
            "max-allowable-numa-nodes is 7; the least that can be allowed is 8",
        ),
    ],
)
def test_a_layout_or_option_that_no_kubelet_has_is_refused(
    build: Callable[[], object], message: str
) -> None:
    with pytest.raises(ConfigError) as error:
        build()

    assert message == str(error.value)


def test_a_kubelet_does_not_start_on_more_than_eight_numa_nodes() -> None:
    """S7.11."""
    options = TopologyOptions(policy=TopologyPolicy.BEST_EFFORT)

    text = topology_start_error(NINE, options)

    assert text == "unsupported on machines with more than 8 NUMA Nodes"
    assert topology_start_error(Machine.with_nodes(8), options) == ""


def test_more_numa_nodes_may_be_allowed() -> None:
    """S7.11: the option max-allowable-numa-nodes."""
    options = TopologyOptions(policy=TopologyPolicy.RESTRICTED, max_allowable_numa_nodes=9)

    assert topology_start_error(NINE, options) == ""


def test_policy_none_does_not_look_at_the_machine() -> None:
    assert topology_start_error(NINE, TopologyOptions()) == ""


def test_a_distance_is_summed_over_all_pairs_of_a_mask_with_itself() -> None:
    """S7.14.2: rows are those of the machine's own nodes, whatever their ids."""
    nodes = (NumaNode(2), NumaNode(5), NumaNode(7))
    machine = Machine(nodes, ((10, 11, 12), (13, 10, 14), (15, 16, 10)))

    assert machine.total_distance(1 << 2 | 1 << 7) == 10 + 12 + 15 + 10
    assert Machine(nodes).total_distance(1 << 2 | 1 << 7) == 0
    assert machine.mask == 0b10100100
