"""The strategy `database`: what is committed when, and what a failed commit means."""

import pytest

from simulator.core.behavior import Reservations
from simulator.core.calls import Conflict, LoadState, Stored, StoreFailed
from simulator.core.endpoints import PluginOptions
from simulator.core.instants import MINUTE, Duration
from simulator.core.machine import Machine, TopologyOptions, TopologyPolicy, TopologyScope
from simulator.core.persistence.database import DatabasePersistence
from simulator.core.pods import ContainerName, PodUid
from simulator.core.records import ManagerStarted, StateWritten
from simulator.core.transitions import (
    DeviceBinding,
    DevicesReported,
    NodeName,
    NodeState,
    PodAdmitted,
    PodIdentity,
    PodRejected,
    PodsReleased,
    ResourceRemoved,
)
from tests.core.driving import GPU, MAIN, NIC, Rig, container, device, ids, pod
from tests.core.persistence.views import View

NODE = NodeName("n0")


@pytest.fixture
def rig() -> Rig:
    return Rig(persistence=lambda _: DatabasePersistence(), reservations=Reservations.TRANSACTIONAL)


def test_the_strategy_has_the_name_of_the_flag() -> None:
    assert DatabasePersistence().name == "database"


def test_all_containers_of_a_pod_are_one_commit(rig: Rig) -> None:
    rig.plug(GPU, "g0", "g1")
    rig.commits.clear()

    rig.admit(pod("p1", container("one", {GPU: 1}), container("two", {GPU: 1})))

    [[admitted]] = rig.commits
    assert isinstance(admitted, PodAdmitted)
    assert admitted.pod == PodIdentity(PodUid("p1"), "default", "name-p1")
    assert [(each.container, each.devices) for each in admitted.bindings] == [
        ("one", {-1: ids("g0")}),
        ("two", {-1: ids("g1")}),
    ]


def test_a_pod_that_gets_nothing_new_costs_no_commit(rig: Rig) -> None:
    rig.plug(GPU, "g0")
    rig.admit(pod("p1", {GPU: 1}))
    rig.commits.clear()

    rig.admit(pod("p1", {GPU: 1}))
    rig.admit(pod("p2", {NIC: 1}))

    assert rig.commits == []


def test_a_list_is_committed_when_it_changed(rig: Rig) -> None:
    rig.plug(GPU, "g0")
    rig.report(GPU, "g0")
    rig.report(GPU, device("g0", "Unhealthy"))

    assert rig.commits == [
        (DevicesReported(NODE, rig.facts.now, GPU, (device("g0"),)),),
        (DevicesReported(NODE, rig.facts.now, GPU, (device("g0", "Unhealthy"),)),),
    ]


def test_a_list_that_could_not_be_committed_goes_along_with_the_next_commit(rig: Rig) -> None:
    rig.manager.register(GPU, PluginOptions())
    rig.write_error = "database or disk is full"
    assert rig.report(GPU, "g0") == (
        "failed to commit device bindings to the database: database or disk is full"
    )
    rig.write_error = ""

    assert rig.admit(pod("p1", {GPU: 1})).admitted
    assert [type(each) for each in rig.commits[-1]] == [DevicesReported, PodAdmitted]
    assert rig.report(GPU, "g0") == ""
    assert len(rig.commits) == 1  # The database knows the list by now.


def test_a_list_that_comes_while_another_is_committed_is_told_later() -> None:
    strategy = DatabasePersistence()
    view = View()
    first = strategy.on_devices_changed(view, GPU, (device("g0"),))
    next(first)
    second = strategy.on_devices_changed(view, GPU, (device("g0"), device("g1")))
    call = next(second)
    with pytest.raises(StopIteration):
        first.send(Stored(1))
    with pytest.raises(StopIteration):
        second.send(StoreFailed("full"))
    retried = next(strategy.on_released(view, [PodUid("p1")]))

    assert retried.transitions[0] == call.transitions[0]  # type: ignore[union-attr]  # commits
    assert len(retried.transitions) == 2  # type: ignore[union-attr]  # as above


def test_a_removed_resource_is_committed(rig: Rig) -> None:
    rig.plug(GPU, "g0")
    rig.manager.disconnect(GPU)
    rig.pass_time(Duration(6 * MINUTE))
    rig.run(rig.manager.expire_endpoints())

    assert rig.commits[-1] == (ResourceRemoved(NODE, rig.facts.now, GPU),)


