"""What the strategy `database` owes to the store, and that nothing is used before it is durable."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from simulator.core.behavior import Readmission, Reservations
from simulator.core.calls import (
    AllocateCall,
    CallFailed,
    Commit,
    Conflict,
    PluginReply,
    Reply,
    Stored,
)
from simulator.core.container_start import RunOptionsResult
from simulator.core.devices import NumaNode, device_ids
from simulator.core.instants import MINUTE, Duration, Instant
from simulator.core.persistence.database import DatabasePersistence
from simulator.core.pods import Pod
from simulator.core.transitions import (
    CheckpointImported,
    DeviceBinding,
    DevicesReported,
    NodeName,
    PodAdmitted,
    PodIdentity,
    PodsReleased,
)
from simulator.ports import Refused, Store
from store.memory.store import MemoryStore
from store.sql_store import SqlStore
from tests.core.driving import GPU, MAIN, NIC, Rig, allocate_ids, ids, pod

NODE = NodeName("n0")
FULL = "database or disk is full"


@pytest.fixture
def rig() -> Rig:
    return Rig(persistence=lambda _: DatabasePersistence())


@pytest.fixture(params=["memory", "sql"])
def store(request: pytest.FixtureRequest) -> Iterator[Store]:
    opened: Store = MemoryStore() if request.param == "memory" else SqlStore("sqlite://")
    yield opened
    opened.close()


def _start(rig: Rig, started: Pod) -> RunOptionsResult:
    return rig.run(rig.manager.run_options(started, MAIN))


def _admitted_before_its_plugins(rig: Rig) -> Pod:
    """Return a pod that gets its devices at its container's start (S3.7, S3.23)."""
    created = pod("p1", {GPU: 1, NIC: 1})
    assert rig.admit(created).admitted
    rig.plug(GPU, "g0")
    rig.plug(NIC, "n0")
    rig.commits.clear()
    return created


def _no_network(call: AllocateCall) -> PluginReply:
    return CallFailed("no network") if call.resource == NIC else allocate_ids(call)


def _bound(rig: Rig) -> list[list[str]]:
    return [
        [f"{one.resource}={','.join(device_ids(one.devices))}" for one in transition.bindings]
        for commit in rig.commits
        for transition in commit
        if isinstance(transition, PodAdmitted)
    ]


def _into(rig: Rig, store: Store) -> None:
    """Let the rig commit to a real store, as the drivers do."""

    def commit(call: Commit) -> Reply | None:
        outcomes = store.apply(call.transitions)
        refused = [one for one in outcomes if isinstance(one, Refused)]
        return Conflict(refused[0].message) if refused else None

    rig.refuse_commit = commit


def test_a_container_is_not_started_on_devices_that_the_database_did_not_take(rig: Rig) -> None:
    """S3.23 under `upstream`: the kubelet would start it at the second attempt (S3.15)."""
    created = _admitted_before_its_plugins(rig)
    rig.write_error = FULL

    first, second = _start(rig, created), _start(rig, created)

    assert (
        first.error == second.error == f"failed to commit device bindings to the database: {FULL}"
    )
    assert rig.held("p1") == []
    rig.write_error = ""
    assert _start(rig, created).error == ""
    assert _bound(rig) == [["example.com/gpu=g0", "example.com/nic=n0"]]


def test_what_a_refused_attempt_left_in_memory_is_committed_with_the_next_one(rig: Rig) -> None:
    """S3.16 keeps the first resource in memory; the second attempt adds only the other one."""
    created = _admitted_before_its_plugins(rig)
    rig.on_allocate = _no_network

    assert _start(rig, created).error == "no network"
    assert rig.held("p1") == ["g0"]
    assert rig.commits == []
    rig.on_allocate = allocate_ids
    rig.write_error = FULL
    assert FULL in _start(rig, created).error
    rig.write_error = ""

    assert _start(rig, created).error == ""
    assert _bound(rig) == [["example.com/gpu=g0", "example.com/nic=n0"]]
    assert _start(rig, created).error == ""
    assert len(rig.commits) == 1


def test_what_a_refused_attempt_left_is_committed_when_nothing_else_is_needed(rig: Rig) -> None:
    """The resource that was refused is unknown by the next start, and skipped (S3.7)."""
    created = _admitted_before_its_plugins(rig)
    rig.on_allocate = _no_network
    assert _start(rig, created).error == "no network"
    rig.manager.disconnect(NIC)
    rig.pass_time(Duration(5 * MINUTE + 1))
    rig.run(rig.manager.expire_endpoints())

    assert _start(rig, created).options is not None
    assert _bound(rig) == [["example.com/gpu=g0"]]


def test_what_a_waiting_pod_got_before_it_had_to_wait_is_committed_when_it_is_admitted(
    rig: Rig,
) -> None:
    """`wait` asks again in the same process, where S3.16 has kept the first resource."""
    rig.readmission = Readmission.WAIT
    rig.start()
    rig.plug(NIC, "n0")
    created = pod("p1", {GPU: 1, NIC: 1})
    rig.admit(created)  # Nobody knows of the other resource yet.
    rig.plug(GPU, "g0")
    rig.report(NIC)
    rig.commits.clear()

    assert rig.admit(created).retry
    rig.report(NIC, "n0")

    assert rig.admit(created).admitted
    assert _bound(rig) == [["example.com/gpu=g0"]]


