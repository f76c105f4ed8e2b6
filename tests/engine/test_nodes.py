"""Machines: several things that happen to one at once, and what old versions did."""

from __future__ import annotations

from dataclasses import replace

import pytest

from simulator.core.devices import NumaNode
from simulator.core.instants import MICROSECOND, Duration
from simulator.core.pods import ContainerKind
from simulator.core.records import (
    ContainerChanged,
    EventEmitted,
    KubeletPanicked,
    KubeletStarted,
    NodeStatusReported,
)
from simulator.engine.actions import (
    CheckpointFile,
    CrashPlugin,
    CreatePod,
    DatabaseFile,
    DeletePod,
    FileAction,
    FinishPod,
    PowerCut,
    RebootNode,
    ReportDevices,
    RestartContainer,
    RestartKubelet,
    StartPlugin,
    StopPlugin,
)
from simulator.engine.latencies import NO_DELAYS
from simulator.engine.spec import ApiSpec, NodeSpec, PluginLatency
from simulator.engine.storage_faults import corrupted
from tests.engine.runs import (
    GPU,
    NODE,
    Run,
    a_plugin,
    a_spec,
    container,
    devices,
    pod,
    seconds,
    with_plugin,
)


def started(run: Run, *names: str) -> Run:
    run.do(StartPlugin("gpu"))
    for name in names:
        run.do(CreatePod(name))
    return run


def starts(run: Run) -> list[float]:
    return [at / seconds(1) for at, _ in run.stamped(KubeletStarted)]


def test_a_restart_while_the_machine_is_off_waits_for_the_boot() -> None:
    run = Run(a_spec())
    run.begin(RebootNode(NODE, seconds(10)))
    run.wait(5)
    run.do(RestartKubelet(NODE))

    assert starts(run) == [0, 10]


def test_of_two_reboots_the_later_one_counts() -> None:
    run = Run(a_spec())
    run.begin(RebootNode(NODE, seconds(10)))
    run.wait(5)
    run.do(PowerCut(NODE, seconds(20)))

    assert starts(run) == [0, 25]


def test_of_two_restarts_the_later_one_counts() -> None:
    run = Run(a_spec())
    run.begin(RestartKubelet(NODE, seconds(10)))
    run.wait(5)
    run.do(RestartKubelet(NODE, seconds(20)))

    assert starts(run) == [0, 25]


def test_every_boot_has_an_id_of_its_own_and_a_restart_keeps_it() -> None:
    run = Run(a_spec())
    run.do(RestartKubelet(NODE))
    run.do(RebootNode(NODE))
    ids = [each.boot_id for each in run.records(KubeletStarted)]

    assert ids[0] == ids[1] != ids[2]
    assert [len(each) for each in ids] == [36, 36, 36]


def test_an_init_container_ends_by_itself_while_no_kubelet_runs() -> None:
    spec = a_spec(pod("a", container("setup", 1, ContainerKind.INIT), container("app", 1)))
    run = started(Run(with_plugin(spec, reregister_after=seconds(0.01))))
    run.begin(CreatePod("a"))
    run.wait(0.1)
    run.begin(RestartKubelet(NODE, seconds(10)))
    run.wait(5)
    assert [each.state for each in run.records(ContainerChanged)] == ["running", "exited"]
    run.wait(10)

    assert run.pod("a").phase == "Running"


def test_a_container_killed_in_its_init_phase_does_not_end_twice() -> None:
    spec = a_spec(pod("a", container("setup", 1, ContainerKind.INIT), container("app", 1)))
    run = started(
        Run(replace(spec, pods=(replace(spec.pods[0], termination_grace=seconds(0.01)),)))
    )
    run.begin(CreatePod("a"))
    run.wait(0.1)
    run.do(DeletePod("a"))
    run.wait(1)

    assert [each.state for each in run.records(ContainerChanged)] == ["running", "killed"]


