"""The predicates after the device manager: S2.17, S5.8, S6.5a, S13.3."""

from __future__ import annotations

from simulator.engine.actions import (
    CheckpointFile,
    CreatePod,
    FileAction,
    RestartKubelet,
    StartPlugin,
)
from tests.engine.runs import NODE, Run, a_spec, container, pod, seconds, with_plugin


def started(run: Run, *names: str) -> Run:
    run.do(StartPlugin("gpu"))
    for name in names:
        run.do(CreatePod(name))
    return run


def test_a_rejected_pod_that_is_active_again_takes_room_from_the_next_one() -> None:
    """S6.5a: node accounting counts its requests, which can reject the next pod."""
    spec = with_plugin(
        a_spec(
            pod("a", container(count=3)), pod("b", container(count=3)), pod("c", container(count=1))
        ),
        reregister_after=seconds(0.01),
    )
    run = started(Run(spec))
    run.wait(11)
    run.do(CreatePod("a"))
    run.begin(CreatePod("b"))
    run.wait(0.06)
    run.do(CreatePod("c"))

    assert "Requested: 3, Available: 1" in run.pod("b").message
    assert run.pod("c").message == (
        "Pod was rejected: Node didn't have enough resource: example.com/gpu, "
        "requested: 1, used: 6, capacity: 4"
    )


def test_a_pod_whose_record_was_lost_still_counts_with_its_request() -> None:
    """S13.3: the device manager would give the devices, the accounting refuses them."""
    spec = with_plugin(
        a_spec(pod("a", container(count=4)), pod("b", container(count=4))),
        reregister_after=seconds(0.01),
    )
    run = started(Run(spec))
    run.wait(11)
    run.do(CreatePod("a"))
    run.do(CheckpointFile(NODE, FileAction.DELETE))
    run.do(RestartKubelet(NODE))
    run.do(CreatePod("b"))

    assert run.pod("b").reason == "OutOfexample.com/gpu"
    assert run.pod("b").message == (
        "Pod was rejected: Node didn't have enough resource: example.com/gpu, "
        "requested: 4, used: 4, capacity: 4"
    )
    assert run.pod("b").devices == (("example.com/gpu", 4),)


def test_recorded_devices_make_room_on_a_node_that_says_0() -> None:
    """S2.17: after a restart allocatable is 0, yet the pods are admitted again."""
    spec = with_plugin(a_spec(pod("a", container(count=4))), reregister_after=None)
    run = started(Run(spec), "a")
    run.do(RestartKubelet(NODE))
    run.wait(15)
    assert run.simulation.node(NODE).status_allocatable == (("example.com/gpu", 0),)
    run.do(RestartKubelet(NODE))
    run.wait(1)

    assert run.pod("a").phase == "Running"
