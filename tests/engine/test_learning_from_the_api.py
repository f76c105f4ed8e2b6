"""No pod is taken up before it is known what the others have (persistence-designs 3.3).

Device bindings in the API come apart from the pods; while a starting kubelet waits for them, the
pods go on changing.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from simulator.core.records import AdmissionDecided, ContainerChanged, InvariantViolated
from simulator.engine.actions import (
    CheckpointFile,
    CreatePod,
    DeletePod,
    FailEffect,
    FileAction,
    Loss,
    PowerCut,
    RestartKubelet,
    SlowDisk,
    StartPlugin,
    UpgradeKubelet,
)
from tests.engine.runs import GPU, NODE, Run, a_spec, container, pod, seconds, with_plugin


def two_running(persistence: str) -> Run:
    """Return a node on which two pods run with the first two devices."""
    names = ("first", "second", "new")
    spec = with_plugin(
        a_spec(*(pod(name) for name in names), persistence=persistence),
        reregister_after=seconds(0.02),
        starts_after_boot=seconds(0.02),
    )
    run = Run(spec)
    run.do(StartPlugin("gpu"))
    run.wait(15)
    for name in ("first", "second"):
        run.do(CreatePod(name))
    run.wait(15)
    return run


def devices_of(run: Run, name: str) -> tuple[str, ...]:
    return dict(run.pod(name).device_ids).get(GPU, ())


def restart_unanswered(run: Run) -> None:
    """Restart the kubelet; its first list of DeviceBindings fails, and it tries again after 1 s."""
    run.do(FailEffect(NODE, "deviceBinding", "connection reset"))
    run.begin(RestartKubelet(NODE))
    run.wait(0.3)


def test_a_pod_that_comes_before_the_devices_are_known_gets_none_of_them() -> None:
    """P5 "must wait for both lists before admitting"."""
    run = two_running("binding-object")
    begun = run.simulation.now
    restart_unanswered(run)
    run.begin(CreatePod("new"))
    run.wait(0.5)
    assert run.records(AdmissionDecided, begun) == []
    run.wait(20)

    assert [devices_of(run, name) for name in ("first", "second", "new")] == [
        ("g0",),
        ("g1",),
        ("g2",),
    ]
    assert run.pod("new").phase == "Running"
    assert run.records(InvariantViolated) == []


def test_a_pod_that_changes_before_the_devices_are_known_is_admitted_once() -> None:
    run = two_running("binding-object")
    begun = run.simulation.now
    restart_unanswered(run)
    run.begin(DeletePod("first"))
    run.wait(5)

    uids = [each.pod for each in run.records(AdmissionDecided, begun)]
    assert sorted(uids) == sorted({run.pod(name).uid for name in ("first", "second")})


def test_a_pod_that_goes_before_the_devices_are_known_is_not_admitted() -> None:
    run = two_running("binding-object")
    begun = run.simulation.now
    gone, stays = run.pod("first").uid, run.pod("second").uid
    restart_unanswered(run)
    run.begin(DeletePod("first", force=True))
    run.wait(20)

    assert [each.pod for each in run.records(AdmissionDecided, begun)] == [stays]
    [one] = run.simulation.api.devices.objects()
    assert one.pod.uid == stays
    run.do(CreatePod("new"))
    run.wait(20)
    assert devices_of(run, "new") == ("g0",)
    running = {process.pod for process in run.simulation.nodes[NODE].runtime.running()}
    assert gone not in running


def test_a_pod_that_comes_while_the_file_is_repaired_gets_none_of_what_it_says() -> None:
    """P2 "repair from API": the file is written before the first pod is admitted."""
    run = two_running("checkpoint+api")
    run.do(CheckpointFile(NODE, FileAction.DELETE))
    run.do(SlowDisk(NODE, seconds(2)))
    begun = run.simulation.now
    # The late plugin's own write is not what is waited for.
    run.simulation.plugins["gpu"].stop()
    run.begin(RestartKubelet(NODE))
    run.wait(0.5)
    run.begin(CreatePod("new"))
    run.wait(1)
    assert run.records(AdmissionDecided, begun) == []
    run.do(SlowDisk(NODE, seconds(0)))
    run.wait(20)

    assert [devices_of(run, name) for name in ("first", "second")] == [("g0",), ("g1",)]
    assert [each for each in run.records(InvariantViolated) if not each.by_kubelet] == []


def test_a_file_that_is_older_than_the_api_costs_no_pod_its_devices() -> None:
    """W10, W11: the rename was lost with the power, the flush was not.

    The old file gives the device to a pod that is not there any more; the API to the one that was.
    P2, "node recreated": from the API for flushed pods, so no less with an outdated disk.
    """
    run = two_running("checkpoint+api")
    run.do(DeletePod("first", force=True))
    run.wait(5)
    run.do(CreatePod("new"))
    run.wait(3)
    assert devices_of(run, "new") == ("g0",)
    run.do(PowerCut(NODE, seconds(2), loss=Loss.ALL))
    run.wait(20)

    assert run.pod("new").phase == "Running"
    assert [devices_of(run, name) for name in ("second", "new")] == [("g1",), ("g0",)]
    assert [each for each in run.records(InvariantViolated) if not each.by_kubelet] == []


@pytest.mark.parametrize("persistence", ["bind-resource", "binding-object"])
def test_a_pod_that_has_ended_for_the_api_has_its_devices_while_its_containers_run(
    persistence: str,
) -> None:
    """S6.5: it is active until they have stopped; the kubelet that refused it did not stop them."""
    run = two_running(persistence)
    run.simulation.plugins["gpu"].stop()
    run.do(UpgradeKubelet(NODE, "1.26.5"))
    run.wait(0.05)
    assert [run.pod(name).phase for name in ("first", "second")] == ["Failed", "Failed"]
    begun = run.simulation.now
    run.do(UpgradeKubelet(NODE, "1.36.2"))
    run.do(StartPlugin("gpu"))
    run.do(CreatePod("new"))
    run.wait(1)
    assert devices_of(run, "new") == ("g2",)
    run.wait(60)

    found = run.records(InvariantViolated, begun)
    assert [each for each in found if each.invariant in {"I1", "I3"}] == []


def test_a_restart_in_the_middle_of_a_binding_goes_on_with_what_was_bound() -> None:
    """P3c, W6: the first of two calls has come through, its kubelet has died."""
    spec = a_spec(pod("new", container("x"), container("y")), persistence="bind-resource")
    spec = with_plugin(spec, reregister_after=seconds(0.02))
    run = Run(replace(spec, persistence_options=(("perContainer", True),)))
    run.do(StartPlugin("gpu"))
    run.wait(15)
    run.begin(CreatePod("new"))
    run.wait(0.016)
    found = run.simulation.api.pod_named("new")
    assert found is not None
    named = [each.compute_devices for each in found.pod.containers]
    assert named == [((GPU, ("g0",)),), ()]
    run.do(RestartKubelet(NODE, seconds(1)))
    run.wait(20)

    assert run.pod("new").phase == "Running"
    assert [each.compute_devices for each in found.pod.containers] == [
        ((GPU, ("g0",)),),
        ((GPU, ("g1",)),),
    ]
    started = [each.container for each in run.records(ContainerChanged) if each.state == "running"]
    assert started == ["x", "y"]