def test_a_release_that_cannot_be_committed_frees_nothing(rig: Rig) -> None:
    """Releases are durable before a device is given again."""
    rig.plug(GPU, "g0")
    rig.admit(pod("p1", {GPU: 1}))
    rig.end("p1")
    rig.refuse_commit = lambda commit: (
        StoreFailed("input/output error")
        if isinstance(commit.transitions[0], PodsReleased)
        else None
    )

    assert rig.run(rig.manager.release_inactive()) == ()
    assert rig.held("p1") == ["g0"]
    assert rig.admit(pod("p2", {GPU: 1})).message == rig.message(
        "failed to commit device bindings to the database: input/output error"
    )

    rig.refuse_commit = lambda _: None
    assert rig.admit(pod("p3", {GPU: 1})).admitted
    assert rig.held("p1") == []


@pytest.mark.parametrize("scope", TopologyScope)
def test_a_release_that_fails_before_the_hints_refuses_the_pod(scope: TopologyScope) -> None:
    rig = Rig(
        persistence=lambda _: DatabasePersistence(),
        machine=Machine.with_nodes(1),
        topology=TopologyOptions(policy=TopologyPolicy.BEST_EFFORT, scope=scope),
    )
    rig.plug(GPU, device("g0", nodes=[0]))
    rig.admit(pod("p1", {GPU: 1}))
    rig.end("p1")
    rig.write_error = "input/output error"

    text = "failed to commit device bindings to the database: input/output error"
    assert rig.admit(pod("p2", {GPU: 1})).message == rig.message(text)


def test_a_second_holder_is_refused_in_the_stores_words(rig: Rig) -> None:
    text = "device g0 of example.com/gpu is held by pod p9"
    rig.plug(GPU, "g0")
    rig.refuse_commit = lambda commit: (
        Conflict(text) if isinstance(commit.transitions[0], PodAdmitted) else None
    )

    assert rig.admit(pod("p1", {GPU: 1})).message == rig.message(text)
    rejected = rig.commits[-1][0]
    assert isinstance(rejected, PodRejected)
    assert (rejected.pod.uid, rejected.reason) == ("p1", "UnexpectedAdmissionError")
    assert rejected.message == rig.message(text)


def test_a_commit_is_recorded_with_its_cause(rig: Rig) -> None:
    rig.plug(GPU, "g0")
    rig.admit(pod("p1", {GPU: 1}))
    rig.write_error = "full"
    rig.report(GPU)

    written = [each for each in rig.manager.take_records() if isinstance(each, StateWritten)]
    assert written == [
        StateWritten("database", "devices", 1),
        StateWritten("database", "admission", 1),
        StateWritten("database", "devices", 1, "full"),
    ]


def test_a_node_starts_from_what_the_store_knows(rig: Rig) -> None:
    binding = DeviceBinding(PodUid("p1"), ContainerName("main"), GPU, {}, b"")
    rig.stored = NodeState(NODE, 7, bindings=(binding,), registered=(GPU, NIC))
    rig.manager.take_records()

    restored = rig.start()

    assert (restored.source, restored.error, restored.fatal) == ("database", "", False)
    assert rig.manager.bindings_of(PodUid("p1")) == [binding]
    assert rig.manager.snapshot().endpoints == {GPU: "stopped", NIC: "stopped"}
    assert rig.manager.take_records() == [
        ManagerStarted(
            source="database",
            bindings=1,
            held=((binding.pod, binding.container, GPU, ()),),
            registered=(GPU, NIC),
        )
    ]


def test_a_damaged_database_is_fatal_and_never_an_empty_one() -> None:
    loading = DatabasePersistence().load(View())
    assert next(loading) == LoadState()

    with pytest.raises(StopIteration) as stopped:
        loading.send(StoreFailed("database disk image is malformed"))

    assert stopped.value.value.fatal
    assert stopped.value.value.error == "database disk image is malformed"


def test_a_reply_of_another_kind_is_a_drivers_mistake() -> None:
    loading = DatabasePersistence().load(View())
    next(loading)

    with pytest.raises(TypeError, match="a store call cannot be answered with Stored"):
        loading.send(Stored())


def test_an_allocation_at_a_containers_start_is_committed_too(rig: Rig) -> None:
    """S3.23: outside of an admission."""
    created = pod("p1", {GPU: 1})
    rig.admit(created)
    rig.plug(GPU, "g0")
    rig.run(rig.manager.run_options(created, MAIN))

    admitted = rig.commits[-1][0]
    assert isinstance(admitted, PodAdmitted)
    assert [each.devices for each in admitted.bindings] == [{-1: ids("g0")}]
