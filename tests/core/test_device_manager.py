"""The device manager as a whole: what its entries answer and what they change."""

from simulator.core.instants import MINUTE, SECOND, Duration
from simulator.core.persistence.database import DatabasePersistence
from simulator.core.transitions import DevicesReported, PodAdmitted, PodsReleased
from tests.core.driving import GPU, MAIN, NIC, Rig, device, pod


def test_an_admitted_pod_has_its_devices_in_memory_and_in_the_file() -> None:
    rig = Rig()
    rig.plug(GPU, "g0", "g1")

    admission = rig.admit(pod("p1", {GPU: 1}))

    assert admission.admitted
    assert rig.held("p1") == ["g0"]
    assert rig.allocated() == ["g0"]
    assert rig.file is not None
    assert b'"PodUID":"p1"' in rig.file
    assert rig.manager.violations() == []


def test_too_few_devices_are_refused_in_the_kubelets_words() -> None:
    rig = Rig()
    rig.plug(GPU, "g0", "g1")
    rig.admit(pod("p1", {GPU: 2}))

    admission = rig.admit(pod("p2", {GPU: 1}))

    assert admission.reason == "UnexpectedAdmissionError"
    assert admission.message == rig.message(
        "requested number of devices unavailable for example.com/gpu. Requested: 1, Available: 0"
    )


def test_devices_of_an_ended_pod_are_free_for_the_next_one() -> None:
    rig = Rig()
    rig.plug(GPU, "g0")
    rig.admit(pod("p1", {GPU: 1}))
    rig.end("p1")

    assert rig.allocated() == ["g0"]
    assert rig.admit(pod("p2", {GPU: 1})).admitted
    assert rig.held("p1") == []
    assert rig.held("p2") == ["g0"]


def test_an_unknown_resource_is_skipped_silently() -> None:
    """S3.7."""
    rig = Rig()

    assert rig.admit(pod("p1", {NIC: 1})).admitted
    assert rig.calls == []
    assert rig.writes == []


def test_after_a_restart_the_bindings_are_there_and_the_resource_has_no_devices() -> None:
    """S2.8, S2.12, S5.13."""
    rig = Rig()
    rig.plug(GPU, "g0", "g1")
    rig.admit(pod("p1", {GPU: 1}))

    restored = rig.start(sources_ready=False)

    assert restored.source == "checkpoint"
    assert rig.held("p1") == ["g0"]
    assert rig.allocated() == ["g0"]
    capacity = rig.manager.capacity()
    assert dict(capacity.total) == {GPU: 0}
    assert dict(capacity.allocatable) == {GPU: 0}


def test_a_resource_is_removed_only_after_more_than_five_minutes() -> None:
    """S2.5, S2.9, S2.11."""
    rig = Rig()
    rig.plug(GPU, "g0", device("g1", "Unhealthy"))
    rig.manager.disconnect(GPU)
    rig.pass_time(Duration(5 * MINUTE))

    assert dict(rig.manager.capacity().total) == {GPU: 2}
    assert dict(rig.manager.capacity().allocatable) == {GPU: 0}
    assert rig.run(rig.manager.expire_endpoints()) == ()

    rig.pass_time(SECOND)
    written = len(rig.writes)

    assert rig.run(rig.manager.expire_endpoints()) == (GPU,)
    assert rig.run(rig.manager.expire_endpoints()) == ()
    assert dict(rig.manager.capacity().total) == {}
    assert len(rig.writes) == written + 1


def test_the_database_gets_one_commit_for_a_pod_and_one_for_a_release() -> None:
    rig = Rig(persistence=lambda _: DatabasePersistence())
    rig.plug(GPU, "g0", "g1")
    rig.admit(pod("p1", {GPU: 2}))
    rig.end("p1")
    rig.admit(pod("p2", {GPU: 1}))

    assert [type(commit[0]) for commit in rig.commits] == [
        DevicesReported,
        PodAdmitted,
        PodsReleased,
        PodAdmitted,
    ]
    assert rig.writes == []


def test_run_options_are_the_plugins_answer() -> None:
    rig = Rig()
    rig.plug(GPU, "g0")
    created = pod("p1", {GPU: 1})
    rig.admit(created)

    result = rig.run(rig.manager.run_options(created, MAIN))

    assert result.error == ""
    assert result.options is not None
    assert dict(result.options.envs) == {"IDS": "g0"}
