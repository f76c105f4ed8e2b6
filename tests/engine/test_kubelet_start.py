"""The order of a kubelet start: S5.1 to S5.8, S5.15, S6.8, table 5.3."""

from __future__ import annotations

from dataclasses import replace

import pytest

from simulator.core.devices import DeviceId
from simulator.core.pods import ContainerKind
from simulator.core.records import (
    AdmissionDecided,
    ContainerChanged,
    KubeletStarted,
    ManagerStarted,
    PluginCalled,
    PluginRegistered,
)
from simulator.engine.actions import (
    CheckpointFile,
    CrashKubelet,
    CreatePod,
    DeletePod,
    FileAction,
    FinishPod,
    RebootNode,
    RestartContainer,
    RestartKubelet,
    StartPlugin,
    StopPlugin,
    UpgradeKubelet,
)
from simulator.engine.latencies import FIRST_BATCH_DELAY
from simulator.engine.spec import SimulationSpec
from tests.engine.runs import NODE, Run, a_spec, container, pod, seconds, with_plugin

NEVER_BACK = {"reregister_after": None}
NO_HEALTHY = (
    "Pod was rejected: Allocate failed due to no healthy devices present; "
    "cannot allocate unhealthy devices example.com/gpu, which is unexpected"
)


def started(spec: SimulationSpec, *pods: str) -> Run:
    run = Run(spec)
    run.do(StartPlugin("gpu"))
    for name in pods:
        run.do(CreatePod(name))
    return run


def test_the_first_batch_follows_the_device_manager_by_a_fixed_delay() -> None:
    run = started(a_spec(pod("a")), "a")
    before = run.simulation.now
    run.do(RestartKubelet(NODE))
    managed = next(at for at, _ in run.stamped(ManagerStarted, before))
    decided = next(at for at, _ in run.stamped(AdmissionDecided, before))

    assert decided == managed + FIRST_BATCH_DELAY


@pytest.mark.parametrize(("back_after", "order"), [(0.1, "plugin first"), (0.3, "pods first")])
def test_which_comes_first_is_the_choice_of_the_scenario(back_after: float, order: str) -> None:
    """S5.2."""
    run = started(with_plugin(a_spec(pod("a")), reregister_after=seconds(back_after)), "a")
    before = run.simulation.now
    run.do(RestartKubelet(NODE))
    run.wait(1)
    registered = next(at for at, _ in run.stamped(PluginRegistered, before))
    decided = next(at for at, _ in run.stamped(AdmissionDecided, before))

    assert (registered < decided) == (order == "plugin first")


def test_the_first_batch_is_admitted_oldest_first() -> None:
    """S5.7."""
    run = Run(a_spec(pod("c"), pod("a"), pod("b")))
    run.do(StartPlugin("gpu"))
    for name in ("c", "a", "b"):
        run.do(CreatePod(name))
    before = run.simulation.now
    run.do(RestartKubelet(NODE))
    names = {run.pod(name).uid: name for name in ("a", "b", "c")}

    assert [names[each.pod] for each in run.records(AdmissionDecided, before)] == ["c", "a", "b"]


def test_nothing_is_freed_during_the_first_batch() -> None:
    """S6.8: a pod that ended while the kubelet was down still blocks its devices."""
    run = started(a_spec(pod("old", container(count=4)), pod("new", container(count=1))), "old")
    run.begin(RestartKubelet(NODE, seconds(5)))
    run.do(DeletePod("old", force=True))
    run.begin(CreatePod("new"))
    run.wait(10)

    assert run.pod("new").message == (
        "Pod was rejected: Allocate failed due to no healthy devices present; "
        "cannot allocate unhealthy devices example.com/gpu, which is unexpected"
    )

    quick = Run(
        with_plugin(
            a_spec(pod("old", container(count=4)), pod("new", container(count=1))),
            reregister_after=seconds(0.01),
        )
    )
    quick.do(StartPlugin("gpu"))
    quick.do(CreatePod("old"))
    quick.begin(RestartKubelet(NODE, seconds(5)))
    quick.do(DeletePod("old", force=True))
    quick.begin(CreatePod("new"))
    quick.wait(10)

    assert quick.pod("new").message == (
        "Pod was rejected: Allocate failed due to requested number of devices unavailable for "
        "example.com/gpu. Requested: 1, Available: 0, which is unexpected"
    )


def test_a_pod_that_has_ended_and_was_deleted_meanwhile_is_deleted_for_good() -> None:
    """S12.4: it is finished and has a deletion timestamp."""
    run = started(a_spec(pod("failed", container(count=5))), "failed")
    assert run.pod("failed").phase == "Failed"
    run.begin(RestartKubelet(NODE, seconds(5)))
    run.begin(DeletePod("failed"))
    run.wait(10)

    assert run.simulation.api.pods() == []


def test_after_the_first_batch_the_devices_of_gone_pods_are_free() -> None:
    """S6.1, S6.2."""
    run = started(
        with_plugin(
            a_spec(pod("old", container(count=4)), pod("new", container(count=4))),
            reregister_after=seconds(0.01),
        ),
        "old",
    )
    run.begin(RestartKubelet(NODE, seconds(5)))
    run.do(DeletePod("old", force=True))
    run.wait(10)
    run.do(CreatePod("new"))

    assert run.pod("new").phase == "Running"


