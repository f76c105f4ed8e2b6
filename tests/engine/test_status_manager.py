"""The status manager (S12.3 to S12.5), node status and lease (S12.6), by what they ask."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from simulator.core.api_calls import ApiRefused
from simulator.core.devices import device_ids
from simulator.core.instants import MILLISECOND
from simulator.core.records import PodPhaseChanged
from simulator.engine.actions import (
    ApiOutage,
    CreatePod,
    CreatePods,
    DeletePod,
    FinishPod,
    RebootNode,
    RestartKubelet,
    StartPlugin,
)
from simulator.engine.api_requests import ApiRequest, PatchPodStatus
from simulator.engine.api_requests import DeletePod as DeletePodForGood
from simulator.engine.faults import Fault, FaultKind, Op
from tests.engine.refusing import Refuses, refusing
from tests.engine.runs import (
    GPU,
    NODE,
    Run,
    a_spec,
    container,
    devices,
    pod,
    seconds,
    with_plugin,
)

POD_CALLS = ("GET pods", "PATCH pods/status", "DELETE pods")


def started(
    *names: str,
    faults: tuple[Fault, ...] = (),
    refuses: Refuses = lambda _: None,
) -> Run:
    pods = tuple(pod(name, container(count=0)) for name in ("a", "b", "c"))
    run = Run(a_spec(*pods), faults=faults, around=refusing(refuses))
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


class RefusesOnce:
    """Refuses the next request of a kind when it is armed."""

    def __init__(self, kind: type, refusal: ApiRefused) -> None:
        self.is_armed = False
        self._kind = kind
        self._refusal = refusal

    def __call__(self, request: ApiRequest) -> ApiRefused | None:
        if not self.is_armed or not isinstance(request, self._kind):
            return None
        self.is_armed = False
        return self._refusal


@pytest.mark.parametrize("code", [403, 409, 422])
def test_a_refused_status_waits_for_the_ticker_as_any_error_does(code: int) -> None:
    """S12.4 "Errors: no immediate retry - next notification/ticker"."""
    refuses = RefusesOnce(PatchPodStatus, ApiRefused(code, "", "not now"))
    run = started("a", refuses=refuses)
    run.wait(1)
    refuses.is_armed = True
    run.begin(FinishPod("a"))
    run.wait(4)
    assert (run.pod("a").phase, refuses.is_armed) == ("Running", False)
    run.wait(6)

    assert run.pod("a").phase == "Succeeded"


def test_a_refused_deletion_waits_for_the_ticker() -> None:
    """S12.3: the ticker looks for pods that are ready to be deleted."""
    refuses = RefusesOnce(DeletePodForGood, ApiRefused(403, "Forbidden", "not now"))
    run = started("a", refuses=refuses)
    run.do(FinishPod("a"))
    run.wait(1)
    refuses.is_armed = True
    run.begin(DeletePod("a"))
    run.wait(2)
    assert (run.pod("a").phase, refuses.is_armed) == ("Succeeded", False)
    run.wait(10)

    assert run.pod("a").phase == "Deleted"


def test_of_a_pod_that_is_gone_no_status_is_sent_again() -> None:
    refuses = RefusesOnce(PatchPodStatus, ApiRefused(404, "NotFound", "gone", gone=True))
    run = started("a", refuses=refuses)
    run.wait(1)
    refuses.is_armed = True
    run.begin(FinishPod("a"))
    run.wait(2)
    calls(run)
    run.wait(30)

    assert of_pods(calls(run)) == (0, 0, 0)


def test_a_status_that_an_earlier_kubelet_has_sent_late_is_put_right_by_the_ticker() -> None:
    """S12.3: the ticker pass reconciles pods whose API status differs."""
    run = started("a")
    run.wait(1)
    found = run.simulation.api.pod_named("a")
    assert found is not None
    run.do(RestartKubelet(NODE))
    run.wait(1)
    run.simulation.api.set_status(found.uid, replace(found.status, phase="Pending"))
    run.wait(1)
    calls(run)
    run.wait(10)

    assert run.pod("a").phase == "Running"
    assert of_pods(calls(run)) == (1, 1, 0)


def test_what_has_ended_for_the_api_is_not_patched_again() -> None:
    run = started("a")
    run.wait(1)
    found = run.simulation.api.pod_named("a")
    assert found is not None
    run.simulation.api.set_status(found.uid, replace(found.status, phase="Failed"))
    calls(run)
    run.wait(30)

    assert of_pods(calls(run)) == (0, 0, 0)


def test_a_status_that_is_right_again_before_the_ticker_costs_nothing() -> None:
    run = started("a")
    run.wait(1)
    found = run.simulation.api.pod_named("a")
    assert found is not None
    right = found.status
    run.simulation.api.set_status(found.uid, replace(right, phase="Pending"))
    run.wait(0.1)
    run.simulation.api.set_status(found.uid, right)
    run.wait(0.1)
    calls(run)
    run.wait(30)

    assert of_pods(calls(run)) == (0, 0, 0)


def devices_told(run: Run, name: str) -> tuple[str, ...]:
    """Return the devices that a pod's status names."""
    found = run.simulation.api.pod_named(name)
    assert found is not None
    return tuple(one for each in found.status_devices for one in device_ids(each.devices))


