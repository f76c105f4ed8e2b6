"""What a pod's state means, with and without messages."""

from __future__ import annotations

from dataclasses import replace

import pytest

from simulator.core.diagnosis.diagnosis import Diagnosis, Message, diagnose
from simulator.core.diagnosis.observed import (
    ObservedContainer,
    ObservedEvent,
    ObservedPod,
    ShownDevice,
)
from simulator.core.pods import ContainerKind, ContainerName, PodUid
from simulator.core.resources import ResourceName
from simulator.core.switches import behavior_for

GPU = ResourceName("example.com/gpu")
APP = ContainerName("app")
CONTAINER = ObservedContainer(APP, limits=((GPU, 2),), state="running", has_begun=True)
RUNNING = ObservedPod(
    uid=PodUid("u1"), name="trainer", node="n0", phase="Running", containers=(CONTAINER,)
)
PENDING = replace(RUNNING, phase="Pending", containers=(replace(CONTAINER, state=""),))
NO_HEALTHY = (
    "Pod was rejected: Allocate failed due to no healthy devices present; "
    "cannot allocate unhealthy devices example.com/gpu, which is unexpected"
)
REFUSED = replace(
    RUNNING, phase="Failed", reason="UnexpectedAdmissionError", message=NO_HEALTHY
)  # fmt: skip


def keys(diagnosis: Diagnosis) -> list[str]:
    return [finding.known.key for finding in diagnosis.findings]


@pytest.mark.parametrize(
    ("pod", "expected"),
    [
        (RUNNING, ["runsHoldingUnknown"]),
        (replace(RUNNING, containers=(replace(CONTAINER, limits=()),)), ["noDevicesWanted"]),
        (replace(RUNNING, phase="Succeeded"), ["completed"]),
        (replace(RUNNING, deleting=True), ["terminating", "runsHoldingUnknown"]),
        (PENDING, ["notAdmittedYet"]),
        (replace(PENDING, node=""), ["unscheduled"]),
        (replace(PENDING, containers=(replace(CONTAINER, state="waiting"),)), ["starting"]),
        (replace(PENDING, containers=()), ["noDevicesWanted"]),
        (replace(RUNNING, phase="Failed"), ["endedByItself"]),
        (replace(RUNNING, phase="Unknown"), ["phaseUnknown"]),
        (replace(RUNNING, phase=""), ["phaseUnknown"]),
        (REFUSED, ["noHealthyDevices"]),
    ],
)
def test_every_phase_has_an_answer(pod: ObservedPod, expected: list[str]) -> None:
    diagnosis = diagnose(pod)

    assert keys(diagnosis) == expected
    assert diagnosis.is_complete


def test_a_running_pod_without_its_device_is_found_through_the_file() -> None:
    """R14: admitted while the resource was unknown."""
    assert keys(diagnose(RUNNING, held={})) == ["runsWithoutDevices"]
    assert keys(diagnose(RUNNING, held={(APP, GPU): 1})) == ["runsWithoutDevices"]
    assert keys(diagnose(RUNNING, held={(APP, GPU): 2})) == ["runsWithDevices"]
    (finding,) = diagnose(RUNNING, held={(APP, GPU): 1}).findings
    assert "Container app wants 2 example.com/gpu and holds 1." in finding.why


def test_a_newer_kubelets_status_tells_what_is_held_and_what_is_unhealthy() -> None:
    """S9.2, S9.7."""
    devices = (ShownDevice(GPU, "g0", "Healthy"), ShownDevice(GPU, "g1", "Unhealthy"))
    pod = replace(RUNNING, containers=(replace(CONTAINER, devices=devices),))
    diagnosis = diagnose(pod)

    assert keys(diagnosis) == ["runsWithDevices", "heldDeviceUnhealthy"]
    assert diagnosis.findings[1].why[-1] == "Container app holds g1 of example.com/gpu: Unhealthy."


