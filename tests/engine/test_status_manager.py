"""The status manager (S12.3 to S12.5), node status and lease (S12.6), by what they ask."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from simulator.core.instants import MILLISECOND
from simulator.core.records import PodPhaseChanged
from simulator.engine.actions import (
    ApiOutage,
    CreatePod,
    CreatePods,
    DeletePod,
    FinishPod,
    RestartKubelet,
    StartPlugin,
)
from simulator.engine.faults import Fault, FaultKind, Op
from tests.engine.runs import NODE, Run, a_spec, container, pod, seconds

POD_CALLS = ("GET pods", "PATCH pods/status", "DELETE pods")


def started(*names: str, faults: tuple[Fault, ...] = ()) -> Run:
    pods = tuple(pod(name, container(count=0)) for name in ("a", "b", "c"))
    run = Run(a_spec(*pods), faults=faults)
    run.do(StartPlugin("gpu"))
    for name in names:
        run.do(CreatePod(name))
    return run


def calls(run: Run) -> Counter[str]:
    """Return what was asked so far, and count from now on."""
    found = Counter(run.simulation.nodes[NODE].api_calls)
    run.simulation.nodes[NODE].api_calls.clear()
    return found


def of_pods(found: Counter[str]) -> tuple[int, ...]:
    return tuple(found[name] for name in POD_CALLS)


def test_a_pod_start_costs_two_status_syncs_of_two_requests() -> None:
    """S12.4; persistence-designs 3.1: each status sync is GET and PATCH."""
    run = started("a")
    run.wait(1)

    assert of_pods(calls(run)) == (2, 2, 0)


def test_a_deleted_pod_costs_one_more_status_and_the_deletion() -> None:
    """S12.4; persistence-designs 3.1: terminated status, final delete."""
    run = started("a")
    run.wait(1)
    calls(run)
    run.do(DeletePod("a"))
    run.wait(1)

    assert of_pods(calls(run)) == (1, 1, 1)


def test_a_pod_that_ended_before_it_is_deleted_has_said_so_already() -> None:
    run = started("a")
    run.do(FinishPod("a"))
    run.wait(1)
    calls(run)
    run.do(DeletePod("a"))
    run.wait(1)

    assert of_pods(calls(run)) == (1, 0, 1)


def test_a_restarted_kubelet_reads_each_pod_and_patches_nothing() -> None:
    """S12.4: skipped if nothing changes; an empty cache has to look."""
    run = started("a", "b", "c")
    run.wait(1)
    calls(run)
    run.do(RestartKubelet(NODE))
    run.wait(5)

    assert of_pods(calls(run)) == (3, 0, 0)


def test_pods_are_synced_one_after_the_other() -> None:
    """S12.4: of three pods at once each status lands 10 ms, two requests, after the one before."""
    run = started()
    run.begin(CreatePods(("a", "b", "c"), NODE))
    run.wait(2)
    running = [each.at for each in run.simulation.records if _runs(each.record)]

    assert running[1] - running[0] == 10 * MILLISECOND
    assert running[2] - running[1] == 10 * MILLISECOND


def _runs(record: object) -> bool:
    return isinstance(record, PodPhaseChanged) and record.phase == "Running"


@pytest.mark.parametrize("kind", ["patch", "outage"])
def test_what_failed_waits_for_the_ticker(kind: str) -> None:
    """S12.3, S12.4: no immediate retry; the ticker comes every 10 s."""
    fault = Fault(FaultKind.ERROR, Op.STATUS_PATCH, nth=3)
    run = started("a", faults=(fault,) if kind == "patch" else ())
    run.wait(1)
    if kind == "outage":
        run.do(ApiOutage(NODE, seconds(2)))
    run.begin(FinishPod("a"))
    run.wait(4)
    assert run.pod("a").phase == "Running"
    run.wait(6)

    assert run.pod("a").phase == "Succeeded"


def test_what_failed_goes_along_with_the_next_change_of_any_pod() -> None:
    """S12.3: a notified pass syncs every pod whose status is newer than what was sent."""
    fault = Fault(FaultKind.ERROR, Op.STATUS_PATCH, nth=3)
    run = started("a", faults=(fault,))
    run.begin(FinishPod("a"))
    run.wait(2)
    assert run.pod("a").phase == "Running"
    run.do(CreatePod("b"))
    run.wait(0.1)

    assert run.pod("a").phase == "Succeeded"


def test_a_status_whose_reply_was_lost_is_there_and_read_again() -> None:
    """W6: the patch was carried out; the next pass finds nothing to patch."""
    fault = Fault(FaultKind.ERROR, Op.STATUS_PATCH, nth=2)
    late = replace(fault, when=type(fault.when).AFTER)
    run = started("a", faults=(late,))
    assert run.pod("a").phase == "Running"
    run.wait(12)

    assert of_pods(calls(run)) == (3, 2, 0)


def test_the_lease_is_renewed_every_ten_seconds_and_the_status_patched_on_change() -> None:
    """S12.6."""
    run = started()
    run.wait(12)
    calls(run)
    run.wait(100)
    found = calls(run)

    assert found["PUT leases"] == 10
    assert found["PATCH nodes/status"] == 0
    run.wait(300)
    assert calls(run)["PATCH nodes/status"] == 1
