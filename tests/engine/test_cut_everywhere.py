"""A run is cut at each of its effects, before and after, by a crash and by a loss of power."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from simulator.core.records import InvariantViolated
from simulator.core.transitions import NodeName
from simulator.engine.actions import (
    Action,
    CreatePod,
    DeletePod,
    RebootNode,
    ReportDevices,
    RestartKubelet,
    StartPlugin,
)
from simulator.engine.cut_points import cut_points
from simulator.engine.faults import Fault, FaultKind
from simulator.engine.spec import SimulationSpec
from simulator.engine.world import Watching
from simulator.ports import Store
from tests.engine.runs import (
    NODE,
    Run,
    a_spec,
    container,
    devices,
    no_store,
    pod,
    seconds,
    with_plugin,
)
from tests.engine.test_database import sqlite

STEPS: tuple[Action, ...] = (
    StartPlugin("gpu"),
    CreatePod("a"),
    CreatePod("b"),
    RestartKubelet(NODE),
    DeletePod("a"),
    CreatePod("c"),
    ReportDevices("gpu", devices(9)),
    RebootNode(NODE),
)


def cut_spec(persistence: str, *, dir_fsync: bool = False) -> SimulationSpec:
    spec = a_spec(
        pod("a", container(count=2)),
        pod("b", container("app", 1), container("log", 1)),
        pod("c", container(count=2)),
        persistence=persistence,
    )
    pods = tuple(replace(each, termination_grace=seconds(1)) for each in spec.pods)
    options = (("dirFsync", True),) if dir_fsync else ()
    return with_plugin(
        replace(spec, pods=pods, persistence_options=options),
        devices=devices(8),
        reregister_after=seconds(0.01),
        starts_after_boot=seconds(0.01),
    )


def played(
    spec: SimulationSpec, factory: Callable[[NodeName], Store], faults: tuple[Fault, ...] = ()
) -> Run:
    """Play all steps, ten seconds apart, whether or not they complete."""
    run = Run(spec, store_factory=factory, faults=faults, watching=Watching(effects=True))
    for step in STEPS:
        run.begin(step)
        run.wait(10)
    return run


def cuts(
    spec: SimulationSpec, factory: Callable[[NodeName], Store], kind: FaultKind
) -> Iterator[tuple[str, Run]]:
    whole = played(spec, factory)
    assert whole.records(InvariantViolated) == []
    points, _ = cut_points(whole.simulation.effects, first=0)
    for point in points:
        if point.kind is kind:
            effect, when = point.effect, point.when
            run = played(spec, factory, (point.fault,))
            yield f"{when.value} {effect.op.value} {effect.number}", run
            run.simulation.close()
    whole.simulation.close()


def added(runs: Iterator[tuple[str, Run]]) -> dict[str, set[str]]:
    """Return the violations that the persistence adds, by place of the cut."""
    found = {}
    for place, run in runs:
        broken = {each.invariant for each in run.records(InvariantViolated) if not each.by_kubelet}
        if broken:
            found[place] = broken
    return found


@pytest.mark.parametrize(
    ("persistence", "factory"), [("checkpoint", no_store), ("database", sqlite)]
)
def test_a_crash_anywhere_breaks_nothing_and_every_pod_runs_in_the_end(
    persistence: str, factory: Callable[[NodeName], Store]
) -> None:
    ends = set()

    def crashed() -> Iterator[tuple[str, Run]]:
        for place, run in cuts(cut_spec(persistence), factory, FaultKind.CRASH):
            ends.add(tuple(run.pod(name).phase for name in ("a", "b", "c")))
            yield place, run

    assert added(crashed()) == {}
    assert ends == {("Deleted", "Running", "Running")}


def test_a_loss_of_power_anywhere_breaks_nothing_under_checkpoint_with_directory_fsync() -> None:
    spec = cut_spec("checkpoint", dir_fsync=True)

    assert added(cuts(spec, no_store, FaultKind.POWER_CUT)) == {}


def test_a_loss_of_power_under_checkpoint_loses_what_was_acknowledged_and_nothing_else() -> None:
    """W10."""
    found = added(cuts(cut_spec("checkpoint"), no_store, FaultKind.POWER_CUT))

    assert found != {}
    assert set.union(*found.values()) == {"acknowledged"}


def test_a_loss_of_power_anywhere_breaks_nothing_under_database() -> None:
    assert added(cuts(cut_spec("database"), sqlite, FaultKind.POWER_CUT)) == {}


def test_an_error_of_any_store_call_breaks_nothing_under_database() -> None:
    """The n-th failure, for every n: nothing acknowledged is lost, nothing refused is held."""
    runs = cuts(cut_spec("database"), sqlite, FaultKind.ERROR)

    assert added(runs) == {}


def test_an_error_under_checkpoint_loses_a_file_or_leaves_memory_ahead_of_it() -> None:
    """S4.12: from a file that cannot be read the kubelet starts empty, and writes that over it.

    S3.15: a write that fails refuses a pod, and memory keeps what the pod was to have.
    """
    runs = cuts(cut_spec("checkpoint"), no_store, FaultKind.ERROR)
    found = added(runs)

    by_effect: dict[str, set[str]] = {}
    for place, broken in found.items():
        by_effect.setdefault(place.split()[1], set()).update(broken)
    assert by_effect == {
        "read": {"I3", "acknowledged"},
        "write": {"failed write"},
        "fsync": {"failed write"},
        "rename": {"failed write"},
    }
