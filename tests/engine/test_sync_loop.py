"""While a plugin is waited for in an admission, the kubelet's loop does nothing else (S1.28)."""

from __future__ import annotations

from simulator.core.records import ContainerChanged
from simulator.engine.actions import (
    CreatePod,
    DeletePod,
    HangPlugin,
    RestartContainer,
    StartPlugin,
)
from tests.engine.runs import Run, a_spec, container, pod, seconds

HANG = seconds(30)


def hanging(*running: str) -> Run:
    """Pods run, then the plugin hangs for half a minute with the pod `slow` before it."""
    free = container(count=0)
    run = Run(
        a_spec(*map(pod, running), pod("slow"), pod("late", container(count=3)), pod("f", free))
    )
    run.do(StartPlugin("gpu"))
    for name in running:
        run.do(CreatePod(name))
    run.do(HangPlugin("gpu", HANG))
    run.begin(CreatePod("slow"))
    run.wait(1)
    return run


def states(run: Run) -> list[str]:
    return [change.state for change in run.records(ContainerChanged)]


def test_a_pod_that_is_deleted_meanwhile_runs_on() -> None:
    run = hanging("doomed")
    run.begin(DeletePod("doomed"))
    run.wait(28)
    assert run.pod("doomed").phase == "Running"
    assert states(run) == ["running"]
    run.wait(40)

    assert run.pod("doomed").phase == "Deleted"
    assert run.pod("slow").phase == "Running"


def test_a_container_that_ends_meanwhile_is_not_started_again() -> None:
    run = hanging("web")
    run.begin(RestartContainer("web", "app"))
    run.wait(28)
    assert states(run)[-1] == "exited"
    run.wait(5)

    assert states(run)[-1] == "running"
    assert run.pod("web").restarts == 1


def test_a_pod_whose_end_was_under_way_ends() -> None:
    """Its worker waits for its containers, not the loop."""
    run = Run(a_spec(pod("ending"), pod("slow")))
    run.do(StartPlugin("gpu"))
    run.do(CreatePod("ending"))
    run.begin(DeletePod("ending"))
    run.wait(25)
    run.do(HangPlugin("gpu"))
    run.begin(CreatePod("slow"))
    run.wait(10)

    assert run.pod("ending").phase == "Deleted"
    assert run.pod("slow").phase == "Pending"


def test_what_waited_is_done_in_the_order_in_which_it_came() -> None:
    """Three of four devices are free for `late` only because `doomed` is gone before it comes."""
    run = hanging("doomed")
    run.begin(DeletePod("doomed", force=True))
    run.begin(CreatePod("late"))
    run.begin(CreatePod("f"))
    run.wait(28)
    assert [run.pod(name).phase for name in ("late", "f")] == ["Pending", "Pending"]
    assert "killed" not in states(run)
    run.wait(5)

    assert [run.pod(name).phase for name in ("slow", "late", "f")] == ["Running"] * 3
    assert "killed" in states(run)


def test_a_pod_that_came_and_went_meanwhile_is_nobody() -> None:
    run = hanging()
    run.begin(CreatePod("late"))
    run.wait(1)
    run.begin(DeletePod("late", force=True))
    run.wait(40)

    assert run.pod("late").phase == "Deleted"
    assert states(run) == ["running"]
    assert run.pod("late").plugin_calls == 0