def with_init_container(version: str) -> SimulationSpec:
    init = container("setup", 1, ContainerKind.INIT)
    return with_plugin(
        a_spec(pod("trainer", init, container("app", 1)), version=version), **NEVER_BACK
    )


def test_a_completed_init_container_fails_its_running_pod_at_a_restart() -> None:
    """S5.15, issue 124345."""
    run = started(with_init_container("1.36.2"), "trainer")
    run.do(RestartKubelet(NODE))
    run.wait(1)

    assert run.pod("trainer").phase == "Failed"
    assert run.pod("trainer").message == NO_HEALTHY


def test_a_completed_init_container_does_no_harm_once_the_plugin_is_back() -> None:
    """R36: with healthy devices nothing more is needed (step F)."""
    spec = with_plugin(with_init_container("1.36.2"), reregister_after=seconds(0.05))
    run = started(spec, "trainer")
    run.do(RestartKubelet(NODE))
    run.wait(1)

    assert run.pod("trainer").phase == "Running"
    assert run.pod("trainer").unchanged


def test_a_completed_init_container_did_not_matter_to_1_24() -> None:
    run = started(with_init_container("1.24.0"), "trainer")
    run.do(RestartKubelet(NODE))
    run.wait(1)

    assert run.pod("trainer").phase == "Running"


def test_a_sidecar_runs_and_is_no_obstacle_at_a_restart() -> None:
    """S5.15: sidecars are running, hence fine."""
    sidecar = container("proxy", 1, ContainerKind.SIDECAR)
    run = started(
        with_plugin(a_spec(pod("trainer", sidecar, container("app", 1))), **NEVER_BACK), "trainer"
    )
    run.do(RestartKubelet(NODE))
    run.wait(1)

    assert run.pod("trainer").phase == "Running"
    assert run.pod("trainer").unchanged
    assert run.pod("trainer").devices == (("example.com/gpu", 2),)


def test_init_containers_hand_their_devices_on_and_start_before_the_others() -> None:
    """S3.2, S3.21."""
    run = started(
        a_spec(
            pod(
                "trainer",
                container("setup", 2, ContainerKind.INIT),
                container("app", 1),
                container("log", 1),
            )
        ),
        "trainer",
    )

    assert run.pod("trainer").devices == (("example.com/gpu", 2),)
    assert [(each.container, each.state) for each in run.records(ContainerChanged)] == [
        ("setup", "running"),
        ("setup", "exited"),
        ("app", "running"),
        ("log", "running"),
    ]


@pytest.mark.parametrize(
    ("version", "phase"), [("1.31.4", "Failed"), ("1.33.1", "Failed"), ("1.36.2", "Running")]
)
def test_a_container_that_had_restarted_once_is_found_running_from_1_36_on(
    version: str, phase: str
) -> None:
    """R04, S5.6: before, the exited instance is looked up (the harmful case)."""
    run = started(with_plugin(a_spec(pod("trainer"), version=version), **NEVER_BACK), "trainer")
    run.do(RestartContainer("trainer", "app"))
    assert run.pod("trainer").restarts == 1
    run.do(RestartKubelet(NODE))
    run.wait(1)

    assert run.pod("trainer").phase == phase


@pytest.mark.parametrize(("version", "phase"), [("1.27.2", "Failed"), ("1.36.2", "Succeeded")])
def test_a_completed_pod_is_admitted_again_only_by_old_kubelets(version: str, phase: str) -> None:
    """S5.7: issues 117955 and 126341."""
    run = started(with_plugin(a_spec(pod("trainer"), version=version), **NEVER_BACK), "trainer")
    run.do(FinishPod("trainer"))
    run.do(RestartKubelet(NODE))
    run.wait(1)

    assert run.pod("trainer").phase == phase


def test_a_completed_pod_that_an_old_kubelet_admits_again_stays_completed() -> None:
    run = started(
        with_plugin(a_spec(pod("trainer"), version="1.27.2"), reregister_after=seconds(0.01)),
        "trainer",
    )
    run.do(FinishPod("trainer"))
    run.do(RestartKubelet(NODE))
    run.wait(1)

    assert run.pod("trainer").phase == "Succeeded"


def test_a_pod_marked_for_deletion_is_admitted_again_and_then_ended() -> None:
    """S5.7."""
    run = started(a_spec(pod("trainer")), "trainer")
    run.begin(DeletePod("trainer"))
    run.wait(1)
    before = run.simulation.now
    run.do(RestartKubelet(NODE))

    assert [each.admitted for each in run.records(AdmissionDecided, before)] == [True]

    run.wait(60)

    assert run.pod("trainer").phase == "Deleted"


