"""The device manager as hint provider: topology_hints_test.go and S7.1 to S7.8."""

from dataclasses import replace

import pytest

from simulator.core.behavior import Behavior, HintNodes, VanishedDevice
from simulator.core.devices import DeviceId, NumaNode
from simulator.core.machine import Machine, TopologyOptions, TopologyPolicy
from simulator.core.panics import KubeletPanic
from simulator.core.pods import Container, ContainerKind, ContainerName, Pod, PodUid
from simulator.core.resources import ResourceName
from simulator.core.topology import (
    HintRequest,
    TopologyHint,
    container_device_request,
    device_hints,
    device_numa_nodes,
    pod_device_request,
)
from simulator.core.topology_policies import merge_hints
from tests.core.hint_notation import devices, hint, hints, ids, provider

GPU = ResourceName("gpu")
NIC = ResourceName("nic")
MACHINE_1_32 = replace(Behavior(), hint_nodes=HintNodes.MACHINE)
TOLERANT = replace(Behavior(), vanished_device=VanishedDevice.WITHOUT_TOPOLOGY)


def request(
    listed: str,
    requested: int,
    *,
    recorded: str = "",
    available: str | None = None,
    reuse: str = "",
) -> HintRequest:
    """Ask for `requested` of `listed`, of which all are free unless `available` says otherwise."""
    found = devices(listed)
    free = found.keys() if available is None else ids(available)
    return HintRequest(
        resource=GPU,
        requested=requested,
        devices=found,
        recorded=ids(recorded),
        available=tuple(free),
        reusable=ids(reuse),
    )


def machine(*nodes: int) -> Machine:
    return Machine(tuple(NumaNode(node) for node in nodes))


@pytest.mark.parametrize(
    ("case", "asked", "offered"),
    [
        ("no alignment", request("Dev1 Dev2 Dev3@ Dev4", 1), None),
        ("one with alignment", request("Dev1 Dev2@1", 1), "{1}P"),
        ("one per socket", request("Dev1@0 Dev2@1", 1), "{0}P {1}P {0,1}n"),
        ("request 2, one per socket", request("Dev1@0 Dev2@1", 2), "{0,1}P"),
        (
            "request 2, two per socket",
            request("Dev1@0 Dev2@1 Dev3@0 Dev4@1", 2),
            "{0}P {1}P {0,1}n",
        ),
        (
            "request 2, forced cross-NUMA, container",
            request("Dev1@0 Dev2@1 Dev3@0 Dev4@1", 2, available="Dev3 Dev4"),
            "{0,1}n",
        ),
        (
            "request 2, forced cross-NUMA, pod",
            request("Dev1@0 Dev2@1 Dev3@0 Dev4@1", 2, recorded="Dev1 Dev2", available="Dev3 Dev4"),
            "{0,1}n",
        ),
        (
            "two types, testdevice1",
            request("Dev1@0 Dev2@1 Dev3@0 Dev4@1", 2),
            "{0}P {1}P {0,1}n",
        ),
        ("two types, testdevice2", request("Dev1@0", 1), "{0}P"),
        ("more than available", request("Dev1@0 Dev2@0 Dev3@1 Dev4@1", 6), ""),
        ("all recorded", request("Dev1@0 Dev2@0", 2, recorded="Dev1 Dev2", available=""), "{0}P"),
        (
            "fewer recorded than requested",
            request("Dev1@0 Dev2@0 Dev3@1 Dev4@1", 4, recorded="Dev1 Dev2", available="Dev3 Dev4"),
            "",
        ),
        (
            "more recorded than requested",
            request("Dev1@0 Dev2@0 Dev3@1 Dev4@1", 2, recorded="Dev1 Dev2 Dev3 Dev4", available=""),
            "",
        ),
    ],
)
def test_get_topology_hints(case: str, asked: HintRequest, offered: str | None) -> None:
    """TestGetTopologyHints and the common cases of TestGetPodTopologyHints."""
    expected = None if offered is None else hints(offered)

    assert expected == device_hints(asked, machine(0, 1), Behavior()), case


