"""The deterministic choices: lowest first, and the harmful container instance."""

import pytest

from simulator.core.choices import SortedChoices
from simulator.core.devices import DeviceId, NumaNode
from simulator.core.pods import ContainerName, PodUid
from simulator.core.resources import ResourceName

POD, CONTAINER = PodUid("p"), ContainerName("c")
GPU, NIC = ResourceName("example.com/gpu"), ResourceName("example.com/nic")


def test_resources_are_looked_at_by_name() -> None:
    assert SortedChoices().order_resources(POD, CONTAINER, [NIC, GPU]) == [GPU, NIC]


def test_the_lowest_ids_of_a_tier_are_taken() -> None:
    tier = [DeviceId("a"), DeviceId("b"), DeviceId("c")]

    taken = SortedChoices().take(tier, 2, pod=POD, container=CONTAINER, resource=GPU)

    assert taken == ["a", "b"]


def test_nodes_are_looked_at_lowest_first() -> None:
    nodes = [NumaNode(-1), NumaNode(0), NumaNode(1)]

    assert nodes == SortedChoices().order_nodes(nodes, pod=POD, container=CONTAINER, resource=GPU)


@pytest.mark.parametrize(
    ("instances", "picked"),
    [
        ([("old", False), ("new", True)], 0),
        ([("new", True), ("old", False)], 1),
        ([("one", True), ("two", True)], 0),
        ([], 0),
    ],
)
def test_an_exited_instance_is_picked_where_chance_decides(
    instances: list[tuple[str, bool]], picked: int
) -> None:
    """Details 3: the harmful case."""
    assert picked == SortedChoices().pick_instance(POD, CONTAINER, GPU, instances)
