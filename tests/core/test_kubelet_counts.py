"""What a kubelet counts (S11)."""

from __future__ import annotations

import pytest

from simulator.core.kubelet_counts import KubeletCounts, counted_reason
from simulator.core.machine import Machine, TopologyOptions, TopologyPolicy, TopologyScope
from simulator.core.pods import ContainerKind, PodUid
from simulator.core.records import EventEmitted, PodDeleted
from simulator.core.switches import behavior_for
from tests.core.driving import GPU, NIC, Rig, container, device, pod

NONE = TopologyOptions()
CONTAINER, POD = TopologyScope.CONTAINER, TopologyScope.POD


def counted(topology: TopologyOptions, *pods: object, version: str = "1.36.2") -> KubeletCounts:
    """Admit pods on a node with two devices on node 0 and one on node 1, and count."""
    rig = Rig(behavior=behavior_for(version), machine=Machine.with_nodes(2), topology=topology)
    rig.plug(GPU, device("g0", nodes=[0]), device("g1", nodes=[0]), device("g2", nodes=[1]))
    rig.plug(NIC, device("n0", nodes=[1]))
    counts = KubeletCounts(rig.behavior, topology)
    for number, limits in enumerate(pods):
        parts = limits if isinstance(limits, tuple) else (limits,)
        rig.admit(pod(f"p{number}", *parts))
        for record in rig.manager.take_records():
            counts.take(record)
    return counts


def options(policy: TopologyPolicy, scope: TopologyScope = CONTAINER) -> TopologyOptions:
    return TopologyOptions(policy=policy, scope=scope)


def test_every_admission_is_counted_and_errors_only_where_the_topology_manager_has_a_policy() -> (
    None
):
    for policy, errors in ((TopologyPolicy.NONE, 0), (TopologyPolicy.BEST_EFFORT, 1)):
        counts = counted(options(policy), {}, {GPU: 1}, {GPU: 9})
        assert (counts.admissions, counts.admission_errors) == (3, errors)
        assert sum(counts.aligned.values()) == sum(counts.misaligned.values()) == 0


def test_the_aligned_counters_are_there_with_0_unless_the_policy_is_none() -> None:
    """S11.1."""
    assert counted(NONE).aligned == {}
    for policy in (TopologyPolicy.RESTRICTED, TopologyPolicy.SINGLE_NUMA_NODE):
        found = counted(options(policy))
        assert dict(found.aligned) == dict(found.misaligned) == {CONTAINER: 0, POD: 0}


@pytest.mark.parametrize(
    ("scope", "parts", "aligned", "misaligned"),
    [
        (CONTAINER, ({GPU: 2},), 1, 0),
        (CONTAINER, (container("init", {GPU: 1}, ContainerKind.INIT), {GPU: 1}), 2, 0),
        (CONTAINER, ({GPU: 3},), 0, 1),
        (CONTAINER, (container("init", {GPU: 1}, ContainerKind.INIT), {GPU: 2, NIC: 1}), 1, 1),
        (POD, (container("init", {GPU: 1}, ContainerKind.INIT), {GPU: 2}), 1, 0),
        (POD, ({GPU: 2, NIC: 1},), 0, 1),
    ],
)
def test_under_single_numa_node_containers_or_pods_are_counted(
    scope: TopologyScope, parts: tuple[object, ...], aligned: int, misaligned: int
) -> None:
    counts = counted(options(TopologyPolicy.SINGLE_NUMA_NODE, scope), parts)

    assert counts.aligned[scope] == aligned
    assert counts.misaligned[scope] == misaligned


def test_an_allocation_that_fails_after_the_hint_is_no_failure_to_align() -> None:
    topology = options(TopologyPolicy.SINGLE_NUMA_NODE, POD)
    rig = Rig(machine=Machine.with_nodes(2), topology=topology)
    rig.plug(GPU, device("g0", nodes=[0]))
    rig.write_error = "no space left on device"
    counts = KubeletCounts(rig.behavior, topology)
    rig.admit(pod("p1", {GPU: 1}))
    for record in rig.manager.take_records():
        counts.take(record)

    assert counts.admission_errors == 1
    assert counts.aligned[POD] == counts.misaligned[POD] == 0


@pytest.mark.parametrize(
    ("reason", "label"),
    [
        ("UnexpectedAdmissionError", "UnexpectedAdmissionError"),
        ("TopologyAffinityError", "TopologyAffinityError"),
        ("OutOfexample.com/gpu", "OutOfExtendedResources"),
        ("OutOfcpu", "OutOfcpu"),
        ("Whatever", "Other"),
    ],
)
def test_a_refusal_is_counted_under_its_reason_or_under_what_stands_for_many(
    reason: str, label: str
) -> None:
    assert counted_reason(reason) == label


def test_refused_pods_are_counted_by_their_events_from_1_32_on() -> None:
    uid = PodUid("p1")
    events = (
        EventEmitted("Warning", "UnexpectedAdmissionError", "", uid),
        EventEmitted("Warning", "OutOfexample.com/gpu", "", uid),
        EventEmitted("Warning", "OutOfexample.com/nic", "", uid),
        EventEmitted("Warning", "Failed", "", uid),
        EventEmitted("Warning", "Rebooted", ""),
        EventEmitted("Normal", "Killing", "", uid),
        PodDeleted(uid, "p1"),
    )
    old, new = (KubeletCounts(behavior_for(version), NONE) for version in ("1.31.9", "1.32.0"))
    for event in events:
        old.take(event)
        new.take(event)

    assert old.rejections is None
    assert new.rejections == {"UnexpectedAdmissionError": 1, "OutOfExtendedResources": 2}


def test_names_of_register_calls_are_bounded_in_length_and_number() -> None:
    """A plugin may name anything before it is refused."""
    counts = KubeletCounts(behavior_for("1.36.2"), NONE)
    for number in range(1_500):
        counts.registration_requested(f"{number}" + "x" * 5_000)
    counts.registration_requested("0" + "x" * 5_000)

    assert len(counts.registrations) == 1_001
    assert max(len(name) for name in counts.registrations) == 317
    assert counts.registrations["(others)"] == 500
    assert counts.registrations["0" + "x" * 316] == 2