def test_a_container_that_exits_while_no_kubelet_runs_is_started_by_the_next_one() -> None:
    run = started(Run(with_plugin(a_spec(pod("a")), reregister_after=seconds(0.01))), "a")
    run.begin(RestartKubelet(NODE, seconds(10)))
    run.wait(1)
    run.begin(RestartContainer("a", "app"))
    run.wait(15)

    assert run.pod("a").restarts == 1
    assert run.pod("a").phase == "Running"


def test_a_pod_that_finishes_while_no_kubelet_runs_is_reported_by_the_next_one() -> None:
    run = started(Run(with_plugin(a_spec(pod("a")), reregister_after=seconds(0.01))), "a")
    run.begin(RestartKubelet(NODE, seconds(10)))
    run.wait(1)
    run.begin(FinishPod("a"))
    run.wait(5)
    assert run.pod("a").phase == "Running"
    run.wait(10)

    assert run.pod("a").phase == "Succeeded"


def test_a_pod_that_never_restarts_fails_with_its_machine() -> None:
    never = replace(pod("a"), restart_policy="Never")
    run = started(Run(with_plugin(a_spec(never), starts_after_boot=seconds(0.01))), "a")
    run.do(RebootNode(NODE))
    run.wait(2)

    assert run.pod("a").phase == "Failed"


def test_a_pod_that_never_restarts_runs_on_over_a_restart() -> None:
    never = replace(pod("a"), restart_policy="Never")
    run = started(Run(with_plugin(a_spec(never), reregister_after=seconds(0.01))), "a")
    run.do(RestartKubelet(NODE))
    run.wait(2)

    assert run.pod("a").phase == "Running"


def test_a_long_first_batch_keeps_housekeeping_waiting() -> None:
    """S5.10: only when all sources are ready."""
    spec = with_plugin(
        a_spec(pod("a"), pod("b"), version="1.25.12"),
        reregister_after=seconds(0.3),
        latency=PluginLatency(allocate=seconds(10)),
    )
    run = started(Run(spec), "a")
    run.begin(CreatePod("b"))
    run.wait(1)
    run.begin(ReportDevices("gpu", devices(4, health="Unhealthy")))
    run.begin(RestartKubelet(NODE))
    run.wait(9)

    assert run.pod("a").phase == "Failed"
    killed = [each for each in run.records(ContainerChanged) if each.state == "killed"]
    assert len(killed) == 1


def test_an_orphan_of_a_pod_that_was_deleted_meanwhile_is_killed() -> None:
    run = started(Run(a_spec(pod("a"))), "a")
    run.begin(RestartKubelet(NODE, seconds(5)))
    run.do(DeletePod("a", force=True))
    run.wait(20)
    killed = [
        at / seconds(1) for at, each in run.stamped(ContainerChanged) if each.state == "killed"
    ]

    assert len(killed) == 1
    assert killed[0] == pytest.approx(starts(run)[1] + 3)


def test_kubelets_up_to_1_14_set_extended_resources_to_0_at_once() -> None:
    """S2.16."""
    run = started(Run(with_plugin(a_spec(version="1.12.10"), reregister_after=None)))
    run.wait(11)
    assert run.simulation.node(NODE).status_capacity == (("example.com/gpu", 4),)
    run.do(RestartKubelet(NODE))

    assert run.simulation.node(NODE).status_capacity == (("example.com/gpu", 0),)


def test_a_kubelet_with_instance_aware_disconnect_keeps_the_new_plugin() -> None:
    """S1.22: fixed after 1.36."""
    spec = a_spec(version="1.37.0")
    run = Run(replace(spec, plugins=(*spec.plugins, a_plugin("newer", 2))))
    run.do(StartPlugin("gpu"))
    run.do(StartPlugin("newer"))
    run.do(StopPlugin("gpu"))

    assert run.simulation.plugin("newer").registered
    assert run.simulation.node(NODE).allocatable == (("example.com/gpu", 2),)


