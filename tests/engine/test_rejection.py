"""What becomes of pods that are rejected or deleted: S5.9, S5.10, S6.5, S6.5a, S13."""

from __future__ import annotations

from dataclasses import replace

import pytest

from simulator.core.instants import SECOND, Instant
from simulator.core.records import (
    ContainerChanged,
    DevicesReleased,
    EventEmitted,
    InvariantViolated,
)
from simulator.core.resources import ResourceName
from simulator.engine.actions import (
    CreatePod,
    DeletePod,
    FinishPod,
    RestartKubelet,
    StartPlugin,
    StopPlugin,
    UpgradeKubelet,
)
from simulator.engine.spec import PluginLatency
from tests.engine.runs import NIC, NODE, Run, a_plugin, a_spec, container, pod, seconds, with_plugin


def rejected_while_running(version: str) -> tuple[Run, Instant]:
    """A pod with a running container that a restart of the kubelet refuses (R01)."""
    spec = with_plugin(
        a_spec(
            pod("trainer", container(count=4)), pod("next", container(count=4)), version=version
        ),
        reregister_after=seconds(1),
    )
    run = Run(spec)
    run.do(StartPlugin("gpu"))
    run.do(CreatePod("trainer"))
    before = run.simulation.now
    run.do(RestartKubelet(NODE))
    return run, before


def kills(run: Run) -> list[float]:
    return [at / SECOND for at, each in run.stamped(ContainerChanged) if each.state == "killed"]


@pytest.mark.parametrize(
    ("version", "prefix"),
    [("1.24.0", "Pod "), ("1.27.2", "Pod was rejected: "), ("1.36.2", "Pod was rejected: ")],
)
def test_a_rejected_pod_gets_an_event_and_the_status_of_its_version(
    version: str, prefix: str
) -> None:
    """S5.9, S13.1: the event has the message without the prefix."""
    run = Run(a_spec(pod("big", container(count=9)), version=version))
    run.do(StartPlugin("gpu"))
    run.do(CreatePod("big"))
    message = (
        "Allocate failed due to requested number of devices unavailable for example.com/gpu. "
        "Requested: 9, Available: 4, which is unexpected"
    )
    found = run.pod("big")

    assert (found.phase, found.reason) == ("Failed", "UnexpectedAdmissionError")
    assert found.message == prefix + message
    assert [(each.severity, each.reason, each.message) for each in run.records(EventEmitted)] == [
        ("Warning", "UnexpectedAdmissionError", message)
    ]


def test_a_rejected_pod_is_never_admitted_again() -> None:
    """S5.9, S13.5."""
    run = Run(a_spec(pod("holder"), pod("early")))
    run.do(StartPlugin("gpu"))
    run.do(CreatePod("holder"))
    run.do(StopPlugin("gpu"))
    run.do(CreatePod("early"))
    run.do(StartPlugin("gpu"))
    run.wait(60)

    assert run.pod("early").phase == "Failed"
    assert run.pod("holder").phase == "Running"


def test_an_old_kubelet_kills_the_containers_of_a_rejected_pod_in_its_housekeeping() -> None:
    """S5.10: every 2 s, with 1 s of grace; issue 118559 saw about 3 s."""
    run, before = rejected_while_running("1.25.12")
    run.wait(10)

    assert run.pod("trainer").message.startswith("Pod Allocate failed due to no healthy devices")
    assert kills(run) == pytest.approx([before / SECOND + 3])


def test_a_newer_kubelet_ends_a_rejected_pod_with_the_grace_period_of_the_pod() -> None:
    """S5.10, S6.5a: the echo of its own status makes a pod worker end it."""
    run, before = rejected_while_running("1.27.2")
    run.wait(40)

    assert kills(run) == pytest.approx([before / SECOND + 30.2], abs=0.1)


def test_a_rejected_pod_is_active_again_while_its_containers_end() -> None:
    """S6.5a: its devices are not collected and its request counts."""
    run, _ = rejected_while_running("1.27.2")
    run.wait(5)
    run.do(CreatePod("next"))

    assert run.pod("next").phase == "Failed"
    assert run.records(DevicesReleased) == []

    run.wait(40)
    spare = Run(a_spec(pod("next", container(count=4))))
    spare.do(StartPlugin("gpu"))
    spare.do(CreatePod("next"))

    assert spare.pod("next").phase == "Running"


def test_the_devices_of_a_rejected_pod_may_be_given_away_while_its_containers_run() -> None:
    """S5.10: an old kubelet's own decision breaks I1 and I5, whatever the persistence."""
    spec = with_plugin(
        a_spec(
            pod("trainer", container(count=4)), pod("next", container(count=4)), version="1.25.12"
        ),
        reregister_after=seconds(1),
    )
    run = Run(spec)
    run.do(StartPlugin("gpu"))
    run.do(CreatePod("trainer"))
    run.do(RestartKubelet(NODE))
    run.wait(1)
    run.do(CreatePod("next"))
    violated = run.records(InvariantViolated)

    assert run.pod("next").phase == "Running"
    assert {each.invariant for each in violated} == {"I1", "I3", "I5"}
    assert all(each.by_kubelet for each in violated)


def test_a_pod_deleted_with_grace_keeps_its_devices_until_its_containers_ended() -> None:
    """S6.5."""
    run = Run(a_spec(pod("trainer", container(count=4)), pod("next", container(count=4))))
    run.do(StartPlugin("gpu"))
    run.do(CreatePod("trainer"))
    run.begin(DeletePod("trainer"))
    run.wait(10)
    run.do(CreatePod("next"))

    assert run.pod("trainer").phase == "Running"
    assert "Requested: 4, Available: 0" in run.pod("next").message

    run.wait(30)

    assert run.pod("trainer").phase == "Deleted"