def on_one_device(*names: str) -> Run:
    spec = a_spec(*(pod(name) for name in ("a", "b", "c")), persistence="pod-status")
    run = Run(with_plugin(spec, devices=devices(1), reregister_after=seconds(0.02)))
    run.do(StartPlugin("gpu"))
    run.wait(11)
    for name in names:
        run.do(CreatePod(name))
    return run


def test_an_ended_pods_status_goes_on_to_say_what_the_pod_had() -> None:
    """P4, W5 "status frozen"; persistence-designs 3.2: of a finished pod the last status.

    Its device is another pod's before its last status is sent.
    """
    run = on_one_device("a")
    run.wait(1)
    run.do(ApiOutage(NODE, seconds(5)))
    run.begin(FinishPod("a"))
    run.wait(2)
    kubelet = run.simulation.nodes[NODE].kubelet
    assert kubelet is not None
    kubelet.driver.run_store(kubelet.manager.release_inactive(), lambda _: None)
    run.wait(20)
    run.do(CreatePod("b"))
    run.wait(1)

    assert run.pod("a").phase == "Succeeded"
    assert (devices_told(run, "a"), devices_told(run, "b")) == (("g0",), ("g0",))


def test_a_pod_that_ran_in_an_outage_says_what_it_had() -> None:
    run = on_one_device()
    run.begin(CreatePod("a"))
    run.wait(0.006)
    run.do(ApiOutage(NODE, seconds(8)))
    run.wait(2)
    run.begin(FinishPod("a"))
    run.wait(2)
    kubelet = run.simulation.nodes[NODE].kubelet
    assert kubelet is not None
    kubelet.driver.run_store(kubelet.manager.release_inactive(), lambda _: None)
    run.wait(20)

    assert run.pod("a").phase == "Succeeded"
    assert devices_told(run, "a") == ("g0",)


def test_a_refused_pods_status_names_no_devices() -> None:
    """I4, S13.1: what its first container was to have it never had."""
    both = pod("a", container("x"), container("y"))
    run = Run(with_plugin(a_spec(both, persistence="pod-status"), devices=devices(1)))
    run.do(StartPlugin("gpu"))
    run.wait(11)
    run.do(CreatePod("a"))
    run.wait(1)

    assert run.pod("a").phase == "Failed"
    assert run.pod("a").devices == ((GPU, 1),)
    assert devices_told(run, "a") == ()


def test_a_pod_that_is_refused_after_a_restart_leaves_what_its_status_said() -> None:
    """S13.1: a refused pod's own status has no containers; what the API has of them stays."""
    run = on_one_device("a")
    run.wait(1)
    run.simulation.plugins["gpu"].stop()
    run.do(RebootNode(NODE))
    run.wait(15)

    assert run.pod("a").phase == "Failed"
    assert devices_told(run, "a") == ("g0",)


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
