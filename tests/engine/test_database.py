"""The persistence `database` in virtual time, on a real SQLite store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from typing_extensions import override

from simulator.core.instants import MILLISECOND, Duration
from simulator.core.records import (
    InvariantViolated,
    KubeletStarted,
    KubeletStartFailed,
    ManagerStarted,
    StateWritten,
)
from simulator.core.transitions import NodeName, NodeState, Transition
from simulator.engine.actions import (
    CrashKubelet,
    CreatePod,
    DatabaseFile,
    DeletePod,
    DiskFull,
    FileAction,
    Loss,
    PowerCut,
    RebootNode,
    RecreateNode,
    RestartKubelet,
    SlowDisk,
    StartPlugin,
    When,
)
from simulator.engine.faults import Fault, FaultKind, Op
from simulator.engine.spec import SimulationSpec
from simulator.engine.world import Watching
from simulator.errors import StoreUnavailableError
from simulator.ports import Durability, Outcome, Store
from store.sql_store import SqlStore
from tests.engine.runs import NODE, Run, a_spec, container, pod, seconds, with_plugin


def sqlite(node: NodeName) -> Store:
    del node
    return SqlStore("sqlite://", durability=Durability.OFF)


def database_spec(*names: str, durability: Durability = Durability.FULL) -> SimulationSpec:
    pods = [pod(name) for name in names or ("trainer",)]
    spec = a_spec(*pods, persistence="database")
    return with_plugin(
        replace(spec, durability=durability),
        reregister_after=seconds(0.01),
        starts_after_boot=seconds(0.01),
    )


def started(spec: SimulationSpec, *names: str, faults: tuple[Fault, ...] = ()) -> Run:
    run = Run(spec, store_factory=sqlite, faults=faults)
    run.do(StartPlugin("gpu"))
    for name in names:
        run.do(CreatePod(name))
    return run


def held(run: Run) -> list[str]:
    return [each.device for each in run.simulation.holdings(NODE)]


def test_an_admitted_pod_is_one_commit() -> None:
    run = started(database_spec(), "trainer")
    written = run.records(StateWritten)

    assert [(each.target, each.cause, each.size, each.error) for each in written] == [
        ("database", "devices", 1, ""),
        ("database", "admission", 1, ""),
    ]
    assert held(run) == ["g0"]
    assert not run.simulation.checkpoint(NODE).exists


@pytest.mark.parametrize("disturbance", [RestartKubelet(NODE), RebootNode(NODE)])
def test_bindings_survive_restart_and_reboot(disturbance: RestartKubelet | RebootNode) -> None:
    run = started(database_spec(), "trainer")
    run.do(disturbance)
    run.wait(1)
    last = run.records(ManagerStarted)[-1]

    assert (last.source, last.bindings) == ("database", 1)
    assert run.pod("trainer").phase == "Running"
    assert run.pod("trainer").device_ids == (("example.com/gpu", ("g0",)),)


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (FileAction.TRUNCATE, "database disk image is malformed"),
        (FileAction.CORRUPT, "file is not a database"),
        (FileAction.DELETE, "the database file is missing; restore it from a copy"),
    ],
)
def test_a_damaged_database_keeps_the_kubelet_from_starting(
    action: FileAction, message: str
) -> None:
    """Table 3.3 of the persistence designs: refused with a message, never silently empty."""
    run = started(database_spec(), "trainer")
    run.do(DatabaseFile(NODE, action))
    run.do(RestartKubelet(NODE))
    run.wait(60)

    assert run.records(KubeletStartFailed) == [KubeletStartFailed(message)]
    assert not run.simulation.node(NODE).up
    assert run.pod("trainer").phase == "Running"
    assert held(run) == []
    assert run.records(InvariantViolated) == []


def test_a_database_that_was_repaired_serves_again() -> None:
    run = started(database_spec(), "trainer")
    run.do(DatabaseFile(NODE, FileAction.CORRUPT))
    run.do(RestartKubelet(NODE))
    run.do(DatabaseFile(NODE, FileAction.REPLACE))
    run.do(RestartKubelet(NODE))
    run.wait(1)

    assert run.pod("trainer").phase == "Running"
    assert held(run) == ["g0"]


def test_a_full_disk_refuses_admission_and_leaves_nothing() -> None:
    run = started(database_spec())
    run.do(DiskFull(NODE, seconds(30)))
    run.do(CreatePod("trainer"))
    assert run.pod("trainer").message == (
        "Pod was rejected: Allocate failed due to failed to commit device bindings to the "
        "database: database or disk is full, which is unexpected"
    )
    assert run.pod("trainer").devices == ()
    run.wait(31)
    run.do(CreatePod("trainer"))

    assert run.pod("trainer").phase == "Running"
    assert run.records(InvariantViolated) == []


def test_commits_take_longer_on_a_slow_disk() -> None:
    quick = started(database_spec())
    began = quick.simulation.now
    plain = quick.do(CreatePod("trainer")) - began
    slow = started(database_spec())
    slow.do(SlowDisk(NODE, Duration(500 * MILLISECOND), seconds(10)))
    began = slow.simulation.now
    delayed = slow.do(CreatePod("trainer")) - began

    assert delayed - plain == 500 * MILLISECOND


@pytest.mark.parametrize("when", list(When))
def test_under_full_a_power_cut_at_a_commit_takes_nothing_acknowledged(when: When) -> None:
    run = started(database_spec("a", "b"), "a")
    run.begin(PowerCut(NODE, seconds(5), effect="commit", when=when))
    run.begin(CreatePod("b"))
    run.wait(20)

    assert run.records(InvariantViolated) == []
    assert [run.pod(name).phase for name in ("a", "b")] == ["Running", "Running"]
    assert held(run) == ["g0", "g1"]


def test_under_full_the_commit_in_flight_may_be_there_or_not() -> None:
    """Before the commit nothing is there; after it the device is held, though nobody was told."""
    found = {}
    for when in When:
        run = started(database_spec())
        run.begin(PowerCut(NODE, seconds(1000), effect="commit", when=when))
        run.begin(CreatePod("trainer"))
        run.wait(5)
        found[when] = held(run)

    assert found == {When.BEFORE: [], When.AFTER: ["g0"]}


@pytest.mark.parametrize(("waited", "kept"), [(1, []), (40, ["g0"])])
def test_under_normal_a_power_cut_takes_the_last_commits(waited: float, kept: list[str]) -> None:
    run = started(database_spec(durability=Durability.NORMAL), "trainer")
    run.wait(waited)
    run.begin(PowerCut(NODE, seconds(1000)))
    run.wait(1)

    assert held(run) == kept
    assert ("acknowledged" in [each.invariant for each in run.records(InvariantViolated)]) == (
        not kept
    )


def test_under_normal_luck_may_keep_everything() -> None:
    run = started(database_spec(durability=Durability.NORMAL), "trainer")
    run.do(PowerCut(NODE, loss=Loss.NONE))

    assert held(run) == ["g0"]


def test_under_normal_chance_keeps_a_prefix() -> None:
    kept = set()
    for seed in range(12):
        spec = replace(database_spec("a", "b", durability=Durability.NORMAL), seed=seed)
        run = started(spec, "a", "b")
        run.begin(PowerCut(NODE, seconds(1000), loss=Loss.RANDOM))
        run.wait(1)
        kept.add(tuple(held(run)))

    assert kept == {(), ("g0",), ("g0", "g1")}


def test_without_durability_a_power_cut_may_leave_a_database_that_cannot_be_opened() -> None:
    run = started(database_spec(durability=Durability.OFF), "trainer")
    run.do(PowerCut(NODE))

    assert run.records(KubeletStartFailed) == [
        KubeletStartFailed("database disk image is malformed")
    ]


def test_without_durability_luck_decides() -> None:
    outcomes = set()
    for seed in range(16):
        spec = replace(database_spec(durability=Durability.OFF), seed=seed)
        run = started(spec, "trainer")
        run.do(PowerCut(NODE, loss=Loss.RANDOM))
        outcomes.add((bool(run.records(KubeletStartFailed)), tuple(held(run))))

    assert {damaged for damaged, _ in outcomes} == {True, False}


def test_a_crash_between_commit_and_answer_keeps_the_binding_and_the_pod_gets_it() -> None:
    """W6: the write is applied, the reply lost; asked again, nothing is allocated twice."""
    fault = Fault(FaultKind.CRASH, Op.COMMIT, nth=3, when=When.AFTER, duration=seconds(1))
    run = started(database_spec(), faults=(fault,))
    run.do(CreatePod("trainer"))
    run.wait(1)

    assert len(run.records(KubeletStarted)) == 2
    assert held(run) == ["g0"]
    assert run.pod("trainer").phase == "Running"
    assert run.pod("trainer").plugin_calls == 1
    assert run.records(InvariantViolated) == []


def test_a_crash_before_the_commit_leaves_nothing_and_the_pod_is_admitted_anew() -> None:
    fault = Fault(FaultKind.CRASH, Op.COMMIT, nth=3, when=When.BEFORE, duration=seconds(1))
    run = started(database_spec(), faults=(fault,))
    run.do(CreatePod("trainer"))

    assert run.pod("trainer").phase == "Running"
    assert run.pod("trainer").plugin_calls == 2
    assert run.records(InvariantViolated) == []


def test_a_crash_while_the_commit_is_under_way_drops_it() -> None:
    run = started(database_spec())
    run.do(SlowDisk(NODE, seconds(5)))
    run.begin(CreatePod("trainer"))
    run.wait(1)
    run.begin(CrashKubelet(NODE, seconds(1000)))
    run.wait(10)

    assert held(run) == []


def test_a_failing_commit_is_reported_with_its_cause() -> None:
    fault = Fault(FaultKind.ERROR, Op.COMMIT, nth=3, message="disk I/O error")
    run = started(database_spec(), faults=(fault,))
    run.do(CreatePod("trainer"))

    assert "disk I/O error" in run.pod("trainer").message


@pytest.mark.parametrize("version", ["1.19.16", "1.24.0", "1.36.2"])
@pytest.mark.parametrize(
    "cause", ["attempt to write a readonly database", "connection refused", "database is locked"]
)
def test_commits_that_fail_refuse_new_devices_and_nothing_else(version: str, cause: str) -> None:
    """R50: nothing is committed for a pod without devices or with devices of its own."""
    pods = (pod("web", container("app", 0)), pod("trainer"), pod("third"))
    spec = with_plugin(
        a_spec(*pods, version=version, persistence="database"), reregister_after=seconds(0.01)
    )
    whole = Run(spec, store_factory=sqlite, watching=Watching(effects=True))
    for action in (StartPlugin("gpu"), CreatePod("web"), CreatePod("trainer")):
        whole.do(action)
    begun = sum(effect.op is Op.COMMIT for effect in whole.simulation.effects)
    faults = tuple(
        Fault(FaultKind.ERROR, Op.COMMIT, nth=number, message=cause)
        for number in range(begun + 1, begun + 10)
    )

    run = started(spec, "web", "trainer", faults=faults)
    run.do(RestartKubelet(NODE))
    run.do(CreatePod("third"))

    assert {each.error for each in run.records(StateWritten)} == {"", cause}
    assert (run.pod("web").phase, run.pod("trainer").phase) == ("Running", "Running")
    assert run.pod("trainer").unchanged
    assert run.pod("third").phase == "Failed"
    assert f"failed to commit device bindings to the database: {cause}" in run.pod("third").message


def test_a_recreated_node_has_an_empty_database_of_its_own() -> None:
    run = started(database_spec(), "trainer")
    run.do(RecreateNode(NODE))
    run.wait(1)

    assert run.records(ManagerStarted)[-1].bindings == 0
    assert run.pod("trainer").phase == "Running"
    assert run.pod("trainer").plugin_calls == 1
    assert run.records(InvariantViolated) == []


def test_a_release_is_committed_before_the_devices_are_given_again() -> None:
    spec = a_spec(
        pod("old", container(count=4)), pod("new", container(count=4)), persistence="database"
    )
    run = started(spec, "old")
    run.do(DeletePod("old"))
    run.do(CreatePod("new"))
    causes = [each.cause for each in run.records(StateWritten)]

    assert causes == ["devices", "admission", "release", "admission"]
    assert run.pod("new").phase == "Running"
    assert run.records(InvariantViolated) == []


def test_nodes_with_the_same_store_share_their_commits() -> None:
    """Commits that are due together are one batch."""
    second = NodeName("n1")
    spec = database_spec("a", "b", durability=Durability.NORMAL)
    plugins = (spec.plugins[0], replace(spec.plugins[0], name="gpu2", node=second))
    nodes = (spec.nodes[0], replace(spec.nodes[0], name=second))
    pods = (spec.pods[0], replace(spec.pods[1], node=second))
    shared = CountingStore()
    run = Run(
        replace(spec, nodes=nodes, plugins=plugins, pods=pods), store_factory=lambda _: shared
    )
    for name in ("gpu", "gpu2"):
        run.begin(StartPlugin(name))
    run.wait(1)
    before = shared.batches
    for name in ("a", "b"):
        run.begin(CreatePod(name))
    run.wait(1)

    assert [run.pod(name).phase for name in ("a", "b")] == ["Running", "Running"]
    assert shared.batches - before == 1
    assert len(run.simulation.holdings(second)) == 1

    run.do(RecreateNode(second))
    run.do(PowerCut(NODE))

    assert held(run) == ["g0"]
    assert len(run.simulation.holdings(second)) == 1


class CountingStore(SqlStore):
    """Counts its batches."""

    def __init__(self) -> None:
        super().__init__("sqlite://", durability=Durability.OFF)
        self.batches = 0

    @override
    def apply(self, transitions: Sequence[Transition]) -> list[Outcome]:
        self.batches += 1
        return super().apply(transitions)


def test_a_store_that_fails_at_load_keeps_the_kubelet_down() -> None:
    run = Run(database_spec(), store_factory=lambda _: FailingStore())
    run.wait(1)

    assert run.records(KubeletStartFailed) == [KubeletStartFailed("locked")]


class FailingStore(SqlStore):
    """Cannot be read."""

    def __init__(self) -> None:
        super().__init__("sqlite://", durability=Durability.OFF)

    @override
    def load(self, node: NodeName) -> NodeState:
        del node
        message = "locked"
        raise StoreUnavailableError(message)
