"""A step can break the n-th effect of any kind, counted from the step."""

from __future__ import annotations

import pytest

from simulator.core.records import KubeletStopped, PluginCalled, StateWritten
from simulator.engine.actions import (
    CrashKubelet,
    CreatePod,
    FailEffect,
    PowerCut,
    StartPlugin,
    When,
)
from simulator.engine.cut_points import cut_points, sampled
from simulator.engine.faults import FaultKind, Op
from simulator.engine.world import Watching
from tests.engine.runs import NODE, Run, a_spec, container, pod, seconds


def run_with(*actions: CrashKubelet | FailEffect | PowerCut) -> Run:
    """Let two pods be created after these actions."""
    run = Run(a_spec(pod("a", container(count=1)), pod("b", container(count=1))))
    run.do(StartPlugin("gpu"))
    for action in actions:
        run.begin(action)
    run.do(CreatePod("a"))
    run.begin(CreatePod("b"))
    run.wait(20)
    return run


def test_the_nth_write_fails_and_no_other() -> None:
    """S3.15: the pod whose write fails is refused."""
    run = run_with(FailEffect(NODE, "write", "no space left on device", nth=2))

    errors = [one.error for one in run.records(StateWritten) if one.cause == "allocation"]
    assert errors == ["", "no space left on device"]
    assert (run.pod("a").phase, run.pod("b").phase) == ("Running", "Failed")


@pytest.mark.parametrize(("when", "calls"), [(When.BEFORE, 1), (When.AFTER, 2)])
def test_a_kubelet_crashes_on_one_side_of_the_nth_call(when: When, calls: int) -> None:
    run = Run(a_spec(pod("a"), pod("b")))
    run.do(StartPlugin("gpu"))
    name = run.begin(CrashKubelet(NODE, seconds(100), "allocate", when, nth=2))
    run.do(CreatePod("a"))

    assert run.simulation.completed_at(name) is None
    run.begin(CreatePod("b"))
    run.wait(5)

    assert [one.cause for one in run.records(KubeletStopped)] == ["crashed"]
    assert len([one for one in run.records(PluginCalled) if one.rpc == "Allocate"]) <= calls
    run.wait(120)
    assert run.simulation.completed_at(name) is not None


def test_the_power_goes_at_the_nth_rename() -> None:
    run = run_with(PowerCut(NODE, seconds(100), "rename", nth=2))

    assert [one.cause for one in run.records(KubeletStopped)] == ["power cut"]
    assert [one.error for one in run.records(StateWritten) if one.cause == "allocation"] == [""]


def effects() -> Run:
    run = Run(a_spec(pod("a")), watching=Watching(effects=True))
    run.do(StartPlugin("gpu"))
    run.do(CreatePod("a"))
    return run


def test_a_cut_before_a_step_that_follows_at_once_is_the_one_after_the_step_before() -> None:
    """A file is written, fsynced and renamed without a pause in between."""
    points, skipped = cut_points(effects().simulation.effects, first=0)

    before = {p.effect.op for p in points if p.when is When.BEFORE and p.kind is FaultKind.CRASH}
    assert Op.WRITE in before
    assert before.isdisjoint({Op.FSYNC, Op.RENAME})
    writes = sum(effect.op is Op.WRITE for effect in effects().simulation.effects)
    assert skipped.total() == 2 * 2 * writes


def test_a_sample_is_spread_over_the_whole_run() -> None:
    points, _ = cut_points(effects().simulation.effects, first=0)

    chosen, beyond = sampled(points, 3)

    assert [points.index(point) for point in chosen] == [
        0,
        len(points) // 3,
        2 * len(points) // 3,
    ]
    assert beyond.total() == len(points) - 3
    assert sampled(points, None) == (points, {})
