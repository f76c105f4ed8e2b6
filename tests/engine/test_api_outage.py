"""A node that cannot reach the API server (table 3.3 of the persistence designs)."""

from __future__ import annotations

import pytest

from simulator.core.records import AdmissionDecided, KubeletStarted, PodPhaseChanged
from simulator.engine.actions import (
    ApiOutage,
    CrashKubelet,
    CreatePod,
    DeletePod,
    FinishPod,
    RestartKubelet,
    StartPlugin,
)
from simulator.engine.api import ApiServer
from simulator.engine.faults import Fault, FaultKind, Op
from simulator.engine.timeline import Timeline
from tests.engine.runs import NODE, Run, a_spec, pod, seconds, with_plugin


def started(*names: str, faults: tuple[Fault, ...] = ()) -> Run:
    spec = with_plugin(a_spec(pod("a"), pod("b")), reregister_after=seconds(0.01))
    run = Run(spec, faults=faults)
    run.do(StartPlugin("gpu"))
    for name in names:
        run.do(CreatePod(name))
    return run


def test_a_pod_that_is_created_during_an_outage_starts_after_it() -> None:
    run = started()
    run.do(ApiOutage(NODE, seconds(30)))
    run.begin(CreatePod("a"))
    run.wait(29)
    assert run.pod("a").phase == "Pending"
    run.wait(2)

    assert run.pod("a").phase == "Running"


def test_a_pod_that_was_delivered_before_starts_and_its_status_comes_late() -> None:
    """S12.3: what has failed waits for the ticker, which comes every 10 s."""
    run = started()
    run.begin(CreatePod("a"))
    run.wait(0.006)
    run.do(ApiOutage(NODE, seconds(30)))
    run.wait(20)
    assert run.pod("a").phase == "Pending"
    assert [each.admitted for each in run.records(AdmissionDecided)] == [True]
    run.wait(20)

    assert run.pod("a").phase == "Running"


def test_a_kubelet_that_restarts_in_an_outage_learns_its_pods_when_it_ends() -> None:
    run = started("a")
    before = run.simulation.now
    run.do(ApiOutage(NODE, seconds(30)))
    run.begin(RestartKubelet(NODE))
    run.wait(29)
    assert run.records(AdmissionDecided, before) == []
    run.wait(2)

    assert [each.admitted for each in run.records(AdmissionDecided, before)] == [True]
    assert run.pod("a").unchanged


def test_a_kubelet_that_dies_waiting_for_the_api_admits_nobody() -> None:
    run = started("a")
    before = run.simulation.now
    run.do(ApiOutage(NODE, seconds(30)))
    run.begin(RestartKubelet(NODE))
    run.wait(5)
    run.begin(RestartKubelet(NODE, seconds(60)))
    run.wait(50)

    assert run.records(AdmissionDecided, before) == []


def test_of_two_outages_the_one_that_ends_later_counts() -> None:
    run = started()
    run.do(ApiOutage(NODE, seconds(30)))
    run.do(ApiOutage(NODE, seconds(10)))
    run.begin(CreatePod("a"))
    run.wait(20)
    assert run.pod("a").phase == "Pending"
    run.wait(12)

    assert run.pod("a").phase == "Running"


def test_a_deletion_during_an_outage_is_seen_after_it() -> None:
    run = started("a", "b")
    run.do(ApiOutage(NODE, seconds(30)))
    run.do(DeletePod("a", force=True))
    run.wait(20)
    assert run.pod("a").devices == (("example.com/gpu", 1),)
    run.begin(DeletePod("b"))
    run.wait(60)

    assert run.pod("b").phase == "Deleted"


def test_the_last_status_of_an_outage_is_the_one_that_arrives() -> None:
    run = started("a")
    run.wait(1)
    before = run.simulation.now
    run.do(ApiOutage(NODE, seconds(30)))
    run.begin(FinishPod("a"))
    run.wait(40)

    assert [each.phase for each in run.records(PodPhaseChanged, before)] == ["Succeeded"]


def test_a_status_patch_that_fails_is_sent_again() -> None:
    """S12.4."""
    run = started("a", faults=(Fault(FaultKind.ERROR, Op.STATUS_PATCH),))

    assert run.pod("a").phase == "Running"


def test_a_status_patch_that_hangs_leaves_the_api_behind() -> None:
    run = started(faults=(Fault(FaultKind.HANG, Op.STATUS_PATCH),))
    run.begin(CreatePod("a"))
    run.wait(60)

    assert run.pod("a").phase == "Pending"


def test_a_crash_before_the_status_patch_loses_it_and_the_next_kubelet_sends_it() -> None:
    fault = Fault(FaultKind.CRASH, Op.STATUS_PATCH, duration=seconds(1))
    run = started("a", faults=(fault,))

    assert run.pod("a").phase == "Running"
    assert len(run.records(KubeletStarted)) == 2


def test_a_status_of_a_dead_kubelet_is_never_sent() -> None:
    run = started("a")
    run.do(ApiOutage(NODE, seconds(30)))
    run.begin(FinishPod("a"))
    run.wait(5)
    run.begin(CrashKubelet(NODE, seconds(1000)))
    run.wait(60)

    assert run.pod("a").phase == "Running"


def test_a_deletion_by_a_dead_kubelet_is_never_sent() -> None:
    run = started("a")
    run.begin(DeletePod("a"))
    run.wait(29)
    run.do(ApiOutage(NODE, seconds(30)))
    run.wait(5)
    run.begin(CrashKubelet(NODE, seconds(1000)))
    run.wait(60)

    assert run.pod("a").phase == "Running"


@pytest.mark.parametrize("reachable", ["reachable", "cut off"])
def test_an_api_without_a_kubelet_delivers_to_nobody(reachable: str) -> None:
    timeline = Timeline()
    api = ApiServer(timeline, lambda _node, _record: None)
    if reachable == "cut off":
        api.cut_off(NODE)
        api.restore(NODE)
    done: list[int] = []
    api.when_reachable(NODE, lambda: done.append(1))
    api.disconnect(NODE)

    assert done == [1]
