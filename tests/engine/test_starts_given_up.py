"""A pod that goes while its start is under way: nothing of it starts, and nobody asks for it again.

What was killed of a force-deleted pod is not started again (S6.5).
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from simulator.core.devices import HEALTHY, UNHEALTHY
from simulator.core.records import ContainerChanged
from simulator.engine.actions import (
    ApiOutage,
    CreatePod,
    DeletePod,
    ReportDevices,
    StartPlugin,
    When,
)
from simulator.engine.faults import Fault, FaultKind, Op
from store.memory.store import MemoryStore
from tests.engine.runs import NODE, Run, a_spec, devices, pod, seconds, with_plugin

BIND = "POST pods/resourcebinding"


def started(persistence: str, *faults: Fault, **plugin: object) -> Run:
    spec = with_plugin(a_spec(pod("a"), pod("b"), persistence=persistence), **plugin)
    run = Run(spec, store_factory=lambda _: MemoryStore(), faults=faults)
    run.do(StartPlugin("gpu"))
    run.wait(15)
    return run


def ran(run: Run, uid: str) -> bool:
    return any(
        each.pod == uid and each.state == "running" for each in run.records(ContainerChanged)
    )


@pytest.mark.parametrize("persistence", ["bind-resource", "binding-object"])
def test_a_pod_that_goes_while_it_waits_for_the_api_is_asked_for_no_more(persistence: str) -> None:
    # The first one about DeviceBindings is the list of the start.
    op, first = (Op.BIND_DEVICES, 1) if persistence == "bind-resource" else (Op.DEVICE_BINDING, 2)
    faults = [Fault(FaultKind.ERROR, op, nth=nth) for nth in range(first, 40)]
    run = started(persistence, *faults)
    run.begin(CreatePod("a"))
    run.wait(3)
    uid = run.pod("a").uid
    run.do(DeletePod("a", force=True))
    run.wait(2)
    calls = dict(run.simulation.nodes[NODE].api_calls)
    run.wait(15)
    after = dict(run.simulation.nodes[NODE].api_calls)

    names = [name for name in after if "binding" in name]
    assert [after[name] for name in names] == [calls.get(name) for name in names]
    assert not ran(run, uid)


def test_a_pod_that_goes_while_it_waits_for_the_api_never_starts() -> None:
    """Its devices are freed for the next one, and are that one's alone."""
    run = started("bind-resource")
    run.begin(CreatePod("a"))
    run.wait(0.006)
    uid = run.pod("a").uid
    run.do(DeletePod("a", force=True))
    run.wait(5)
    run.do(CreatePod("b"))
    run.wait(20)

    assert run.pod("b").phase == "Running"
    assert not ran(run, uid)


@pytest.mark.parametrize("persistence", ["checkpoint", "database", "bind-resource"])
def test_a_pod_that_goes_while_its_container_is_made_never_starts(persistence: str) -> None:
    """The runtime takes 50 ms to start a container."""
    run = started(persistence)
    run.begin(CreatePod("a"))
    run.wait(0.04)
    uid = run.pod("a").uid
    run.do(DeletePod("a", force=True))
    run.wait(5)

    assert not ran(run, uid)
    assert list(run.simulation.nodes[NODE].runtime.running()) == []


def test_a_pod_that_goes_in_its_back_off_is_not_synced_again() -> None:
    """S3.25: the next attempt would come 10 s after the first one."""
    run = started("checkpoint", fail_pre_start="not now", pre_start_required=True)
    run.begin(CreatePod("a"))
    run.wait(2)
    uid = run.pod("a").uid
    run.do(DeletePod("a", force=True))
    run.wait(3)
    asked = run.simulation.plugin("gpu").calls
    run.wait(30)

    assert run.simulation.plugin("gpu").calls == asked
    assert not ran(run, uid)


def test_a_waiting_pod_is_tried_once_a_second_however_often_others_wake_it() -> None:
    """The kubelet's work queue has one entry for each pod; health updates wake it too (S9.6)."""
    refused = Fault(FaultKind.ERROR, Op.BIND_DEVICES, nth=None, message="connection reset")
    run = started("bind-resource", refused)
    run.begin(CreatePod("a"))
    run.wait(3)
    for health in (UNHEALTHY, HEALTHY) * 5:
        run.do(ReportDevices("gpu", devices(4, health=health)))
        run.wait(0.15)
    run.wait(2)
    before = run.simulation.nodes[NODE].api_calls[BIND]
    run.wait(10)

    assert run.simulation.nodes[NODE].api_calls[BIND] - before <= 10


def test_a_pod_that_waits_for_its_echo_waits_for_the_watch_also_when_the_reply_was_lost() -> None:
    """P3w, W6: the binding is in the API, but the kubelet's own watch does not show it yet."""
    lost = Fault(FaultKind.ERROR, Op.BIND_DEVICES, when=When.AFTER, message="connection reset")
    spec = a_spec(pod("a"), persistence="bind-resource")
    run = Run(replace(spec, persistence_options=(("waitForEcho", True),)), faults=(lost,))
    run.do(StartPlugin("gpu"))
    run.wait(15)
    run.begin(CreatePod("a"))
    run.wait(0.014)
    run.do(ApiOutage(NODE, seconds(10)))
    uid = run.pod("a").uid
    run.wait(8)
    found = run.simulation.api.pod_named("a")
    assert found is not None
    assert found.pod.containers[0].compute_devices != ()
    assert not ran(run, uid)
    run.wait(10)

    assert ran(run, uid)
    assert run.simulation.nodes[NODE].api_calls[BIND] > 1
