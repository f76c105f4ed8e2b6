"""`readmission: wait`: what users ask for and no kubelet does (S13.5)."""

from __future__ import annotations

from dataclasses import replace

from simulator.core.behavior import Readmission
from simulator.core.records import AdmissionDecided, ContainerChanged, InvariantViolated
from simulator.engine.actions import CreatePod, DeletePod, RebootNode, RestartKubelet, StartPlugin
from simulator.engine.spec import SimulationSpec
from tests.engine.runs import NODE, Run, a_spec, container, devices, pod, seconds, with_plugin

NO_HEALTHY = (
    "Allocate failed due to no healthy devices present; "
    "cannot allocate unhealthy devices example.com/gpu, which is unexpected"
)


def waiting_spec(back_after: float = 20) -> SimulationSpec:
    spec = a_spec(pod("trainer", container(count=2)), pod("next", container(count=4)))
    return with_plugin(
        replace(spec, readmission=Readmission.WAIT), starts_after_boot=seconds(back_after)
    )


def rebooted(spec: SimulationSpec) -> Run:
    run = Run(spec)
    run.do(StartPlugin("gpu"))
    run.do(CreatePod("trainer"))
    run.do(RebootNode(NODE))
    return run


def test_a_pod_waits_for_its_plugin_and_gets_its_devices_back() -> None:
    run = rebooted(waiting_spec())
    run.wait(1)
    found = run.pod("trainer")
    assert (found.phase, found.waiting) == ("Running", NO_HEALTHY)
    assert list(run.simulation.pods()) == [found]
    run.wait(25)
    decided = run.records(AdmissionDecided)

    assert [(each.admitted, each.waiting) for each in decided] == [
        (True, False),
        (False, True),
        (True, False),
    ]
    assert run.pod("trainer").waiting == ""
    assert run.pod("trainer").device_ids == (("example.com/gpu", ("g0", "g1")),)
    assert [each.state for each in run.records(ContainerChanged)][-1] == "running"
    assert run.records(InvariantViolated) == []


def test_a_waiting_pod_keeps_its_devices() -> None:
    run = rebooted(waiting_spec())
    run.wait(1)
    run.do(CreatePod("next"))
    run.wait(30)

    assert run.pod("next").phase == "Failed"
    assert run.pod("trainer").phase == "Running"


def test_a_waiting_pod_waits_on_when_the_plugin_reports_other_devices() -> None:
    run = rebooted(with_plugin(waiting_spec(), devices_after_reboot=devices(4, "h")))
    run.wait(40)

    assert run.pod("trainer").waiting == (
        "Allocate failed due to previously allocated devices are no longer healthy; "
        "cannot allocate unhealthy devices example.com/gpu, which is unexpected"
    )


def test_a_waiting_pod_can_be_deleted() -> None:
    run = rebooted(waiting_spec(back_after=500))
    run.wait(1)
    run.do(DeletePod("trainer"))

    assert run.pod("trainer").phase == "Deleted"


def test_a_running_pod_does_not_wait() -> None:
    run = Run(with_plugin(waiting_spec(), reregister_after=None))
    run.do(StartPlugin("gpu"))
    run.do(CreatePod("trainer"))
    run.do(RestartKubelet(NODE))
    run.wait(1)

    assert run.pod("trainer").waiting == ""
    assert run.pod("trainer").unchanged
