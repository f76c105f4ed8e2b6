"""What survives what: persistence-designs 3.3, confirmed by experiment.

K: the pod keeps its devices. R: it gets others. F: it fails. D: a device that a container uses is
given to another pod. The facts are typed from the table; where the simulation shows something else
the reason stands beside it. A filler has had the first device, so that a choice anew is seen.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from simulator.core.behavior import Readmission
from simulator.core.persistence.choosing import OptionValue
from simulator.core.persistence.spec_devices import bindings_in_spec
from simulator.core.pods import Container, ContainerName
from simulator.core.records import ContainerChanged, DevicesBound, InvariantViolated
from simulator.engine.actions import (
    Action,
    ApiOutage,
    CheckpointFile,
    CreatePod,
    DeletePod,
    FileAction,
    RebootNode,
    RecreateNode,
    RestartKubelet,
    StartPlugin,
)
from simulator.engine.spec import SimulationSpec
from store.memory.store import MemoryStore
from tests.engine.runs import (
    GPU,
    NIC,
    NODE,
    Run,
    a_spec,
    devices,
    pod,
    seconds,
    with_plugin,
)

Options = tuple[tuple[str, OptionValue], ...]
PERSISTENCES = ("checkpoint", "checkpoint+api", "bind-resource", "pod-status", "binding-object")
"""P1, P2, P3, P4 with P1, and P5 without a file."""

SECONDS = seconds(2)
DAMAGE = CheckpointFile(NODE, FileAction.TRUNCATE)


def spec_of(persistence: str) -> SimulationSpec:
    names = ("filler", "trainer", "next", "more")
    spec = a_spec(*(pod(name) for name in names), persistence=persistence)
    return with_plugin(spec, starts_after_boot=seconds(0.05), reregister_after=seconds(0.02))


def outcome(spec: SimulationSpec, *events: Action) -> str:
    """Return what becomes of a pod that runs when these things happen."""
    run = Run(spec, store_factory=lambda _: MemoryStore())
    run.do(StartPlugin("gpu"))
    run.wait(15)
    for name in ("filler", "trainer"):
        run.do(CreatePod(name))
    run.wait(5)
    run.do(DeletePod("filler", force=True))
    run.wait(5)
    begun = run.simulation.now
    for event in events:
        run.do(event)
    run.wait(10)
    for name in ("next", "more"):
        run.do(CreatePod(name))
    run.wait(20)
    if any(each.invariant == "I1" for each in run.records(InvariantViolated, begun)):
        return "D"
    found = run.pod("trainer")
    if found.phase == "Failed":
        return "F"
    given = dict(found.device_ids).get(GPU, ())
    return "K" if given == ("g1",) else "R"


def with_other_ids(spec: SimulationSpec) -> SimulationSpec:
    return with_plugin(spec, devices_after_reboot=devices(4, "x"))


def reassigning(spec: SimulationSpec) -> SimulationSpec:
    return replace(with_other_ids(spec), readmission=Readmission.REASSIGN)


def late(spec: SimulationSpec) -> SimulationSpec:
    return with_plugin(spec, reregister_after=seconds(5))


def with_a_static_trainer(spec: SimulationSpec) -> SimulationSpec:
    pods = tuple(replace(each, static=each.name == "trainer") for each in spec.pods)
    return replace(spec, pods=pods)


def as_it_is(spec: SimulationSpec) -> SimulationSpec:
    return spec


Changed = Callable[[SimulationSpec], SimulationSpec]
ROWS: dict[str, tuple[Changed, tuple[Action, ...], str]] = {
    "kubelet restart": (as_it_is, (RestartKubelet(NODE, SECONDS),), "K K K K K"),
    "kubelet restart during an outage": (
        as_it_is,
        (ApiOutage(NODE, seconds(20)), RestartKubelet(NODE, SECONDS)),
        "K K K K K",
    ),
    # The mirror pod of a static one cannot carry the binding, so P3 and P5 have no record of it:
    # while it runs on its device seems free. A new choice would hurt nobody; this does.
    "kubelet restart, static pod": (
        with_a_static_trainer,
        (RestartKubelet(NODE, SECONDS),),
        "K K D K D",
    ),
    # The plugin is first; later than the pods it makes them fail, whatever keeps the records (F).
    "reboot, same devices": (as_it_is, (RebootNode(NODE, SECONDS),), "K K K K K"),
    # The table has D, where ids stay and the hardware behind them changes, which no kubelet sees.
    # Other ids are seen by 1.36 (step E), and nobody may choose again.
    "reboot, other ids": (with_other_ids, (RebootNode(NODE, SECONDS),), "F F F F F"),
    # Where it may, only a spec forbids it: F for ever.
    "reboot, other ids, choosing again": (reassigning, (RebootNode(NODE, SECONDS),), "R R F R R"),
    "node replaced, ids by position": (as_it_is, (RecreateNode(NODE, SECONDS),), "R K K R K"),
    "node replaced, ids of the hardware": (
        with_other_ids,
        (RecreateNode(NODE, SECONDS),),
        "R F F R F",
    ),
    "node replaced, ids of the hardware, choosing again": (
        reassigning,
        (RecreateNode(NODE, SECONDS),),
        "R R F R R",
    ),
    "file damaged, plugin late": (late, (DAMAGE, RestartKubelet(NODE, SECONDS)), "D K K D K"),
}


@pytest.mark.parametrize("event", ROWS)
def test_what_survives(event: str) -> None:
    changed, events, expected = ROWS[event]

    found = {each: outcome(changed(spec_of(each)), *events) for each in PERSISTENCES}

    assert found == dict(zip(PERSISTENCES, expected.split(), strict=True))


def started_during(persistence: str, options: Options = ()) -> bool:
    """Tell whether a pod starts that has arrived just before the API server goes away."""
    spec = with_plugin(spec_of(persistence), latency=replace_latency(spec_of(persistence)))
    run = Run(replace(spec, persistence_options=options), store_factory=lambda _: MemoryStore())
    run.do(StartPlugin("gpu"))
    run.wait(15)
    run.begin(CreatePod("trainer"))
    run.wait(0.5)
    run.do(ApiOutage(NODE, seconds(30)))
    begun = run.simulation.now
    run.wait(20)
    started = bool(run.records(ContainerChanged, begun))
    run.wait(30)
    assert run.pod("trainer").phase == "Running"
    return started


def replace_latency(spec: SimulationSpec) -> object:
    return replace(spec.plugins[0].latency, allocate=seconds(2))


def test_an_outage_blocks_what_is_bound_before_the_start() -> None:
    """Second row; P5s is blocked, P5a starts."""
    assert {each: started_during(each) for each in PERSISTENCES} == {
        "checkpoint": True,
        "checkpoint+api": True,
        "bind-resource": False,
        "pod-status": True,
        "binding-object": False,
    }
    assert started_during("binding-object", (("synchronous", False),))


WRITING = pytest.mark.parametrize(
    ("persistence", "options"),
    [
        ("checkpoint+api", ()),
        ("checkpoint+api", (("bulkBind", True), ("flushPeriod", seconds(0)))),
        ("bind-resource", ()),
        ("binding-object", ()),
        ("binding-object", (("synchronous", False),)),
    ],
)


@WRITING
def test_a_pod_that_the_node_has_no_room_for_is_never_written(
    persistence: str, options: Options
) -> None:
    """S5.8, I4: the device manager admits it, the accounting of the predicates refuses it."""
    both = Container(ContainerName("main"), ((GPU, 1), (NIC, 1)))
    spec = replace(spec_of(persistence), pods=(pod("next", both),), persistence_options=options)
    run = Run(spec)
    run.do(StartPlugin("gpu"))
    run.wait(15)
    # A resource that the Node object has, and of which nothing is left, but no plugin any more.
    run.simulation.api.node(NODE).allocatable[NIC] = 0
    run.begin(CreatePod("next"))
    run.wait(5)

    refused = run.pod("next")
    assert (refused.phase, refused.reason) == ("Failed", "OutOfexample.com/nic")
    assert refused.devices == ((GPU, 1),)
    assert not [each for each in run.records(DevicesBound) if each.pod == refused.uid]
    assert refused.uid not in {each.pod.uid for each in run.simulation.api.devices.objects()}
    found = run.simulation.api.pod_named("next")
    assert found is not None
    assert list(bindings_in_spec(found.pod)) == []


@WRITING
def test_a_pod_that_is_deleted_while_its_write_waits_leaves_nothing(
    persistence: str, options: Options
) -> None:
    """Last row: dropped by the check of the UID, refused, or an orphan that goes in the end."""
    run = Run(replace(spec_of(persistence), persistence_options=options))
    run.do(StartPlugin("gpu"))
    run.wait(15)
    run.begin(CreatePod("trainer"))
    run.wait(0.006)
    run.do(DeletePod("trainer", force=True))
    run.wait(5)
    run.do(CreatePod("next"))
    run.wait(20)

    next_uid = run.pod("next").uid
    assert run.pod("next").phase == "Running"
    assert {each.pod.uid for each in run.simulation.api.devices.objects()} <= {next_uid}
    held = [each for each in run.records(DevicesBound) if each.held and each.pod == next_uid]
    assert len(held) == 1
