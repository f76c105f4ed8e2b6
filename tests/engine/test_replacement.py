"""Replacement pods and a scheduler that lags behind: S2.15, S5.11, S5.12, R03, R07, R11."""

from __future__ import annotations

from dataclasses import replace

import pytest

from simulator.core.instants import SECOND, Instant
from simulator.core.records import (
    EventEmitted,
    NodeStatusReported,
    PodPhaseChanged,
    ResourceExpired,
)
from simulator.engine.actions import (
    ApiOutage,
    CheckpointFile,
    CreatePod,
    DeletePod,
    FileAction,
    FinishPod,
    RebootNode,
    RestartKubelet,
    StartPlugin,
    StopPlugin,
)
from simulator.engine.spec import Controller, NodeSpec, PodSpec, SimulationSpec
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


def controlled(name: str, controller: Controller, every: float = 1, count: int = 1) -> PodSpec:
    return replace(
        pod(name, container(count=count)),
        node=None,
        controller=controller,
        replace_after=seconds(every),
    )


def one_device(*pods: PodSpec, version: str = "1.36.2") -> SimulationSpec:
    return with_plugin(
        a_spec(*pods, version=version),
        devices=devices(1),
        reregister_after=None,
        starts_after_boot=None,
    )


def settled(spec: SimulationSpec, *pods: str) -> Run:
    """The plugin runs, the scheduler knows of its devices, the pods run."""
    run = Run(spec)
    run.do(StartPlugin("gpu"))
    run.wait(11)
    for name in pods:
        run.do(CreatePod(name))
    return run


def phases(run: Run) -> list[str]:
    return [each.phase for each in run.simulation.pods()]


def test_stale_allocatable_draws_replacements_to_a_node_that_fails_each_of_them() -> None:
    """S5.12: until the node status says 0, at most 10 s after the kubelet's start."""
    run = settled(one_device(controlled("web", Controller.REPLICA_SET)), "web")
    before = run.simulation.now
    run.do(RebootNode(NODE, seconds(5)))
    run.wait(30)
    failed = [
        at / SECOND for at, each in run.stamped(PodPhaseChanged, before) if each.phase == "Failed"
    ]
    zero = next(
        at / SECOND
        for at, each in run.stamped(NodeStatusReported, before)
        if dict(each.allocatable)[GPU] == 0
    )

    assert len(failed) > 5
    assert max(failed) < zero + 1
    assert phases(run)[-1] == "Pending"


def test_one_device_and_a_controller_that_retries_every_2_s() -> None:
    """R07: as many failed objects as attempts before the plugin came, then one that runs."""
    run = settled(one_device(controlled("usb", Controller.REPLICA_SET, every=2)), "usb")
    run.do(RestartKubelet(NODE, seconds(1)))
    assert phases(run) == ["Running"]

    run = settled(one_device(controlled("usb", Controller.REPLICA_SET, every=2)), "usb")
    run.do(RebootNode(NODE, seconds(1)))
    run.wait(9)
    run.do(StartPlugin("gpu"))
    run.wait(15)

    assert phases(run).count("Failed") == 5
    assert phases(run).count("Running") == 1
    assert phases(run)[-1] == "Running"
    assert [each.pod for each in run.simulation.holdings(NODE)] == [run.simulation.pods()[-1].uid]


def test_a_node_that_refuses_all_costs_two_writes_for_each_failed_pod() -> None:
    """R11: ten minutes of a ReplicaSet that replaces every 30 s, at a plugin that always fails.

    A pod that is refused has one event (S12.8) and one patch of its status (S12.4); with the node's
    own, that is how much the kubelet writes in a minute.
    """
    spec = one_device(controlled("web", Controller.REPLICA_SET, every=30))
    run = settled(with_plugin(spec, fail_allocate="driver is broken"))
    calls = run.simulation.nodes[NODE].api_calls
    run.do(CreatePod("web"))
    run.wait(60)
    before = calls.copy()
    minutes = []
    for _ in range(9):
        run.wait(60)
        now = calls - before
        minutes.append((now["POST events"], now["PATCH pods/status"]))
        before = calls.copy()

    assert phases(run).count("Failed") == 20
    assert minutes == [(2, 2)] * 9


def test_a_bare_pod_stays_failed_and_a_controlled_one_is_replaced_once() -> None:
    """R03, when the replacement has to wait for allocatable: two failed objects are left."""
    spec = with_plugin(
        a_spec(pod("bare"), controlled("owned", Controller.REPLICA_SET, every=11)),
        reregister_after=None,
    )
    run = settled(spec, "bare", "owned")
    run.do(RebootNode(NODE))
    run.wait(15)
    run.do(StartPlugin("gpu"))
    run.wait(20)

    assert run.pod("bare").phase == "Failed"
    assert [(each.name, each.phase) for each in run.simulation.pods()] == [
        ("bare", "Failed"),
        ("owned", "Failed"),
        ("owned-1", "Running"),
    ]


def test_nobody_fails_when_the_plugin_comes_first() -> None:
    """R03, the other order."""
    spec = with_plugin(
        a_spec(pod("bare"), controlled("owned", Controller.REPLICA_SET)),
        starts_after_boot=seconds(0.01),
    )
    run = settled(spec, "bare", "owned")
    run.do(RebootNode(NODE))
    run.wait(20)

    assert phases(run) == ["Running", "Running"]