def test_hints_range_over_all_nodes_of_the_machine_up_to_1_35() -> None:
    """TestGetTopologyHints, `one with alignment`, and 1.32.10/DIFFERENCES 5, extra trace 130."""
    asked = request("Dev1 Dev2@1", 1)
    wide = request("Dev1@0 Dev2@1", 1)

    assert hints("{1}P {0,1}n") == device_hints(asked, machine(0, 1), MACHINE_1_32)
    assert len(device_hints(wide, machine(0, 1, 2, 3), MACHINE_1_32) or ()) == 12


@pytest.mark.parametrize(
    ("nodes", "listed", "hosting"),
    [
        ((0, 3, 5, 7), "a@3 b@5", (3, 5)),
        ((0, 4), "a@4 b", (4,)),
        ((0, 1), "a b", ()),
        ((0, 1), "a@0 b@99", (0,)),
    ],
)
def test_device_numa_nodes(nodes: tuple[int, ...], listed: str, hosting: tuple[int, ...]) -> None:
    """TestDeviceNUMANodes."""
    assert hosting == device_numa_nodes(devices(listed), machine(*nodes))


@pytest.mark.parametrize(
    ("nodes", "asked", "offered"),
    [
        (2, request("a@0", 1), "{0}P"),
        (34, request("gpu0@0 gpu1@1", 1), "{0}P {1}P {0,1}n"),
        (2, request("a@0 b@1", 1), "{0}P {1}P {0,1}n"),
        (4, request("a@0", 1, available="", reuse="a"), "{0}P"),
        (4, request("a@0 b@1", 2, available="b", reuse="a"), "{0,1}P"),
    ],
)
def test_generate_device_topology_hints_filters_numa_nodes(
    nodes: int, asked: HintRequest, offered: str
) -> None:
    """TestGenerateDeviceTopologyHintsFiltersNUMANodes."""
    assert hints(offered) == device_hints(asked, Machine.with_nodes(nodes), Behavior())


@pytest.mark.parametrize("policy", [TopologyPolicy.BEST_EFFORT, TopologyPolicy.RESTRICTED])
@pytest.mark.parametrize(
    ("nodes", "listed", "others", "merged"),
    [
        ((0, 1), "gpu0@0", "{0}P {0,1}n", "{0}P"),
        ((0, 1), "gpu0@1", "{1}P {0,1}n", "{1}P"),
        ((3, 7), "gpu0@7", "{7}P {3,7}n", "{7}P"),
    ],
)
def test_filtered_device_hints_merge_with_other_providers(
    policy: TopologyPolicy, nodes: tuple[int, ...], listed: str, others: str, merged: str
) -> None:
    """TestFilteredDeviceHintsMergeWithOtherProviders."""
    on = machine(*nodes)
    offered = [
        {GPU: device_hints(request(listed, 1), on, Behavior())},
        provider(f"(cpu=[{others}])"),
        provider(f"(memory=[{others}])"),
    ]
    options = TopologyOptions(policy=policy)

    found = merge_hints(offered, machine=on, options=options, behavior=Behavior())

    assert hint(merged) == found


def test_a_resource_whose_devices_name_only_unknown_nodes_offers_nothing() -> None:
    """S7.6: no candidate is left, so all nodes of the machine are tried; none matches."""
    assert device_hints(request("a@99", 1), machine(0, 1), Behavior()) == ()


def test_the_busy_optimal_node_leaves_only_wider_hints_that_are_not_preferred() -> None:
    """S7.6: the preferred size comes from capacity, not from what is free."""
    asked = request("a@0 b@0 c@1 d@1", 2, available="b d")

    assert hints("{0,1}n") == device_hints(asked, machine(0, 1), Behavior())


def test_an_empty_topology_message_counted_as_topology_in_1_20() -> None:
    """1.20.2/DIFFERENCES 13: hints are empty there, and no preference later."""
    asked = request("a@ b@", 1)
    behavior = replace(MACHINE_1_32, empty_topology_counts=True)

    assert device_hints(asked, machine(0, 1), behavior) == ()
    assert device_hints(asked, machine(0, 1), Behavior()) is None


def test_a_reusable_device_must_touch_the_mask_unless_it_has_no_topology_message() -> None:
    """S7.6b, S7.8."""
    listed = "a b@ c@0 d@1"
    on = machine(0, 1)

    without_message = device_hints(request(listed, 2, available="c d", reuse="a"), on, Behavior())
    without_nodes = device_hints(request(listed, 2, available="c d", reuse="b"), on, Behavior())

    assert hints("{0,1}P") == without_message
    assert without_nodes == ()