def test_a_plugin_that_waits_to_start_again_does_not_outlive_its_machine() -> None:
    run = started(Run(a_spec()))
    run.do(CrashPlugin("gpu", seconds(30)))
    run.do(RebootNode(NODE))
    run.wait(60)

    assert not run.simulation.plugin("gpu").registered


def test_hints_for_a_recorded_device_that_vanished_crash_the_newest_kubelet() -> None:
    """S7.7: a crash loop, ten seconds a turn, until the device is back."""
    spec = a_spec(pod("a"))
    node = NodeSpec(NODE, numa_nodes=2, topology_manager_policy="best-effort")
    placed = tuple(replace(each, topology=(NumaNode(0),)) for each in devices(2))
    others = tuple(replace(each, topology=(NumaNode(0),)) for each in devices(2, "h"))
    spec = with_plugin(
        replace(spec, nodes=(node,)),
        devices=placed,
        devices_after_reboot=others,
        starts_after_boot=seconds(0.01),
        reregister_after=seconds(0.01),
    )
    run = started(Run(spec), "a")
    run.begin(RebootNode(NODE))
    run.wait(25)
    assert {each.rule for each in run.records(KubeletPanicked)} == {"S7.7"}
    assert len(run.records(KubeletPanicked)) == 3
    run.begin(ReportDevices("gpu", placed))
    run.wait(25)

    assert run.pod("a").phase == "Running"


def test_a_rebooted_event_names_the_boot() -> None:
    run = Run(a_spec())
    run.wait(1)
    run.do(RebootNode(NODE))
    boot = run.records(KubeletStarted)[-1].boot_id

    assert [each.message for each in run.records(EventEmitted)] == [
        f"Node n0 has been rebooted, boot id: {boot}"
    ]


def test_a_node_status_is_recorded_when_it_changes_only() -> None:
    run = started(Run(a_spec()))
    run.wait(100)

    assert run.records(NodeStatusReported) == [NodeStatusReported(((GPU, 4),), ((GPU, 4),))]


def test_damage_without_a_file_or_a_database_does_no_harm() -> None:
    run = Run(a_spec())
    run.do(CheckpointFile(NODE, FileAction.REPLACE))
    run.do(DatabaseFile(NODE, FileAction.DELETE))
    run.do(RestartKubelet(NODE))

    assert run.simulation.node(NODE).up


def test_damage_changes_the_checksum_or_leaves_no_json() -> None:
    assert corrupted(b'{"Checksum":31}') == b'{"Checksum":32}'
    assert corrupted(b'{"Checksum":30}') == b'{"Checksum":31}'
    assert corrupted(b"") == b"{"


def test_delays_of_others_can_be_left_out() -> None:
    """API server and runtime take no time, so what is left is what the plugin and the disk take."""
    instant = ApiSpec(p50=Duration(0), p99=Duration(0))
    run = Run(replace(a_spec(pod("a")), delays=NO_DELAYS, api=instant))
    run.do(StartPlugin("gpu"))
    begun = run.simulation.now
    done = run.do(CreatePod("a"))

    # Allocate takes 2 ms, the write of the checkpoint 1.07 ms.
    assert done - begun == 3_070 * MICROSECOND


def test_a_resource_that_leaves_while_its_report_is_under_way_does_not_come_back() -> None:
    """S2.10, S2.15: one report after the other; the API takes 12 s here, the loop 10 s."""
    slow = ApiSpec(seconds(12), seconds(12))
    run = Run(replace(a_spec(), api=slow))
    run.do(StartPlugin("gpu"))
    run.wait(60)
    run.do(StopPlugin("gpu"))
    run.wait(400)

    assert [
        (dict(each.capacity)[GPU], dict(each.allocatable)[GPU])
        for _, each in run.stamped(NodeStatusReported)
    ] == [(4, 4), (4, 0), (0, 0)]