def test_what_was_released_meanwhile_is_not_committed_any_more(rig: Rig) -> None:
    """S3.23, S6.1: the pod ends while its container is being prepared."""
    created = _admitted_before_its_plugins(rig)

    def end_and_release() -> None:
        rig.end("p1")
        rig.run(rig.manager.release_inactive())

    def end_during_the_second(call: AllocateCall) -> PluginReply:
        if call.resource == NIC:
            end_and_release()
        return allocate_ids(call)

    rig.on_allocate = end_during_the_second

    assert _start(rig, created).error == ""
    assert isinstance(rig.commits[0][0], PodsReleased)
    assert _bound(rig) == [["example.com/nic=n0"]]
    assert rig.held("p1") == []
    assert rig.held("p1", resource=NIC) == ["n0"]


def test_a_refused_start_of_a_pod_that_ended_meanwhile_owes_nothing() -> None:
    """As above, and the second resource is refused: nothing is left to take back."""
    rig = Rig(persistence=lambda _: DatabasePersistence(), reservations=Reservations.TRANSACTIONAL)
    created = _admitted_before_its_plugins(rig)

    def end_and_fail(call: AllocateCall) -> PluginReply:
        if call.resource == NIC:
            rig.end("p1")
            rig.run(rig.manager.release_inactive())
        return _no_network(call)

    rig.on_allocate = end_and_fail

    assert _start(rig, created).error == "no network"
    assert _bound(rig) == []
    assert rig.manager.violations() == []


def test_a_removal_that_overtakes_the_commit_of_a_list_is_what_counts(rig: Rig) -> None:
    """The same list later is news to the database, which knows the resource as gone."""
    rig.plug(GPU, "g0")
    reporting = rig.manager.report_devices(GPU, [])
    next(reporting)
    rig.manager.disconnect(GPU)
    rig.pass_time(Duration(5 * MINUTE + 1))
    rig.run(rig.manager.expire_endpoints())
    with pytest.raises(StopIteration):
        reporting.send(Stored())
    rig.commits.clear()

    rig.plug(GPU)

    assert [type(one) for commit in rig.commits for one in commit] == [DevicesReported]


@pytest.mark.parametrize("reservations", Reservations)
def test_a_refused_admission_tells_what_it_had_along_and_leaves_nothing(
    store: Store, reservations: Reservations
) -> None:
    """One transition of a commit can be refused, and it is the last; the others are told again."""
    rig = Rig(persistence=lambda _: DatabasePersistence(), reservations=reservations)
    rig.write_error = FULL
    rig.plug(GPU, "g0", "g1")
    rig.write_error = ""
    other = PodIdentity(pod("other", {}).uid)
    foreign = DeviceBinding(other.uid, MAIN, GPU, {NumaNode(0): ids("g0")}, None)
    _into(rig, store)
    store.apply([PodAdmitted(NODE, Instant(0), other, (foreign,))])

    refused = rig.admit(pod("p1", {GPU: 1}))

    assert refused.message == rig.message("device g0 of example.com/gpu is held by pod other")
    assert rig.held("p1") == []
    assert [one.device for one in store.devices(node=NODE) if one.listed] == ["g0", "g1"]
    assert [one.pod for one in store.holders(node=NODE)] == [other]
    store.apply([PodsReleased(NODE, Instant(1), (other.uid,))])
    before = len(store.history())
    assert rig.admit(pod("p2", {GPU: 1})).admitted
    told = store.history()[before:]
    assert [one.kind for one in told] == ["PodAdmitted"]  # The list again changed nothing.
    assert [one.pod.uid for one in store.holders(node=NODE)] == ["p2"]


def test_a_commit_has_one_transition_at_most_that_can_be_refused(rig: Rig) -> None:
    """Else a refusal would leave half of an admission; device lists and releases never are."""
    commits: list[Commit] = []

    def fail_every_other(call: Commit) -> Reply | None:
        commits.append(call)
        return Conflict("held by another pod") if len(commits) % 2 else None

    rig.refuse_commit = fail_every_other
    for number in range(8):
        rig.plug(GPU, *(f"g{one}" for one in range(number + 2)))
        rig.plug(NIC, f"n{number}")
        rig.admit(
            pod(
                f"p{number}",
                {GPU: 1},
            )
        )
        rig.admit(
            pod(
                f"q{number}",
                {NIC: 1},
            )
        )
        if number % 3 == 0:
            rig.facts.active_pods.clear()

    refusable = [
        [isinstance(one, PodAdmitted | CheckpointImported) for one in call.transitions]
        for call in commits
    ]
    assert max(len(kinds) for kinds in refusable) > 1
    assert not any(any(kinds[:-1]) for kinds in refusable)