@pytest.mark.parametrize(
    "asked",
    [
        request("a@0", 2, recorded="a x", available=""),
        request("a@0", 1, available="a", reuse="x"),
    ],
)
def test_a_vanished_device_ends_the_kubelet_in_1_36_and_has_no_topology_before(
    asked: HintRequest,
) -> None:
    """S7.7; 1.32.10/DIFFERENCES 2: recorded and vanished gives no hint, [] and not null."""
    with pytest.raises(KubeletPanic) as panic:
        device_hints(asked, machine(0, 1), Behavior())

    assert panic.value.record.rule == "S7.7"
    assert panic.value.record.detail == "hints for gpu: x left the plugin's list"
    tolerated = device_hints(asked, machine(0, 1), TOLERANT)
    assert tolerated == (() if asked.recorded else hints("{0}P"))


def limits(kind: ContainerKind, **quantities: int) -> Container:
    amounts = tuple((ResourceName(name), quantity) for name, quantity in quantities.items())
    return Container(ContainerName("c"), amounts, kind)


def init(**quantities: int) -> Container:
    return limits(ContainerKind.INIT, **quantities)


def sidecar(**quantities: int) -> Container:
    return limits(ContainerKind.SIDECAR, **quantities)


def app(**quantities: int) -> Container:
    return limits(ContainerKind.REGULAR, cpu=2, memory=4, **quantities)


def pod_of(*containers: Container) -> Pod:
    regular = ContainerKind.REGULAR
    return Pod(
        PodUid("p"),
        "p",
        init_containers=tuple(one for one in containers if one.kind is not regular),
        containers=tuple(one for one in containers if one.kind is regular),
    )


def is_registered(resource: ResourceName) -> bool:
    return resource in (GPU, NIC)


@pytest.mark.parametrize(
    ("pod", "needed"),
    [
        (pod_of(), {}),
        (pod_of(init(gpu=2)), {GPU: 2}),
        (pod_of(init(gpu=2), init(gpu=4)), {GPU: 4}),
        (pod_of(app(gpu=2)), {GPU: 2}),
        (
            pod_of(init(gpu=2, nic=2), init(gpu=2, nic=2), app(gpu=1, nic=1), app(gpu=1, nic=1)),
            {GPU: 2, NIC: 2},
        ),
        (
            pod_of(init(gpu=2, nic=1), init(gpu=3, nic=2), app(gpu=1, nic=1), app(gpu=1)),
            {GPU: 3, NIC: 2},
        ),
        (
            pod_of(init(gpu=2, nic=1), init(gpu=2, nic=1), app(gpu=3, nic=2), app(gpu=3, nic=2)),
            {GPU: 6, NIC: 4},
        ),
    ],
)
def test_get_pod_device_request(pod: Pod, needed: dict[ResourceName, int]) -> None:
    """TestGetPodDeviceRequest."""
    assert needed == pod_device_request(pod, is_registered, Behavior())


def test_sidecars_count_beside_regular_containers_and_later_init_containers() -> None:
    """S7.1; before, they were plain init containers (1.20.2/DIFFERENCES 15)."""
    late = pod_of(sidecar(gpu=2), init(gpu=3), app(gpu=1))
    early = pod_of(init(gpu=3), sidecar(gpu=2), app(gpu=1))
    old = replace(Behavior(), sidecars_in_pod_request=False)

    assert pod_device_request(late, is_registered, Behavior()) == {GPU: 5}
    assert pod_device_request(early, is_registered, Behavior()) == {GPU: 3}
    assert pod_device_request(late, is_registered, old) == {GPU: 3}


def test_a_container_asks_only_for_what_plugins_serve() -> None:
    """S7.1."""
    assert container_device_request(app(gpu=2), is_registered) == {GPU: 2}


def test_a_hint_reads_as_its_nodes() -> None:
    assert TopologyHint.over(3, 0, 63, preferred=True).affinity == (0, 3, 63)
    assert TopologyHint(None, preferred=True).affinity is None


def test_hints_do_not_depend_on_ids_that_are_free_but_unlisted() -> None:
    """S7.8 under the tolerant profiles: an id without a record never counts."""
    asked = request("a@0", 1, available="a x")

    assert hints("{0}P") == device_hints(asked, machine(0, 1), TOLERANT)
    assert DeviceId("x") not in asked.devices
