"""What changes while a decision waits for a plugin: the moment in which the kubelet has no lock.

Its answers are in the rules about that moment (S3.11, S3.14, S3.18); `transactional` may differ.
"""

import pytest

from simulator.core.behavior import Behavior, Reservations
from simulator.core.calls import AllocateCall
from simulator.core.machine import Machine, TopologyOptions, TopologyPolicy
from simulator.core.panics import KubeletPanic
from simulator.core.pods import ContainerKind, ContainerName
from tests.core.driving import GPU, MAIN, NIC, Rig, allocate_ids, container, device, pod


def test_devices_that_sicken_while_the_plugin_is_asked_are_not_given_without_leaks() -> None:
    """Steps K and L find nothing more to take; the kubelet itself would give the sick device."""
    strict = Rig(reservations=Reservations.TRANSACTIONAL)
    upstream = Rig()
    for rig in (strict, upstream):
        rig.plug(GPU, "g0", "g1", preferred=True)

        def sicken(rig: Rig = rig) -> None:
            rig.report(GPU, "g0", device("g1", "Unhealthy"))

        rig.meanwhile = sicken

    admission = strict.admit(pod("p1", {GPU: 2}))

    assert admission.message == strict.message(
        "unexpectedly allocated less resources than required. Requested: 2, Got: 1"
    )
    assert strict.allocated() is None
    assert upstream.admit(pod("p1", {GPU: 2})).admitted
    assert upstream.held("p1") == ["g0", "g1"]


def test_a_device_that_vanishes_during_allocate_ends_the_kubelet_of_1_36() -> None:
    """S3.14, X16."""
    rig = Rig()
    rig.plug(GPU, "g0")

    def vanish() -> None:
        rig.report(GPU)

    rig.meanwhile = vanish

    with pytest.raises(KubeletPanic) as panic:
        rig.admit(pod("p1", {GPU: 1}))

    assert panic.value.record.rule == "S3.14"


def test_a_rebuild_while_the_plugin_is_asked_ended_older_kubelets() -> None:
    """R107: the set of allocated devices was dropped and then written into."""
    rig = Rig(
        behavior=Behavior(rebuild_during_preference_crashes=True),
        machine=Machine.with_nodes(2),
        topology=TopologyOptions(policy=TopologyPolicy.BEST_EFFORT),
    )
    rig.plug(GPU, device("g0", nodes=[0]), device("g1", nodes=[1]), preferred=True)
    rig.plug(NIC, device("n0", nodes=[0]), device("n1", nodes=[0]))
    rig.admit(pod("gone", {NIC: 1}))

    def rebuild() -> None:
        rig.end("gone")
        rig.run(rig.manager.release_inactive())

    rig.meanwhile = rebuild

    with pytest.raises(KubeletPanic) as panic:
        rig.admit(pod("p1", {GPU: 2, NIC: 1}))

    assert panic.value.record.detail == "example.com/gpu has no set of allocated devices"


def test_a_container_start_hands_nothing_on_to_the_pod_that_is_being_admitted() -> None:
    """S3.1, S3.23: the reuse map of another pod is gone; kubelets crash here (#130050)."""
    rig = Rig()
    early = pod("p1", container("first", {GPU: 1}, ContainerKind.INIT), {})
    rig.admit(early)  # Its plugin is not known yet.
    rig.plug(GPU, "g0", "g1", "g2")
    starting = rig.manager.run_options(early, ContainerName("first"))
    call = next(starting)
    assert isinstance(call, AllocateCall)
    late = pod("p2", container("first", {GPU: 1}, ContainerKind.INIT), {GPU: 2})

    def start_the_other() -> None:
        write = starting.send(allocate_ids(call))
        with pytest.raises(StopIteration):
            starting.send(rig.answer(write))

    rig.meanwhile = start_the_other

    assert rig.admit(late).admitted
    assert rig.held("p1", "first") == ["g0"]
    assert rig.held("p2") == ["g1", "g2"]
    assert rig.manager.violations() == []


def test_a_container_start_that_is_taken_back_leaves_the_other_pod_what_it_hands_on() -> None:
    """`transactional`: what is forgotten with a refused allocation is that pod's own."""
    rig = Rig(reservations=Reservations.TRANSACTIONAL)
    early = pod("p1", {GPU: 1, NIC: 1})
    rig.admit(early)  # Its plugins are not known yet.
    rig.plug(GPU, "g0", "g1")
    rig.plug(NIC)
    starting = rig.manager.run_options(early, MAIN)
    call = next(starting)
    assert isinstance(call, AllocateCall)
    late = pod("p2", container("first", {GPU: 1}, ContainerKind.INIT), {GPU: 1})
    rig.admit(pod("p0", {}))
    asked = rig.manager.admit(late)
    rig.facts.active_pods.add(late)
    first = next(asked)
    assert isinstance(first, AllocateCall)
    write = asked.send(allocate_ids(first))
    second_write = starting.send(allocate_ids(call))  # Its second resource has no devices.
    with pytest.raises(StopIteration):
        starting.send(rig.answer(second_write))
    again = asked.send(rig.answer(write))
    assert isinstance(again, AllocateCall)
    last_write = asked.send(allocate_ids(again))
    with pytest.raises(StopIteration) as admitted:
        asked.send(rig.answer(last_write))

    assert admitted.value.value.admitted
    assert rig.held("p2") == rig.held("p2", "first") == ["g1"]