def test_a_finished_init_container_with_a_device_is_a_risk_at_the_next_restart() -> None:
    """R36; a sidecar runs and is none."""
    init = ObservedContainer(
        ContainerName("check"), ContainerKind.INIT, ((GPU, 1),), state="terminated"
    )
    sidecar = replace(init, kind=ContainerKind.SIDECAR, state="running")

    pod = replace(RUNNING, containers=(init, CONTAINER))
    assert keys(diagnose(pod)) == ["runsHoldingUnknown", "finishedInitContainer"]
    pod = replace(RUNNING, containers=(sidecar, CONTAINER))
    assert keys(diagnose(pod)) == ["runsHoldingUnknown"]
    assert keys(diagnose(pod, held={(APP, GPU): 2})) == ["runsWithDevices"]


def test_a_container_that_was_restarted_is_a_risk_where_one_instance_is_looked_up() -> None:
    """R04: until 1.34.6 and 1.35.3."""
    pod = replace(RUNNING, containers=(replace(CONTAINER, restarts=3),))
    finding = diagnose(pod).findings[1]

    assert finding.known.key == "restartedBefore"
    assert finding.versions() == (
        (
            "A container that had been restarted before may pass for not running: "
            "1.25.14 to 1.25.x, 1.26.9 to 1.26.x, 1.27.6 to 1.34.6, 1.35.0 to 1.35.3."
        ),
    )


def test_a_pod_whose_containers_ran_was_refused_when_it_was_admitted_again() -> None:
    (again,) = diagnose(REFUSED).findings

    assert again.why[2] == (
        "Its containers had run before: it was refused when the kubelet admitted it again, "
        "after a kubelet restart or a reboot."
    )


def test_a_refused_pod_without_container_states_may_have_run_before() -> None:
    """S13.1: the status of a refusal has no containerStatuses, whether it is the first or not."""
    emptied = replace(REFUSED, containers=(replace(CONTAINER, has_begun=False),))
    (unknown,) = diagnose(emptied).findings
    (dated,) = diagnose(replace(emptied, started="2026-05-04T08:12:31Z")).findings

    for each in (unknown, dated):
        assert "either it was refused at its first admission, or it had run" in each.why[2]
    assert "The latter if its startTime is long before the refusal." in unknown.why[2]
    assert "if its startTime, 2026-05-04T08:12:31Z, is long before" in dated.why[2]


def test_a_bare_pod_stays_failed_and_a_controlled_one_is_replaced() -> None:
    """S5.11, R03."""
    (bare,) = diagnose(REFUSED).findings
    (owned,) = diagnose(replace(REFUSED, owner="ReplicaSet t-1")).findings

    assert "nothing makes another one" in bare.why[-1]
    assert "its ReplicaSet t-1 makes another one" in owned.why[-1]


def test_the_pods_own_requests_are_named_and_a_resource_that_it_does_not_want() -> None:
    (finding,) = diagnose(REFUSED).findings
    other = replace(
        REFUSED, containers=(replace(CONTAINER, limits=((ResourceName("a.io/b"), 1),)),)
    )
    (strange,) = diagnose(other).findings

    assert finding.why[1] == "In this pod container app wants 2 example.com/gpu."
    assert strange.why[1] == "In this pod no container wants example.com/gpu."


def test_the_same_message_in_status_and_event_is_told_once() -> None:
    event = ObservedEvent(
        "Warning", "UnexpectedAdmissionError", NO_HEALTHY.removeprefix("Pod was rejected: "), "u1"
    )

    assert keys(diagnose(REFUSED, events=[event])) == ["noHealthyDevices"]


def test_events_of_other_pods_and_normal_ones_are_left_out() -> None:
    other = ObservedEvent("Warning", "Failed", "checkpoint is corrupted", "u2")
    normal = ObservedEvent("Normal", "Scheduled", "checkpoint is corrupted", "u1")
    own = ObservedEvent("Warning", "Failed", "checkpoint is corrupted", "u1")

    assert keys(diagnose(RUNNING, events=[other, normal])) == ["runsHoldingUnknown"]
    assert keys(diagnose(RUNNING, events=[other, own]))[0] == "checkpointCorrupted"
    assert keys(diagnose(None, events=[other])) == ["checkpointCorrupted"]