def test_a_replica_set_is_replaced_when_it_is_deleted_or_done() -> None:
    run = settled(a_spec(controlled("web", Controller.REPLICA_SET)), "web")
    run.do(DeletePod("web", force=True))
    run.wait(5)
    assert run.pod("web-1").phase == "Running"

    run.do(FinishPod("web-1"))
    run.wait(5)
    assert run.pod("web-2").phase == "Running"


def test_a_job_is_done_when_its_pod_succeeded() -> None:
    run = settled(a_spec(controlled("sum", Controller.JOB)), "sum")
    run.do(FinishPod("sum"))
    run.wait(700)

    assert phases(run) == ["Succeeded"]


def test_a_job_backs_off_and_gives_up_after_six_retries() -> None:
    run = settled(a_spec(controlled("sum", Controller.JOB)), "sum")
    name = "sum"
    created = []
    for retry in range(1, 7):
        before = run.simulation.now
        run.do(FinishPod(name, succeeded=False))
        name = f"sum-{retry}"
        while run.simulation.pod(name) is None or run.pod(name).phase != "Running":
            run.wait(1)
        created.append(round((run.simulation.now - before) / SECOND / 10) * 10)
    run.do(FinishPod(name, succeeded=False))
    run.wait(1000)

    assert created == [10, 20, 40, 80, 160, 320]
    assert phases(run) == ["Failed"] * 7


def test_a_capacity_change_reaches_the_scheduler_up_to_10_s_later() -> None:
    """S2.15."""
    run = Run(a_spec(replace(pod("early"), node=None)))
    run.do(StartPlugin("gpu"))
    run.do(CreatePod("early"))
    node = run.simulation.node(NODE)

    assert (node.allocatable, node.status_allocatable) == ((("example.com/gpu", 4),), ())
    assert run.pod("early").phase == "Pending"
    assert [each.message for each in run.records(EventEmitted)] == [
        "0/1 nodes are available: Insufficient example.com/gpu."
    ]

    run.wait(11)

    assert run.simulation.node(NODE).status_allocatable == (("example.com/gpu", 4),)
    assert run.pod("early").phase == "Running"


def test_pods_wait_until_others_make_room() -> None:
    run = settled(
        a_spec(
            replace(pod("a", container(count=3)), node=None),
            replace(pod("b", container(count=2)), node=None),
        ),
        "a",
    )
    run.do(CreatePod("b"))
    assert run.pod("b").phase == "Pending"

    run.do(FinishPod("a"))
    run.wait(1)

    assert run.pod("b").phase == "Running"


def test_a_pod_that_waits_for_a_node_can_be_deleted() -> None:
    run = settled(a_spec(replace(pod("big", container(count=9)), node=None)))
    run.do(CreatePod("big"))
    run.do(DeletePod("big"))

    assert run.pod("big").phase == "Deleted"


def test_a_node_without_heartbeat_gets_no_pods() -> None:
    """S12.6: 40 s without a heartbeat."""
    second = NodeSpec(type(NODE)("n1"))
    spec = a_spec(replace(pod("late", container(count=0)), node=None))
    run = Run(replace(spec, nodes=(*spec.nodes, second)))
    run.begin(RestartKubelet(NODE, seconds(120)))
    run.wait(60)
    run.do(CreatePod("late"))
    uid = run.pod("late").uid
    changed = [each for each in run.all_records() if getattr(each.record, "pod", None) == uid]

    assert {each.node for each in changed if each.node} == {"n1"}


def test_node_status_keeps_what_the_kubelet_does_not_know() -> None:
    """S2.14, issue 102880: a lost checkpoint leaves the old capacity on the node."""
    run = settled(one_device())
    run.do(StopPlugin("gpu"))
    run.do(CheckpointFile(NODE, FileAction.DELETE))
    run.do(RestartKubelet(NODE))
    run.wait(30)
    node = run.simulation.node(NODE)

    assert node.capacity == ()
    assert node.status_capacity == (("example.com/gpu", 1),)


def test_a_resource_whose_plugin_stays_away_ends_with_capacity_0() -> None:
    """S2.5, S2.9, S2.10, S2.13: after five minutes the key stays with 0 on the node."""
    run = settled(one_device())
    stopped = run.simulation.now
    run.do(StopPlugin("gpu"))
    run.wait(299)
    assert run.simulation.node(NODE).status_capacity == (("example.com/gpu", 1),)
    run.wait(12)
    expired = [at for at, _ in run.stamped(ResourceExpired)]

    assert len(expired) == 1
    assert expired[0] > stopped + 300 * SECOND
    assert run.simulation.node(NODE).status_capacity == (("example.com/gpu", 0),)


def test_a_node_that_cannot_reach_the_api_reports_nothing() -> None:
    run = settled(one_device())
    run.do(ApiOutage(NODE, seconds(60)))
    run.do(StopPlugin("gpu"))
    run.wait(55)
    assert run.simulation.node(NODE).status_allocatable == (("example.com/gpu", 1),)
    run.wait(20)

    assert run.simulation.node(NODE).status_allocatable == (("example.com/gpu", 0),)


@pytest.mark.parametrize("cause", ["restart", "reboot"])
def test_a_reboot_is_announced_and_a_restart_is_not(cause: str) -> None:
    """S5.18."""
    run = settled(one_device())
    run.do(RebootNode(NODE) if cause == "reboot" else RestartKubelet(NODE))
    rebooted = [each for each in run.records(EventEmitted) if each.reason == "Rebooted"]

    assert len(rebooted) == (1 if cause == "reboot" else 0)
    assert Instant(0) < run.simulation.now
