"""A checker that finds nothing proves nothing: each invariant is broken on purpose once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from typing_extensions import override

from simulator.core.behavior import CheckpointFormat, Reservations
from simulator.core.checkpoint.bindings import checkpoint_of
from simulator.core.checkpoint.render import render
from simulator.core.devices import DeviceId, NumaNode
from simulator.core.pods import ContainerName, PodUid
from simulator.core.records import InvariantViolated
from simulator.core.transitions import DeviceBinding, PodAdmitted, PodsReleased, Transition
from simulator.engine.actions import (
    CheckpointFile,
    CrashKubelet,
    CreatePod,
    DeletePod,
    FileAction,
    RestartKubelet,
    StartPlugin,
    When,
)
from simulator.engine.world import Watching
from simulator.ports import Committed, Durability, Outcome
from store.sql_store import SqlStore
from tests.engine.runs import GPU, NODE, Run, a_spec, container, pod, seconds, with_plugin

SOON = {"reregister_after": seconds(0.01)}


class LyingStore(SqlStore):
    """Acknowledges some kind of transition without doing it."""

    def __init__(self, forgotten: type[Transition]) -> None:
        super().__init__("sqlite://", durability=Durability.OFF)
        self._forgotten = forgotten

    @override
    def apply(self, transitions: Sequence[Transition]) -> list[Outcome]:
        kept = [each for each in transitions if not isinstance(each, self._forgotten)]
        outcomes = iter(super().apply(kept))
        return [
            Committed(0) if isinstance(each, self._forgotten) else next(outcomes)
            for each in transitions
        ]


def broken(run: Run) -> set[tuple[str, bool]]:
    return {(each.invariant, each.by_kubelet) for each in run.records(InvariantViolated)}


def started(run: Run, *names: str) -> Run:
    run.do(StartPlugin("gpu"))
    for name in names:
        run.do(CreatePod(name))
    return run


def test_a_store_that_forgets_admissions_is_caught() -> None:
    """Announce before commit: the deliberately broken variant."""
    spec = a_spec(pod("trainer"), persistence="database")
    run = started(Run(spec, store_factory=lambda _: LyingStore(PodAdmitted)), "trainer")

    assert broken(run) == {("held equals rows", False), ("acknowledged", False), ("I3", False)}


def test_a_store_that_forgets_releases_is_caught() -> None:
    pods = (pod("old", container(count=1)), pod("new", container(count=1)))
    spec = a_spec(*pods, persistence="database")
    run = started(Run(spec, store_factory=lambda _: LyingStore(PodsReleased)), "old")
    run.do(DeletePod("old"))
    run.do(CreatePod("new"))

    assert "held equals rows" in {name for name, _ in broken(run)}


def test_two_live_containers_with_one_device_after_a_lost_checkpoint_are_caught() -> None:
    """Table 5.3: the new allocation may take ids used by running containers (I1)."""
    run = started(Run(with_plugin(a_spec(pod("a"), pod("b")), **SOON)), "a")
    run.wait(11)
    run.do(CheckpointFile(NODE, FileAction.DELETE))
    run.do(RestartKubelet(NODE))
    run.do(CreatePod("b"))

    assert run.pod("b").phase == "Running"
    assert broken(run) == {("I1", False), ("I3", False), ("acknowledged", False)}


def test_a_record_that_no_longer_says_what_a_container_runs_with_is_caught() -> None:
    """I2."""
    run = started(Run(with_plugin(a_spec(pod("trainer")), **SOON)), "trainer")
    other = DeviceBinding(
        PodUid(run.pod("trainer").uid),
        ContainerName("app"),
        GPU,
        {NumaNode(-1): (DeviceId("g3"),)},
        b"",
    )
    content = render(checkpoint_of([other], [(GPU, [DeviceId("g3")])], CheckpointFormat.V2))
    run.do(CheckpointFile(NODE, FileAction.REPLACE, content))
    run.do(RestartKubelet(NODE))

    assert ("I2", False) in broken(run)


def test_a_violation_is_reported_once_while_it_lasts() -> None:
    run = started(Run(with_plugin(a_spec(pod("trainer")), **SOON)), "trainer")
    run.do(CheckpointFile(NODE, FileAction.CORRUPT))
    run.do(RestartKubelet(NODE))
    run.wait(60)
    found = [each.invariant for each in run.records(InvariantViolated)]

    assert sorted(found) == ["I3", "acknowledged"]


def test_the_invariants_can_be_left_out() -> None:
    run = Run(with_plugin(a_spec(pod("trainer")), **SOON), watching=Watching(invariants=False))
    started(run, "trainer")
    run.do(CheckpointFile(NODE, FileAction.CORRUPT))
    run.do(RestartKubelet(NODE))

    assert run.records(InvariantViolated) == []


def test_the_invariants_can_be_sampled() -> None:
    sampled = Watching(invariant_period=seconds(60))
    run = Run(with_plugin(a_spec(pod("trainer")), **SOON), watching=sampled)
    started(run, "trainer")
    run.do(CheckpointFile(NODE, FileAction.CORRUPT))
    run.do(RestartKubelet(NODE))
    run.wait(30)
    assert run.records(InvariantViolated) == []
    run.wait(40)

    assert {each.invariant for each in run.records(InvariantViolated)} == {"I3", "acknowledged"}


def test_a_refused_admission_holds_nothing_under_transactional_reservations() -> None:
    """S3.16 leaves the first resource's record in memory; transactional leaves nothing."""
    held = {}
    for reservations in Reservations:
        pods = pod("pair", container("first", 3), container("second", 3))
        run = started(Run(replace(a_spec(pods), reservations=reservations)), "pair")
        assert run.pod("pair").phase == "Failed"
        held[reservations] = run.pod("pair").devices

    assert held == {
        Reservations.UPSTREAM: (("example.com/gpu", 3),),
        Reservations.TRANSACTIONAL: (),
    }


def test_a_crash_after_a_forced_deletion_is_not_the_fault_of_the_records() -> None:
    """S6.5: the pod is gone from the API, its devices are freed, its container still runs."""
    run = Run(a_spec(pod("a", container(count=4)), pod("b", container(count=4))))
    run.do(StartPlugin("gpu"))
    run.do(CreatePod("a"))
    run.begin(CrashKubelet(NODE, seconds(2), "rename", When.AFTER))
    run.do(DeletePod("a", force=True))
    run.wait(0.05)
    run.begin(CreatePod("b"))
    run.wait(10)

    found = broken(run)
    assert found != set()
    assert {by_kubelet for _, by_kubelet in found} == {True}