def test_an_unknown_event_does_not_make_the_diagnosis_fail_and_an_unknown_status_does() -> None:
    event = ObservedEvent("Warning", "BackOff", "Back-off restarting failed container", "u1")
    evicted = replace(RUNNING, phase="Failed", reason="Evicted", message="low on memory")

    assert diagnose(RUNNING, events=[event]).is_complete
    assert [each.text for each in diagnose(RUNNING, events=[event]).unknown] == [event.message]
    diagnosis = diagnose(evicted)
    assert not diagnosis.is_complete
    assert keys(diagnosis) == []


def test_a_reason_without_a_message_is_looked_up_too() -> None:
    diagnosis = diagnose(replace(RUNNING, phase="Failed", reason="Preempting"))

    assert [each.text for each in diagnosis.unknown] == ["Preempting"]


def test_an_unknown_error_in_the_kubelets_words_is_told_as_far_as_it_is_known() -> None:
    """S13.1: CPU and memory managers use the same words."""
    text = "Pod was rejected: Allocate failed due to not enough cpus, which is unexpected"
    diagnosis = diagnose(replace(REFUSED, message=text))

    assert keys(diagnosis) == ["unexpectedAdmissionError"]
    assert [each.text for each in diagnosis.unknown] == [text]
    assert not diagnosis.is_complete


def test_a_made_up_message_is_not_known() -> None:
    diagnosis = diagnose(None, [Message("message", "the flux is low", matters=True)])

    assert diagnosis.findings == ()
    assert not diagnosis.is_complete


def test_a_container_that_waits_says_why() -> None:
    """S3.25."""
    waiting = replace(
        CONTAINER,
        state="waiting",
        reason="CreateContainerConfigError",
        message="endpoint not found in cache for a registered resource: example.com/gpu",
    )
    diagnosis = diagnose(replace(PENDING, containers=(waiting,)))

    assert keys(diagnosis) == ["endpointNotCached"]
    message = diagnosis.findings[0].message
    assert message is not None
    assert message.source == "container app (waiting, CreateContainerConfigError)"


def test_a_container_that_the_runtime_refuses_is_told_for_pods_with_devices_only() -> None:
    """S10.8."""
    gone = "error gathering device: /dev/gpu0: no such file or directory"
    waiting = replace(CONTAINER, state="waiting", reason="RunContainerError", message=gone)
    plain = replace(waiting, limits=())

    pod = replace(PENDING, containers=(waiting,))
    assert keys(diagnose(pod)) == ["runtimeRefusesDevice"]
    pod = replace(PENDING, containers=(plain,))
    assert keys(diagnose(pod)) == []
    assert len(diagnose(pod).unknown) == 1


@pytest.mark.parametrize("message", ["exit 1", 'exec: "train": executable file not found in $PATH'])
def test_a_container_that_fails_for_another_reason_is_not_blamed_on_devices(message: str) -> None:
    """S10.8 speaks of paths of devices and mounts; a wrong command is none."""
    waiting = replace(CONTAINER, state="waiting", reason="RunContainerError", message=message)
    diagnosis = diagnose(replace(PENDING, containers=(waiting,)))

    assert keys(diagnosis) == []
    assert [each.text for each in diagnosis.unknown] == [message]


def test_a_call_of_an_image_pull_is_not_taken_for_the_plugins() -> None:
    """The words name no image; the reason beside them does (S3.12 is Allocate's alone)."""
    text = "rpc error: code = DeadlineExceeded desc = context deadline exceeded"
    waiting = replace(CONTAINER, state="waiting", reason="ErrImagePull", message=text)

    assert keys(diagnose(replace(PENDING, containers=(waiting,)))) == []


def test_how_an_instance_before_ended_is_looked_up() -> None:
    """R74: the one that waits says `back-off` only; what the runtime refused stands before it."""
    waiting = replace(
        CONTAINER,
        state="waiting",
        reason="CrashLoopBackOff",
        message="back-off 5m0s restarting failed container=app",
        last_reason="StartError",
        last_message="nvidia-container-cli: device error: GPU-1f0a7c3e: unknown device: unknown",
    )
    diagnosis = diagnose(replace(RUNNING, containers=(waiting,)))

    assert keys(diagnosis)[0] == "runtimeRefusesDevice"
    message = diagnosis.findings[0].message
    assert message is not None
    assert message.source == "container app (ended before, StartError)"


