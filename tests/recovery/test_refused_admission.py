"""What a refused admission leaves behind: nothing, or the kubelet's own leaks (S3.12 to S3.18)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from simulator.core.behavior import Behavior, Reservations
from simulator.core.calls import (
    AllocateCall,
    AllocateReply,
    CallFailed,
    Conflict,
    PluginReply,
    PreferredAllocationCall,
)
from simulator.core.machine import Machine, TopologyOptions, TopologyPolicy
from simulator.core.persistence.checkpoint import CheckpointPersistence
from simulator.core.persistence.database import DatabasePersistence
from simulator.core.persistence.protocol import Persistence
from simulator.core.pods import Pod
from simulator.core.records import Record, ReservationLeaked
from simulator.core.transitions import PodAdmitted
from tests.core.driving import GPU, NIC, Rig, allocate_ids, container, device, ids, pod

Spoil = Callable[[Rig], None]
STRATEGIES: dict[str, Callable[[Behavior], Persistence]] = {
    "checkpoint": CheckpointPersistence,
    "database": lambda _: DatabasePersistence(),
}

TWO_CONTAINERS = pod("refused", container("first", {GPU: 1}), container("second", {GPU: 2}))
TWO_RESOURCES = pod("refused", {GPU: 2, NIC: 1})
TOO_MANY = pod("refused", container("first", {GPU: 1}), container("second", {GPU: 3}))


def second_allocate(reply: PluginReply) -> Spoil:
    """Answer the second Allocate call with `reply`."""

    def spoil(rig: Rig) -> None:
        def answer(call: AllocateCall) -> PluginReply:
            calls = [one for one in rig.calls if isinstance(one, AllocateCall)]
            return reply if len(calls) == 2 else allocate_ids(call)

        rig.calls.clear()
        rig.on_allocate = answer

    return spoil


def no_answer_about_preference(rig: Rig) -> None:
    def answer(call: PreferredAllocationCall) -> PluginReply:
        del call
        return CallFailed("rpc error: code = Unknown desc = no idea")

    rig.on_preferred = answer


def full_disk(rig: Rig) -> None:
    rig.write_error = "no space left on device"


def nothing(rig: Rig) -> None:
    del rig


WAYS: dict[str, tuple[Pod, Spoil]] = {
    "second Allocate fails": (TWO_CONTAINERS, second_allocate(CallFailed("rpc error"))),
    "second Allocate is empty": (TWO_CONTAINERS, second_allocate(AllocateReply(None))),
    "second resource fails": (TWO_RESOURCES, second_allocate(CallFailed("rpc error"))),
    "too few for the second container": (TOO_MANY, nothing),
    "preference fails": (TWO_CONTAINERS, no_answer_about_preference),
    "disk full": (TWO_CONTAINERS, full_disk),
}


def node_with_one_pod(strategy: str, reservations: Reservations) -> Rig:
    """Return a node on which p1 holds g0 of four, and n0 is free."""
    rig = Rig(persistence=STRATEGIES[strategy], reservations=reservations)
    rig.plug(GPU, "g0", "g1", "g2", "g3")
    rig.plug(NIC, "n0")
    assert rig.admit(pod("p1", {GPU: 1})).admitted
    rig.plug(GPU, "g0", "g1", "g2", "g3", preferred=True)
    return rig


def durable(rig: Rig) -> list[str]:
    """Return the uids of which the durable state has bindings: of the file, or of all commits."""
    if rig.file is not None:
        return [uid for uid in ("p1", "refused", "next") if f'"{uid}"'.encode() in rig.file]
    return [one.pod.uid for commit in rig.commits for one in commit if isinstance(one, PodAdmitted)]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_transactional_leaves_nothing_of_a_refused_pod(strategy: str, way: str) -> None:
    refused, spoil = WAYS[way]
    rig = node_with_one_pod(strategy, Reservations.TRANSACTIONAL)
    before = in_use(rig)
    rig.manager.take_records()
    spoil(rig)

    admission = rig.admit(refused)

    assert not admission.admitted
    assert in_use(rig) == before
    assert rig.manager.violations() == []
    assert leaks(rig) == []
    rig.on_allocate, rig.write_error = allocate_ids, ""
    rig.plug(GPU, "g0", "g1", "g2", "g3")
    assert rig.admit(pod("next", {GPU: 3, NIC: 1})).admitted
    assert durable(rig) == ["p1", "next"]


def in_use(rig: Rig) -> tuple[object, object]:
    now = rig.manager.snapshot()
    return now.allocated, now.bindings


def leaks(rig: Rig) -> list[Record]:
    return [one for one in rig.manager.take_records() if isinstance(one, ReservationLeaked)]


def test_a_second_holder_is_refused_and_leaves_nothing() -> None:
    """The database knows a holder that this kubelet does not."""
    rig = node_with_one_pod("database", Reservations.TRANSACTIONAL)
    before = in_use(rig)
    text = "device g1 of example.com/gpu is held by pod p9"
    rig.refuse_commit = lambda _: Conflict(text)

    admission = rig.admit(pod("refused", {GPU: 1}))

    assert admission.message == rig.message(text)
    assert in_use(rig) == before


def test_an_empty_answer_leaks_the_reservation_under_upstream_and_is_recorded() -> None:
    """S3.13, X3: the ids stay reserved; only the removal of a pod repairs that (S6.4)."""
    rig = node_with_one_pod("checkpoint", Reservations.UPSTREAM)
    rig.manager.take_records()
    rig.on_allocate = lambda _: AllocateReply(None)

    admission = rig.admit(pod("refused", {GPU: 2}))

    assert admission.message == rig.message("no containers return in allocation response ")
    assert leaks(rig) == [ReservationLeaked(GPU, ids("g1", "g2"), "S3.13")]
    assert rig.allocated() == ["g0", "g1", "g2"]
    rig.run(rig.manager.release_inactive())
    rig.on_allocate = allocate_ids
    assert rig.admit(pod("next", {GPU: 2})).message == rig.message(
        "requested number of devices unavailable for example.com/gpu. Requested: 2, Available: 1"
    )
    rig.end("p1")
    assert rig.admit(pod("next", {GPU: 4})).admitted


@pytest.mark.parametrize(
    ("reservations", "in_use_after", "recorded"),
    [
        (Reservations.UPSTREAM, ["g0"], [ReservationLeaked(GPU, ids("g0"), "S3.18")]),
        (Reservations.TRANSACTIONAL, None, []),
    ],
)
def test_a_failed_preference_leaks_the_aligned_device_taken_before_it(
    reservations: Reservations, in_use_after: list[str] | None, recorded: list[Record]
) -> None:
    """S3.18, X4: both GPUs are asked for, the NIC narrows the hint to the node of g0."""
    rig = Rig(
        reservations=reservations,
        machine=Machine.with_nodes(2),
        topology=TopologyOptions(policy=TopologyPolicy.BEST_EFFORT),
    )
    rig.plug(GPU, device("g0", nodes=[0]), device("g1", nodes=[1]), preferred=True)
    rig.plug(NIC, device("n0", nodes=[0]))
    no_answer_about_preference(rig)

    admission = rig.admit(pod("refused", {GPU: 2, NIC: 1}))

    assert admission.message == rig.message(
        "device plugin GetPreferredAllocation rpc failed with err: "
        "rpc error: code = Unknown desc = no idea"
    )
    assert leaks(rig) == recorded
    assert rig.allocated() == in_use_after


def test_the_first_resource_stays_in_memory_when_the_second_fails_under_upstream() -> None:
    """S3.16, X5: until the next release, since the pod is not active; the file does not know."""
    rig = node_with_one_pod("checkpoint", Reservations.UPSTREAM)
    second_allocate(CallFailed("rpc error"))(rig)

    rig.admit(TWO_RESOURCES)

    assert rig.held("refused", resource=GPU) == ["g1", "g2"]
    assert rig.held("refused", resource=NIC) == []
    assert durable(rig) == ["p1"]
    rig.run(rig.manager.release_inactive())
    assert rig.held("refused", resource=GPU) == []


def test_a_failed_rpc_gives_its_reservation_back_in_both_modes() -> None:
    """S3.12, X2."""
    for reservations in Reservations:
        rig = node_with_one_pod("checkpoint", reservations)
        rig.on_allocate = lambda _: CallFailed("rpc error: code = Unknown desc = out of memory")

        admission = rig.admit(pod("refused", {GPU: 2}))

        assert admission.message == rig.message("rpc error: code = Unknown desc = out of memory")
        assert rig.allocated() == ["g0"]
