"""What changes while a decision waits for a plugin: the moment in which the kubelet has no lock.

Its answers are in the rules about that moment (S3.11, S3.14, S3.18); `transactional` may differ.
"""

import random

import pytest

from simulator.core.behavior import Behavior, Reservations
from simulator.core.calls import AllocateCall, Commit
from simulator.core.machine import Machine, TopologyOptions, TopologyPolicy
from simulator.core.panics import KubeletPanic
from simulator.core.persistence.checkpoint import CheckpointPersistence
from simulator.core.persistence.database import DatabasePersistence
from simulator.core.pods import ContainerKind, ContainerName
from simulator.core.refusals import Refusal
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


def interleaved(seed: int, behavior: Behavior = Behavior()) -> Rig:  # noqa: B008 - frozen
    """Admit a pod while its preferred devices are asked for and other things happen (R107)."""
    chance = random.Random(seed)  # noqa: S311 - repeatable chance is the point
    persistence = chance.choice([CheckpointPersistence, lambda _: DatabasePersistence()])
    rig = Rig(behavior=behavior, persistence=persistence)
    total = chance.randint(2, 6)
    devices = [f"g{number}" for number in range(total)]
    rig.plug(GPU, *devices, preferred=True)
    holders = [f"old{number}" for number in range(chance.randint(1, total - 1))]
    for holder in holders:
        rig.admit(pod(holder, {GPU: 1}))

    def meanwhile() -> None:
        for _ in range(chance.randint(1, 6)):
            match chance.choice(["end", "list", "report"]):
                case "end" if holders:
                    rig.end(holders.pop(chance.randrange(len(holders))))
                case "report":
                    rig.report(GPU, *devices)
                case _:
                    rig.run(rig.manager.release_inactive())

    rig.meanwhile = meanwhile
    assert rig.admit(pod("p1", {GPU: 1})).admitted
    rig.run(rig.manager.release_inactive())
    assert sorted(rig.held("p1")) == rig.held("p1")
    assert len(rig.held("p1")) == 1
    assert len(rig.allocated() or []) == len(holders) + 1
    assert rig.manager.violations() == []
    return rig


def test_a_thousand_ways_to_release_while_the_plugin_is_asked_end_well() -> None:
    """R107: the pod is admitted, and what the last holders had is free."""
    asked = {type(call).__name__ for seed in range(1000) for call in interleaved(seed).calls}

    assert asked == {"AllocateCall", "PreferredAllocationCall"}


def test_some_of_those_ways_ended_older_kubelets() -> None:
    """R107: those in which the last holder was released, and its set dropped."""
    older = Behavior(rebuild_during_preference_crashes=True)
    panics = 0
    for seed in range(100):
        try:
            interleaved(seed, older)
        except KubeletPanic:
            panics += 1

    assert 0 < panics < 100


@pytest.mark.parametrize("report_in_between", [False, True])
def test_hints_are_those_of_one_list_though_another_arrives(
    report_in_between: bool,  # noqa: FBT001 - given by name
) -> None:
    """R109: the release before them is the only moment in which a list can come in."""
    rig = Rig(
        persistence=lambda _: DatabasePersistence(),
        machine=Machine.with_nodes(2),
        topology=TopologyOptions(policy=TopologyPolicy.BEST_EFFORT),
    )
    old = [device("g0", nodes=[0]), device("g1", nodes=[0])]
    new = [device("g0", nodes=[1]), device("g1", nodes=[1])]
    rig.plug(GPU, *old)
    rig.admit(pod("gone", {GPU: 1}))
    rig.end("gone")
    commits: list[Commit] = []

    def between(commit: Commit) -> None:
        commits.append(commit)
        if report_in_between and len(commits) == 1:
            rig.report(GPU, *new)

    rig.refuse_commit = between
    hints = rig.run(rig.manager.topology_hints(pod("p1", {GPU: 2}), MAIN))
    node = 1 if report_in_between else 0

    assert commits
    assert not isinstance(hints, Refusal)
    assert [hint.affinity for hint in hints[GPU] or () if hint.preferred] == [(node,)]