def test_a_resize_that_waits_does_not_cost_a_running_pod_its_life() -> None:
    """S13.6: the pod does not fail; so nothing may tell the operator to delete it."""
    text = "requested number of devices unavailable for example.com/gpu. Requested: 1, Available: 0"
    diagnosis = diagnose(replace(RUNNING, resize_pending=text))

    assert keys(diagnosis)[:2] == ["devicesUnavailable", "resizePending"]
    for finding in diagnosis.findings[:2]:
        assert finding.advice == (
            "Do not delete the pod for it: it keeps running with what it has.",
        )


def test_what_the_scheduler_says_is_looked_up() -> None:
    pod = replace(
        PENDING, node="", unscheduled="0/1 nodes are available: 1 Insufficient example.com/gpu."
    )

    assert keys(diagnose(pod)) == ["insufficientResource"]


def test_exit_codes_of_containers_that_failed_by_themselves_are_told() -> None:
    ended = replace(CONTAINER, state="terminated", reason="Error", exit_code=137)
    silent = replace(ended, name=ContainerName("side"), reason="", exit_code=1)
    fine = replace(ended, name=ContainerName("ok"), exit_code=0)
    (finding,) = diagnose(
        replace(RUNNING, phase="Failed", containers=(ended, silent, fine))
    ).findings

    assert finding.why[1:] == (
        "Container app ended with exit code 137 (Error).",
        "Container side ended with exit code 1.",
    )


@pytest.mark.parametrize(
    ("version", "begins"),
    [
        ("1.36.2", "1.36.2 says this."),
        ("1.25.12", "1.25.12 does not say this; it comes from 1.26.5 to 1.26.x, 1.27.2 and later."),
    ],
)
def test_a_kubelet_version_is_told_whether_it_would_say_it(version: str, begins: str) -> None:
    (finding,) = diagnose(REFUSED).findings

    assert finding.verdict(behavior_for(version)).startswith(begins)


def test_a_kubelet_version_hears_what_else_holds_for_it() -> None:
    """R02: before the back-ports the pod is admitted on remembered devices instead."""
    (finding,) = diagnose(REFUSED).findings

    assert finding.verdict(behavior_for("1.24")).endswith(
        "For 1.24 it holds: a pod with recorded devices is admitted instead, "
        "on devices that may be gone. "
        "For 1.24 it holds: a new pod is told that the requested number is unavailable instead."
    )
    (completed,) = diagnose(replace(RUNNING, phase="Succeeded")).findings
    assert completed.verdict(behavior_for("1.36.2")) == (
        "For 1.36.2 nothing else is known about it."
    )


def test_the_versions_of_a_message_and_of_what_goes_with_it_are_told() -> None:
    """S5.4, S5.9."""
    (finding,) = diagnose(REFUSED).findings

    assert finding.versions()[:2] == (
        "Said in these words by: 1.26.5 to 1.26.x, 1.27.2 and later.",
        (
            "A mere kubelet restart refuses running pods too, and kills them: "
            "1.25.10 to 1.25.13, 1.26.5 to 1.26.8, 1.27.2 to 1.27.5."
        ),
    )


def test_where_no_switch_governs_it_the_entry_says_which_versions() -> None:
    message = Message("message", "1 Insufficient example.com/gpu")
    (finding,) = diagnose(None, [message]).findings

    assert finding.versions() == ("Any version; it is the scheduler that says it.",)


def test_a_message_without_a_resource_adds_nothing_to_a_pod_that_wants_none() -> None:
    plain = replace(RUNNING, containers=(replace(CONTAINER, limits=()),))
    event = ObservedEvent("Warning", "Failed", "checkpoint is corrupted", "u1")
    finding = diagnose(plain, events=[event]).findings[0]

    assert finding.why == (finding.known.why,)


def test_reports_are_named_with_their_references() -> None:
    (finding,) = diagnose(REFUSED).findings

    assert finding.reports()[0][0] == "R01"
    assert finding.reports()[0][1].reference == "kubernetes/kubernetes#118559"
