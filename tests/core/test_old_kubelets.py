"""What only old kubelets, or only the coming one, do; each beside the release that ended it."""

from __future__ import annotations

import pytest

from simulator.core.allocate_response import AllocateResponse, encode
from simulator.core.calls import AllocateCall, AllocateReply, PluginReply, PreferredAllocationCall
from simulator.core.devices import NO_NUMA_NODE
from simulator.core.facts import ContainerInstance
from simulator.core.machine import Machine, TopologyOptions, TopologyPolicy
from simulator.core.records import HealthUpdated
from simulator.core.switches import behavior_for
from tests.core.driving import GPU, MAIN, NIC, Rig, device, pod

POD = pod("p1", {GPU: 2})
NOT_CACHED = "endpoint not found in cache for a registered resource: example.com/gpu"


def rig_of(version: str, policy: TopologyPolicy = TopologyPolicy.NONE) -> Rig:
    return Rig(
        behavior=behavior_for(version),
        machine=Machine.with_nodes(2),
        topology=TopologyOptions(policy=policy),
    )


@pytest.mark.parametrize(("version", "allocatable"), [("1.10.0", 0), ("1.10.3", 2), ("1.11.0", 2)])
def test_a_plugin_that_is_back_with_the_same_devices_gives_them_again_since_1_11(
    version: str, allocatable: int
) -> None:
    """R20, PR 63118."""
    rig = rig_of(version)
    rig.plug(GPU, "g0", "g1")
    rig.manager.disconnect(GPU)
    rig.plug(GPU, "g0", "g1")
    capacity = rig.manager.capacity()

    assert (capacity.total[GPU], capacity.allocatable[GPU]) == (2, allocatable)


def test_in_1_10_news_about_a_device_is_noticed_also_after_a_return() -> None:
    """R20: only what is said again is taken for no change."""
    rig = rig_of("1.10.0")
    rig.plug(GPU, "g0", "g1")
    rig.manager.disconnect(GPU)
    rig.plug(GPU, "g0", device("g1", "Unhealthy"), "g2")
    rig.report(GPU, "g0", "g1", "g2")

    assert rig.manager.snapshot().healthy == {GPU: ("g1", "g2")}


@pytest.mark.parametrize(
    ("version", "error"), [("1.11.0", ""), ("1.12.0", NOT_CACHED), ("1.13.0", "")]
)
def test_1_12_starts_no_container_before_its_plugin_is_back(version: str, error: str) -> None:
    """R13, PR 67145; others start it with the response of its admission (S3.26)."""
    rig = rig_of(version)
    rig.plug(GPU, "g0", "g1", pre_start=True)
    rig.admit(POD)
    rig.start(ContainerInstance(POD.uid, MAIN, "id-1", running=False))

    assert rig.run(rig.manager.run_options(POD, MAIN)).error == error

    rig.plug(GPU, "g0", "g1")
    result = rig.run(rig.manager.run_options(POD, MAIN))

    assert result.options is not None
    assert result.options.envs == {"IDS": "g0,g1"}


@pytest.mark.parametrize(
    ("version", "message"),
    [
        ("1.15.0", ""),
        ("1.16.0", "Resources cannot be allocated with Topology locality"),
        ("1.17.0", ""),
    ],
)
def test_1_16_has_no_hints_for_devices_that_a_pod_already_has(version: str, message: str) -> None:
    """Issue 84479: a running pod fails after a kubelet restart; PR 84525 ends that.

    Before 1.16 the NUMA nodes of devices are unknown (S1.7).
    """
    rig = rig_of(version, TopologyPolicy.RESTRICTED)
    devices = (device("g0", nodes=[0]), device("g1", nodes=[0]))
    rig.plug(GPU, *devices)
    rig.admit(POD)
    rig.start(sources_ready=False)
    rig.plug(GPU, *devices)

    assert rig.admit(POD).message == message


@pytest.mark.parametrize(("version", "node"), [("1.15.0", NO_NUMA_NODE), ("1.16.0", 1)])
def test_before_1_16_the_topology_of_a_device_is_unknown(version: str, node: int) -> None:
    """S1.7."""
    rig = rig_of(version)
    rig.plug(GPU, device("g0", nodes=[1]), device("g1", nodes=[1]))
    rig.admit(POD)

    assert list(rig.manager.bindings_of(POD.uid)[0].devices) == [node]


@pytest.mark.parametrize(("version", "asked"), [("1.18.0", 0), ("1.19.0", 1)])
def test_a_plugin_is_asked_for_its_preference_since_1_19(version: str, asked: int) -> None:
    """S1.7."""
    rig = rig_of(version)
    rig.plug(GPU, "g0", "g1", "g2", preferred=True)
    rig.admit(POD)

    assert sum(isinstance(call, PreferredAllocationCall) for call in rig.calls) == asked


@pytest.mark.parametrize(
    ("version", "cdi_devices"),
    [("1.27.0", ()), ("1.28.0", ()), ("1.29.0", ("example.com/gpu=g0",))],
)
def test_cdi_devices_reach_the_runtime_since_1_29(
    version: str, cdi_devices: tuple[str, ...]
) -> None:
    """S1.7: the gate is off in 1.28."""

    def with_cdi(call: AllocateCall) -> PluginReply:
        del call
        return AllocateReply(encode(AllocateResponse(cdi_devices=("example.com/gpu=g0",))))

    rig = rig_of(version)
    rig.on_allocate = with_cdi
    rig.plug(GPU, "g0", "g1")
    rig.admit(POD)
    result = rig.run(rig.manager.run_options(POD, MAIN))

    assert result.options is not None
    assert result.options.cdi_devices == cdi_devices


@pytest.mark.parametrize(
    ("version", "opening", "end"),
    [("1.17.0", "Update plugin resources", "unexpected."), ("1.18.0", "Allocate", "unexpected")],
)
def test_up_to_1_17_the_message_speaks_of_an_update_of_plugin_resources(
    version: str, opening: str, end: str
) -> None:
    """S13.1."""
    rig = rig_of(version)
    rig.plug(GPU, "g0")

    assert rig.admit(POD).message == (
        f"{opening} failed due to requested number of devices unavailable for example.com/gpu. "
        f"Requested: 2, Available: 1, which is {end}"
    )


@pytest.mark.parametrize(("version", "synced"), [("1.36.2", "first"), ("1.37.0", "second")])
def test_health_reaches_the_holder_of_this_resource_only_after_1_36(
    version: str, synced: str
) -> None:
    """S9.6, PR 140323: two resources may use the same device id."""
    rig = rig_of(version)
    rig.plug(GPU, "d0")
    rig.plug(NIC, "d0")
    rig.admit(pod("first", {GPU: 1}))
    rig.admit(pod("second", {NIC: 1}))
    rig.manager.take_records()
    rig.report(NIC, device("d0", "Unhealthy"))
    updates = [one for one in rig.manager.take_records() if isinstance(one, HealthUpdated)]

    assert updates == [HealthUpdated((pod(synced).uid,))]
