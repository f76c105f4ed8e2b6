"""NUMA masks, affinity, hints and their merge, each beside a naive model."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from simulator.core.affinity import split_by_affinity
from simulator.core.behavior import Behavior, HintNodes
from simulator.core.devices import Device, DeviceId, NumaNode
from simulator.core.machine import Machine, TopologyOptions, TopologyPolicy
from simulator.core.numa_masks import mask_of, nodes_of
from simulator.core.resources import ResourceName
from simulator.core.topology import HintRequest, TopologyHint, device_hints, device_numa_nodes
from simulator.core.topology_policies import merge_hints
from tests.properties import naive_topology

GPU = ResourceName("example.com/gpu")
NODES = st.integers(min_value=0, max_value=4).map(NumaNode)
TOPOLOGIES = st.none() | st.lists(NODES, max_size=3, unique=True).map(tuple)
BEHAVIORS = st.sampled_from([Behavior(), replace(Behavior(), hint_nodes=HintNodes.MACHINE)])
MACHINES = st.sets(NODES, min_size=1).map(lambda nodes: Machine(tuple(sorted(nodes))))


@st.composite
def requests(draw: st.DrawFn) -> HintRequest:
    topologies = draw(st.lists(TOPOLOGIES, min_size=1, max_size=6))
    devices = {
        DeviceId(f"d{index}"): Device(DeviceId(f"d{index}"), topology=topology)
        for index, topology in enumerate(topologies)
    }
    fates = draw(st.lists(st.sampled_from("arx"), min_size=len(devices), max_size=len(devices)))
    by_fate = {
        fate: tuple(one for one, its in zip(devices, fates, strict=True) if its == fate)
        for fate in "arx"
    }
    return HintRequest(
        resource=GPU,
        requested=draw(st.integers(min_value=0, max_value=4)),
        devices=devices,
        available=by_fate["a"],
        reusable=by_fate["r"],
    )


@given(st.sets(st.integers(min_value=0, max_value=63).map(NumaNode)))
def test_a_mask_gives_back_its_nodes(nodes: set[NumaNode]) -> None:
    assert nodes_of(mask_of(nodes)) == tuple(sorted(nodes))


@given(st.integers(min_value=0, max_value=2**64 - 1))
def test_the_nodes_of_a_mask_give_back_the_mask(mask: int) -> None:
    assert mask_of(nodes_of(mask)) == mask


@given(requests(), MACHINES, BEHAVIORS)
def test_hints_are_those_of_the_naive_model(
    request: HintRequest, machine: Machine, behavior: Behavior
) -> None:
    """S7.3, S7.5, S7.6."""
    hosting = device_numa_nodes(request.devices, machine)
    everywhere = behavior.hint_nodes is HintNodes.MACHINE or not hosting
    expected: list[naive_topology.Hint] | None = None
    if any(device.topology for device in request.devices.values()):
        expected = naive_topology.generate_hints(
            dict(request.devices),
            candidates=machine.numa_nodes if everywhere else hosting,
            available=tuple(request.available),
            reusable=tuple(request.reusable),
            requested=request.requested,
        )
        if len(request.available) + len(request.reusable) < request.requested:
            expected = []

    found = device_hints(request, machine, behavior)

    assert expected == (found if found is None else [_plain(hint) for hint in found])


def _plain(hint: TopologyHint) -> naive_topology.Hint:
    nodes = hint.affinity
    return (None if nodes is None else frozenset(nodes), hint.preferred)


HINTS = st.builds(
    TopologyHint,
    mask=st.none() | st.integers(min_value=1, max_value=2**4 - 1),
    preferred=st.booleans(),
)
DISTANCES = st.lists(
    st.lists(st.integers(min_value=10, max_value=13), min_size=4, max_size=4).map(tuple),
    min_size=4,
    max_size=4,
).map(tuple)


@given(
    st.lists(st.lists(HINTS, min_size=1, max_size=5).map(tuple), max_size=3),
    DISTANCES,
    st.sampled_from([TopologyPolicy.BEST_EFFORT, TopologyPolicy.RESTRICTED]),
    st.booleans(),
)
def test_the_merge_is_that_of_the_whole_product(
    offered: list[tuple[TopologyHint, ...]],
    distances: tuple[tuple[int, ...], ...],
    policy: TopologyPolicy,
    closest: bool,  # noqa: FBT001  drawn by hypothesis in this order
) -> None:
    """S7.14: folding distinct partial merges changes nothing."""
    machine = Machine(tuple(NumaNode(node) for node in range(4)), distances)
    expected = naive_topology.merge(
        [[_plain(hint) for hint in hints] for hints in offered],
        frozenset(range(4)),
        distances if closest else None,
    )

    found = merge_hints(
        [{ResourceName(f"r{index}"): hints} for index, hints in enumerate(offered)],
        machine=machine,
        options=TopologyOptions(policy=policy, prefer_closest_numa_nodes=closest),
        behavior=Behavior(),
    )

    assert expected == _plain(found)


@given(st.lists(TOPOLOGIES, max_size=8), st.integers(min_value=0, max_value=2**5 - 1))
def test_every_free_device_is_in_the_one_group_that_its_nodes_name(
    topologies: list[tuple[NumaNode, ...] | None], mask: int
) -> None:
    """S3.19."""
    devices = {
        DeviceId(f"d{index}"): Device(DeviceId(f"d{index}"), topology=topology)
        for index, topology in enumerate(topologies)
    }
    inside = set(nodes_of(mask))
    aligns = any(topologies)

    found = split_by_affinity(
        sorted(devices),
        affinity=mask,
        devices=devices,
        behavior=Behavior(),
        node_order=lambda nodes: nodes,
    )

    aligned = [one for one in devices if aligns and inside & set(devices[one].numa_nodes)]
    nowhere = [one for one in devices if not aligns or not devices[one].topology]
    assert sorted(found.aligned) == aligned
    assert sorted(found.no_affinity) == nowhere
    assert sorted([*found.aligned, *found.unaligned, *found.no_affinity]) == sorted(devices)