def test_a_pod_deleted_by_force_frees_its_devices_while_its_containers_still_run() -> None:
    """S6.5, issue 104824."""
    run = Run(a_spec(pod("trainer", container(count=4)), pod("next", container(count=4))))
    run.do(StartPlugin("gpu"))
    run.do(CreatePod("trainer"))
    run.do(DeletePod("trainer", force=True))
    run.do(CreatePod("next"))
    violated = run.records(InvariantViolated)

    assert run.pod("trainer").phase == "Deleted"
    assert run.pod("next").phase == "Running"
    assert {each.invariant for each in violated} == {"I1", "I3", "I5"}
    assert all(each.by_kubelet for each in violated)


def test_deleting_a_rejected_pod_takes_it_from_the_api() -> None:
    run = Run(a_spec(pod("big", container(count=9))))
    run.do(StartPlugin("gpu"))
    run.do(CreatePod("big"))
    run.wait(1)
    run.do(DeletePod("big"))

    assert run.pod("big").phase == "Deleted"


def test_a_pod_that_is_deleted_while_it_is_admitted_ends_after_it() -> None:
    run = Run(with_plugin(a_spec(pod("trainer")), latency=slow_allocate()))
    run.do(StartPlugin("gpu"))
    run.begin(CreatePod("trainer"))
    run.wait(1)
    run.do(DeletePod("trainer"))

    assert run.pod("trainer").phase == "Deleted"
    assert run.records(ContainerChanged) == []


def test_a_pod_that_is_deleted_by_force_while_it_is_admitted_is_forgotten() -> None:
    run = Run(with_plugin(a_spec(pod("trainer"), pod("next")), latency=slow_allocate()))
    run.do(StartPlugin("gpu"))
    run.begin(CreatePod("trainer"))
    run.wait(1)
    run.do(DeletePod("trainer", force=True))
    run.do(CreatePod("next"))

    assert run.pod("next").phase == "Running"
    assert [each.pod for each in run.simulation.holdings(NODE)] == [run.pod("next").uid]


def test_a_pod_that_is_deleted_while_it_waits_in_the_queue_is_never_admitted() -> None:
    run = Run(with_plugin(a_spec(pod("first"), pod("second")), latency=slow_allocate()))
    run.do(StartPlugin("gpu"))
    run.begin(CreatePod("first"))
    run.begin(CreatePod("second"))
    run.wait(1)
    run.do(DeletePod("second", force=True))
    run.wait(10)

    assert run.pod("second").phase == "Deleted"
    assert run.simulation.holdings(NODE)[0].pod == run.pod("first").uid
    assert len(run.simulation.holdings(NODE)) == 1


@pytest.mark.parametrize(("succeeded", "phase"), [(True, "Succeeded"), (False, "Failed")])
def test_a_finished_pod_frees_its_devices_at_the_next_allocation(
    succeeded: bool,  # noqa: FBT001 - a parameter of the test
    phase: str,
) -> None:
    """S6.3: observers may see stale data until then."""
    run = Run(a_spec(pod("trainer", container(count=4)), pod("next", container(count=4))))
    run.do(StartPlugin("gpu"))
    run.do(CreatePod("trainer"))
    run.do(FinishPod("trainer", succeeded))

    assert run.pod("trainer").phase == phase
    assert run.pod("trainer").devices == (("example.com/gpu", 4),)

    run.do(CreatePod("next"))

    assert run.pod("next").phase == "Running"
    assert run.pod("trainer").devices == ()


def test_a_pod_of_two_resources_that_fails_in_the_second_shows_the_first_while_it_ends() -> None:
    """S3.16, S6.5a: what was never true is seen for a moment (I4), by the kubelet's own doing."""
    both = replace(container(count=2), limits=((ResourceName("example.com/gpu"), 2), (NIC, 9)))
    spec = a_spec(pod("both", both))
    spec = replace(spec, plugins=(*spec.plugins, a_plugin("nic", 2, NIC)))
    run = Run(spec)
    run.do(StartPlugin("gpu"))
    run.do(StartPlugin("nic"))
    run.do(CreatePod("both"))
    run.wait(0.05)

    assert [(each.invariant, each.by_kubelet) for each in run.records(InvariantViolated)] == [
        ("I4", True)
    ]


def slow_allocate() -> PluginLatency:
    return PluginLatency(allocate=seconds(5))


@pytest.mark.parametrize("version", ["1.27.5", "1.36.2"])
def test_what_a_kubelet_did_not_live_to_kill_the_next_one_does(version: str) -> None:
    """S5.10: housekeeping would have killed it within 2 s; for the API the pod has ended.

    Up to 1.27 it is admitted again, later not (S5.7); a pod worker ends it in both.
    """
    run = Run(with_plugin(a_spec(pod("a")), reregister_after=None))
    run.do(StartPlugin("gpu"))
    run.do(CreatePod("a"))
    run.wait(1)
    run.do(UpgradeKubelet(NODE, "1.26.5"))
    run.wait(0.012)  # The status is in the API, and its echo on the way.
    assert run.pod("a").phase == "Failed"
    assert len(list(run.simulation.nodes[NODE].runtime.running())) == 1
    run.do(UpgradeKubelet(NODE, version))
    run.wait(60)

    assert list(run.simulation.nodes[NODE].runtime.running()) == []
    assert run.pod("a").phase == "Failed"