@pytest.mark.parametrize(
    ("back_after", "devices", "outcome"),
    [
        (30, None, "no healthy devices present; cannot allocate unhealthy devices"),
        (0.01, None, ""),
        (
            0.01,
            "h",
            "previously allocated devices are no longer healthy; cannot allocate unhealthy devices",
        ),
    ],
)
def test_a_reboot_by_the_state_of_the_plugin(
    back_after: float, devices: str | None, outcome: str
) -> None:
    """Table 5.3, row node reboot: rejected (D), admitted (F), rejected (E)."""
    spec = with_plugin(a_spec(pod("trainer")), starts_after_boot=seconds(back_after))
    if devices:
        renamed = tuple(
            replace(each, id=DeviceId(devices + each.id)) for each in spec.plugins[0].devices
        )
        spec = with_plugin(spec, devices_after_reboot=renamed)
    run = started(spec, "trainer")
    before = run.simulation.now
    run.do(RebootNode(NODE))
    run.wait(2)
    found = run.pod("trainer")

    assert run.records(PluginCalled, before) == []
    if outcome:
        assert found.phase == "Failed"
        assert outcome in found.message
    else:
        assert found.phase == "Running"
        assert not found.unchanged


def test_five_minutes_after_a_restart_a_pod_that_was_not_running_cannot_come_back() -> None:
    """Table 5.3: resource garbage-collected, then `cannot allocate unregistered device`."""
    spec = with_plugin(a_spec(pod("holder"), pod("late")), **NEVER_BACK)
    run = started(spec, "holder")
    run.do(RestartKubelet(NODE))
    run.wait(320)
    run.do(CreatePod("late"))

    assert "cannot allocate unregistered device example.com/gpu" in run.pod("late").message


def test_a_lost_checkpoint_lets_pods_run_on_without_devices() -> None:
    """Table 5.3, last row; S4.14."""
    run = started(with_plugin(a_spec(pod("trainer")), **NEVER_BACK), "trainer")
    run.do(CheckpointFile(NODE, FileAction.DELETE))
    run.do(RestartKubelet(NODE))
    run.wait(1)

    assert run.pod("trainer").phase == "Running"
    assert run.pod("trainer").devices == ()
    assert run.records(ManagerStarted)[-1].source == "nothing"


@pytest.mark.parametrize("action", [FileAction.TRUNCATE, FileAction.CORRUPT])
def test_a_damaged_checkpoint_is_reported_and_taken_for_none(action: FileAction) -> None:
    """S4.12."""
    run = started(with_plugin(a_spec(pod("trainer")), **NEVER_BACK), "trainer")
    run.do(CheckpointFile(NODE, action))
    run.do(RestartKubelet(NODE))
    last = run.records(ManagerStarted)[-1]

    assert last.source == "nothing"
    assert last.error != ""
    assert run.simulation.checkpoint(NODE).exists
    assert not run.simulation.checkpoint(NODE).valid


def test_a_replaced_checkpoint_is_what_the_next_start_reads() -> None:
    run = started(with_plugin(a_spec(pod("trainer")), **NEVER_BACK), "trainer")
    empty = b'{"Data":{"PodDeviceEntries":null,"RegisteredDevices":{}},"Checksum":3467439661}'
    run.do(CheckpointFile(NODE, FileAction.REPLACE, empty))
    run.do(RestartKubelet(NODE))

    assert run.records(ManagerStarted)[-1].bindings == 0
    assert run.simulation.checkpoint(NODE).valid


def test_an_upgrade_from_1_19_to_1_20_0_loses_the_records() -> None:
    """S4.15, table 5.4."""
    run = started(with_plugin(a_spec(pod("trainer"), version="1.19.16"), **NEVER_BACK), "trainer")
    run.do(UpgradeKubelet(NODE, "1.20.0"))
    run.wait(1)
    last = run.records(ManagerStarted)[-1]

    assert run.records(KubeletStarted)[-1].version == "1.20.0"
    assert (last.source, last.bindings) == ("nothing", 0)
    assert "cannot unmarshal array" in last.error
    assert run.pod("trainer").phase == "Running"
    assert run.pod("trainer").devices == ()


def test_a_crash_keeps_containers_running_like_a_restart() -> None:
    run = started(with_plugin(a_spec(pod("trainer")), **NEVER_BACK), "trainer")
    run.do(CrashKubelet(NODE, seconds(3)))
    run.wait(1)

    assert run.pod("trainer").phase == "Running"
    assert run.pod("trainer").unchanged


def test_a_running_pod_outlives_a_plugin_that_never_comes_back() -> None:
    """Below table 5.4: containers go on, capacity becomes 0 after five minutes."""
    run = started(with_plugin(a_spec(pod("trainer")), **NEVER_BACK), "trainer")
    run.do(StopPlugin("gpu"))
    assert run.simulation.node(NODE).capacity == (("example.com/gpu", 4),)
    assert run.simulation.node(NODE).allocatable == (("example.com/gpu", 0),)
    run.wait(320)

    assert run.simulation.node(NODE).capacity == ()
    assert run.simulation.node(NODE).status_capacity == (("example.com/gpu", 0),)
    assert run.pod("trainer").phase == "Running"

    run.do(RestartContainer("trainer", "app"))

    assert run.pod("trainer").waiting == (
        "CreateContainerConfigError: "
        "endpoint not found in cache for a registered resource: example.com/gpu"
    )
