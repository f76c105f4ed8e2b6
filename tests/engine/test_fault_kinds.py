"""Each kind of fault at the effects it can strike."""

from __future__ import annotations

import pytest

from simulator.core.records import (
    FaultInjected,
    KubeletStarted,
    PluginDisconnected,
    RegistrationRefused,
)
from simulator.engine.actions import BreakStream, CreatePod, StartPlugin, When
from simulator.engine.faults import Fault, FaultKind, Op
from simulator.engine.spec import PluginLatency
from tests.engine.runs import NODE, Run, a_spec, pod, seconds, with_plugin
from tests.engine.test_database import sqlite


def run_with(*faults: Fault, persistence: str = "checkpoint") -> Run:
    spec = a_spec(pod("a"), pod("b"), persistence=persistence)
    return Run(spec, faults=faults, store_factory=sqlite)


def created(run: Run, name: str = "a") -> str:
    run.begin(CreatePod(name))
    run.wait(5)
    return run.pod(name).phase


@pytest.mark.parametrize(
    ("op", "when"),
    [
        *((op, when) for op in (Op.ALLOCATE, Op.COMMIT, Op.LOAD) for when in When),
        (Op.REGISTER, When.BEFORE),
        (Op.LIST_AND_WATCH, When.BEFORE),
    ],
)
def test_latency_makes_an_effect_longer(op: Op, when: When) -> None:
    durations = []
    for added in (0, 3):
        fault = Fault(FaultKind.LATENCY, op, nth=None, when=when, duration=seconds(added))
        run = run_with(fault, persistence="database")
        listed = run.do(StartPlugin("gpu"))
        began = run.simulation.now
        durations.append((listed, run.do(CreatePod("a")) - began))
    (listed, admitted), (listed_late, admitted_late) = durations

    assert (listed_late - listed) + (admitted_late - admitted) >= seconds(3)


@pytest.mark.parametrize("when", list(When))
def test_an_error_of_allocate_refuses_the_pod(when: When) -> None:
    fault = Fault(FaultKind.ERROR, Op.ALLOCATE, when=when, message="device lost")
    run = run_with(fault)
    run.do(StartPlugin("gpu"))
    run.do(CreatePod("a"))

    assert "rpc error: code = Unknown desc = device lost" in run.pod("a").message
    assert dict(run.simulation.plugin("gpu").calls).get("Allocate", 0) == (
        1 if when is When.AFTER else 0
    )


def test_an_error_after_a_commit_refuses_the_pod_although_the_row_is_there() -> None:
    """W6: the write is applied, the answer is an error."""
    fault = Fault(FaultKind.ERROR, Op.COMMIT, nth=3, when=When.AFTER, message="disk I/O error")
    run = run_with(fault, persistence="database")
    run.do(StartPlugin("gpu"))
    run.do(CreatePod("a"))

    assert run.pod("a").phase == "Failed"
    assert len(run.simulation.holdings(NODE)) == 1


@pytest.mark.parametrize("when", list(When))
@pytest.mark.parametrize("op", [Op.ALLOCATE, Op.COMMIT])
def test_a_hang_is_never_answered(op: Op, when: When) -> None:
    nth = 3 if op is Op.COMMIT else 1
    run = run_with(Fault(FaultKind.HANG, op, nth=nth, when=when), persistence="database")
    run.do(StartPlugin("gpu"))

    assert created(run) == "Pending"
    assert created(run, "b") == "Pending"


@pytest.mark.parametrize("when", list(When))
def test_the_loss_of_a_socket_during_allocate_fails_the_call(when: When) -> None:
    run = run_with(Fault(FaultKind.SOCKET_LOSS, Op.ALLOCATE, when=when))
    run.do(StartPlugin("gpu"))
    phase = created(run)

    assert len(run.records(PluginDisconnected)) == 1
    assert phase == ("Failed" if when is When.BEFORE else "Running")


def test_the_loss_of_a_socket_at_a_file_strikes_nobody() -> None:
    run = run_with(Fault(FaultKind.SOCKET_LOSS, Op.RENAME))
    run.do(StartPlugin("gpu"))

    assert created(run) == "Running"


def test_a_stream_that_breaks_during_a_call_takes_the_call_with_it() -> None:
    """S1.22: the kubelet closes the connection."""
    run = Run(with_plugin(a_spec(pod("a")), latency=PluginLatency(allocate=seconds(3))))
    run.do(StartPlugin("gpu"))
    run.begin(CreatePod("a"))
    run.wait(1)
    run.do(BreakStream("gpu"))
    run.wait(1)

    assert "code = Canceled desc = grpc: the client connection is closing" in (run.pod("a").message)


def test_a_full_disk_may_begin_at_an_effect() -> None:
    fault = Fault(FaultKind.DISK_FULL, Op.ALLOCATE, duration=seconds(10))
    run = run_with(fault)
    run.do(StartPlugin("gpu"))
    run.do(CreatePod("a"))
    assert "no space left on device" in run.pod("a").message
    assert run.records(FaultInjected) == [FaultInjected("diskFull")]
    run.wait(11)

    assert created(run, "b") == "Running"


def test_a_register_request_may_fail_or_hang() -> None:
    run = run_with(
        Fault(FaultKind.ERROR, Op.REGISTER, message="failed to dial device plugin: no route")
    )
    run.do(StartPlugin("gpu"))
    assert run.records(RegistrationRefused) == [
        RegistrationRefused("example.com/gpu", "failed to dial device plugin: no route")
    ]
    run.do(StartPlugin("gpu"))

    assert run.simulation.plugin("gpu").registered

    run = run_with(Fault(FaultKind.HANG, Op.REGISTER))
    run.do(StartPlugin("gpu"))

    assert not run.simulation.plugin("gpu").registered


def test_a_list_and_watch_may_fail_or_hang() -> None:
    run = run_with(Fault(FaultKind.ERROR, Op.LIST_AND_WATCH))
    run.begin(StartPlugin("gpu"))
    run.wait(1)
    assert len(run.records(PluginDisconnected)) == 1

    run = run_with(Fault(FaultKind.HANG, Op.LIST_AND_WATCH))
    run.begin(StartPlugin("gpu"))
    run.wait(1)

    assert run.simulation.node(NODE).capacity == ()


@pytest.mark.parametrize("when", list(When))
@pytest.mark.parametrize("op", [Op.REGISTER, Op.LIST_AND_WATCH, Op.LOAD])
def test_a_crash_at_the_start_is_followed_by_another_start(op: Op, when: When) -> None:
    run = run_with(
        Fault(FaultKind.CRASH, op, when=when, duration=seconds(1)), persistence="database"
    )
    run.begin(StartPlugin("gpu"))
    run.wait(10)

    assert len(run.records(KubeletStarted)) == 2
    assert run.simulation.plugin("gpu").registered
    assert created(run) == "Running"
