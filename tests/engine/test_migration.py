"""A node's bindings move from the file to the database and back while pods come and go."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from simulator.config import CHECKPOINT_FILE_NAME
from simulator.core.migration.phases import Phase
from simulator.core.records import (
    AdmissionDecided,
    InvariantViolated,
    KubeletStartFailed,
    ManagerStarted,
    MigrationStep,
    ResourceExpired,
    StatesDiffer,
)
from simulator.core.transitions import NodeName, PodsReleased
from simulator.engine.actions import (
    Action,
    CheckpointFile,
    CrashKubelet,
    CreatePod,
    DatabaseFile,
    DeletePod,
    DiskFull,
    FileAction,
    Migrate,
    PowerCut,
    RebootNode,
    RecreateNode,
    ReportDevices,
    RestartKubelet,
    StartPlugin,
    StopPlugin,
    UpgradeKubelet,
    When,
)
from simulator.engine.faults import Fault, FaultKind, Op
from simulator.engine.spec import SimulationSpec
from simulator.engine.virtual.checkpoint_file import RETIRED_FILE
from simulator.engine.world import Watching
from simulator.ports import Store
from store.memory.store import MemoryStore
from tests.engine.runs import (
    GPU,
    NIC,
    NODE,
    Run,
    a_spec,
    container,
    devices,
    pod,
    seconds,
    with_plugin,
)
from tests.engine.test_cut_everywhere import added
from tests.engine.test_database import sqlite

THERE_AND_BACK: tuple[Action, ...] = (
    StartPlugin("gpu"),
    CreatePod("a"),
    Migrate(NODE, Phase.DUAL_WRITE),
    CreatePod("b"),
    DeletePod("a"),
    Migrate(NODE, Phase.DATABASE),
    CreatePod("c"),
    Migrate(NODE, Phase.CHECKPOINT),
    RebootNode(NODE),
)


def migrating_spec(
    persistence: str = "checkpoint", *, version: str = "1.36.2", **options: bool
) -> SimulationSpec:
    spec = a_spec(
        pod("a", container(count=2)),
        pod("b", container("app", 1), container("log", 1)),
        pod("c", container(count=2)),
        persistence=persistence,
        version=version,
    )
    pods = tuple(replace(each, termination_grace=seconds(1)) for each in spec.pods)
    given = tuple(sorted(options.items()))
    return with_plugin(
        replace(spec, pods=pods, migrates=True, persistence_options=given),
        devices=devices(8),
        reregister_after=seconds(0.01),
        starts_after_boot=seconds(0.01),
    )


def in_memory(node: NodeName) -> Store:
    del node
    return MemoryStore()


def started(spec: SimulationSpec) -> Run:
    return Run(spec, store_factory=sqlite)


def played(
    spec: SimulationSpec,
    *faults: Fault,
    store_factory: Callable[[NodeName], Store] = sqlite,
) -> Run:
    """Play all steps, ten seconds apart, whether or not they complete."""
    run = Run(spec, store_factory=store_factory, faults=faults, watching=Watching(effects=True))
    for step in THERE_AND_BACK:
        run.begin(step)
        run.wait(10)
    return run


def phases(run: Run) -> list[str]:
    return [step.phase for step in run.records(MigrationStep) if not step.error]


def held(run: Run) -> dict[str, tuple[str, ...]]:
    return {
        name: tuple(ids)
        for name in ("a", "b", "c")
        if (seen := run.simulation.pod(name)) is not None
        for _, ids in seen.device_ids
    }


def test_a_node_goes_there_and_back_under_churn_and_nothing_differs() -> None:
    run = played(migrating_spec())

    assert phases(run) == [
        "imported",
        "dualWrite",
        "databasePrimary",
        "database",
        "databasePrimary",
        "dualWrite",
        "imported",
        "checkpoint",
    ]
    assert [each.source for each in run.records(ManagerStarted)] == [
        "nothing",
        "checkpoint",
        "database",
        "checkpoint",
        "checkpoint",
    ]
    assert run.records(StatesDiffer) == []
    assert run.records(InvariantViolated) == []
    assert held(run) == {"b": ("g2", "g3"), "c": ("g0", "g1")}
    assert run.simulation.checkpoint(NODE).entries == 3


@pytest.mark.parametrize("version", ["1.24.0", "1.36.2"])
def test_the_file_is_set_aside_where_no_kubelet_empties_the_folder(version: str) -> None:
    """S1.9: up to 1.32 all files but the checkpoint are deleted at a start."""
    run = started(migrating_spec(version=version))
    run.do(StartPlugin("gpu"))
    run.do(CreatePod("a"))
    run.do(Migrate(NODE, Phase.DATABASE))
    run.do(RestartKubelet(NODE))

    assert run.simulation.files(NODE) == [RETIRED_FILE]
    assert not run.simulation.checkpoint(NODE).exists
    run.do(Migrate(NODE, Phase.DATABASE_PRIMARY))

    assert run.simulation.files(NODE) == [RETIRED_FILE, CHECKPOINT_FILE_NAME]
    assert run.simulation.checkpoint(NODE).entries == 1


def cuts(spec: SimulationSpec, kind: FaultKind) -> Iterator[tuple[str, Run]]:
    """Cut a run at each of its effects; then go on to where it was to end."""
    whole = played(spec, store_factory=in_memory)
    for effect in whole.simulation.effects:
        for when in When:
            fault = Fault(kind, number=effect.number, when=when, duration=seconds(2))
            run = played(spec, fault, store_factory=in_memory)
            run.do(Migrate(NODE, Phase.CHECKPOINT))
            yield f"{when.value} {effect.op.value} {effect.number}", run
            run.simulation.close()


@pytest.mark.parametrize("kind", [FaultKind.CRASH, FaultKind.POWER_CUT])
def test_a_migration_cut_anywhere_loses_no_binding_and_doubles_none(kind: FaultKind) -> None:
    """The directory is fsynced, for else a loss of power costs a plain checkpoint more (W10)."""
    wrong = []

    def ended() -> Iterator[tuple[str, Run]]:
        for place, run in cuts(migrating_spec(dirFsync=True), kind):
            ends = [run.pod(name).phase for name in ("a", "b", "c")]
            if kind is FaultKind.CRASH and ends != ["Deleted", "Running", "Running"]:
                wrong.append((place, ends))
            if run.simulation.phase(NODE) is not Phase.CHECKPOINT:
                wrong.append((place, phases(run)))
            yield place, run

    assert added(ended()) == {}
    assert wrong == []


@pytest.mark.parametrize("persistence", ["checkpoint", "dual-write"])
def test_a_loss_of_power_does_not_bring_an_older_file_back_while_both_are_written(
    persistence: str,
) -> None:
    """W10: on the file alone, whose directory is not fsynced, the second pod's binding is lost."""
    run = started(migrating_spec(persistence))
    run.do(StartPlugin("gpu"))
    run.do(CreatePod("a"))
    run.wait(60)
    if persistence == "checkpoint":
        run.do(CreatePod("b"))
        run.do(Migrate(NODE, Phase.DUAL_WRITE))
    else:
        run.do(CreatePod("b"))
    run.do(PowerCut(NODE, seconds(1)))

    assert run.records(StatesDiffer) == []
    assert run.records(ManagerStarted)[-1].bindings == 3
    assert not [one for one in run.records(InvariantViolated) if not one.by_kubelet]


@pytest.mark.parametrize("phase", [Phase.DUAL_WRITE, Phase.DATABASE_PRIMARY])
def test_a_file_that_is_damaged_while_both_are_written_costs_nothing(phase: Phase) -> None:
    """Of S4.12 only the record is left: the rows have every binding, and the file is mended."""
    run = started(migrating_spec("dual-write", databasePrimary=phase is Phase.DATABASE_PRIMARY))
    run.do(StartPlugin("gpu"))
    run.do(CreatePod("a"))
    run.begin(RestartKubelet(NODE, seconds(5)))
    run.do(CheckpointFile(NODE, FileAction.CORRUPT))
    run.wait(10)

    assert [each.detail for each in run.records(StatesDiffer)] == [
        "the checkpoint file cannot be read: checkpoint is corrupted"
    ]
    assert run.records(ManagerStarted)[-1].source == "database"
    assert run.simulation.checkpoint(NODE).valid
    run.do(CreatePod("b"))

    assert held(run) == {"a": ("g0", "g1"), "b": ("g2", "g3")}
    assert run.records(InvariantViolated) == []


def test_a_file_that_is_deleted_while_both_are_written_is_noticed_and_written_again() -> None:
    run = started(migrating_spec("dual-write"))
    run.do(StartPlugin("gpu"))
    run.do(CreatePod("a"))
    run.begin(RestartKubelet(NODE, seconds(5)))
    run.do(CheckpointFile(NODE, FileAction.DELETE))
    run.wait(10)

    assert [each.detail for each in run.records(StatesDiffer)] == ["the checkpoint file is missing"]
    assert held(run) == {"a": ("g0", "g1")}
    assert run.simulation.checkpoint(NODE).entries == 1


def test_without_its_database_a_node_that_is_migrated_does_not_start() -> None:
    """The phase is in the database: to guess it could bring back what has long changed."""
    run = started(migrating_spec("dual-write"))
    run.do(StartPlugin("gpu"))
    run.do(CreatePod("a"))
    run.do(DatabaseFile(NODE, FileAction.TRUNCATE))
    run.do(RestartKubelet(NODE))

    assert len(run.records(KubeletStartFailed)) == 1
    run.do(DatabaseFile(NODE, FileAction.REPLACE))
    run.do(RestartKubelet(NODE))

    assert held(run) == {"a": ("g0", "g1")}
    assert run.records(InvariantViolated) == []


def test_a_full_disk_refuses_pods_and_leaves_both_sides_alike() -> None:
    run = started(migrating_spec("dual-write"))
    run.do(StartPlugin("gpu"))
    run.do(CreatePod("a"))
    run.do(DiskFull(NODE, seconds(10)))
    run.do(CreatePod("b"))

    assert run.pod("b").phase == "Failed"
    run.wait(20)
    run.do(CreatePod("c"))
    run.do(RestartKubelet(NODE))

    assert held(run) == {"a": ("g0", "g1"), "c": ("g2", "g3")}
    assert run.records(InvariantViolated) == []


def test_a_migration_is_refused_before_the_first_step_when_the_file_is_damaged() -> None:
    run = started(migrating_spec())
    run.do(StartPlugin("gpu"))
    run.do(CreatePod("a"))
    run.do(CheckpointFile(NODE, FileAction.TRUNCATE))
    run.do(Migrate(NODE, Phase.DATABASE))
    (refused,) = run.records(MigrationStep)

    assert refused.phase == "imported"
    assert refused.error == (
        "kubelet 1.36.2 cannot read the checkpoint file: unexpected end of JSON input; put a sound "
        "file there, or name the version that wrote it"
    )
    assert phases(run) == []


def test_a_migration_killed_in_the_import_leaves_no_half_of_it() -> None:
    run = started(migrating_spec())
    run.do(StartPlugin("gpu"))
    run.do(CreatePod("a"))
    run.begin(Migrate(NODE, Phase.DATABASE))
    run.wait(0.0015)
    run.do(CrashKubelet(NODE))

    assert [step.error for step in run.records(MigrationStep)] == ["broken off"]
    run.do(Migrate(NODE, Phase.DATABASE))

    assert phases(run) == ["imported", "dualWrite", "databasePrimary", "database"]
    assert held(run) == {"a": ("g0", "g1")}


UPGRADES = ("1.20.0", "1.23.0", "1.30.0", "1.36.2")


@pytest.mark.parametrize("phase", [Phase.DUAL_WRITE, Phase.DATABASE_PRIMARY, Phase.DATABASE])
def test_upgrades_and_downgrades_on_the_way_cost_no_binding(phase: Phase) -> None:
    """S4.15: on the file alone 1.20.0 after 1.19, and 1.19 after 1.20.0, start with nothing."""
    run = started(migrating_spec(version="1.19.16"))
    run.do(StartPlugin("gpu"))
    run.do(CreatePod("a"))
    run.do(Migrate(NODE, phase))
    for version in (*UPGRADES, *UPGRADES[-2::-1], "1.19.16"):
        run.do(UpgradeKubelet(NODE, version, seconds(1)))
        run.wait(5)

        assert held(run) == {"a": ("g0", "g1")}, version
    run.do(CreatePod("b"))
    run.do(Migrate(NODE, Phase.CHECKPOINT))

    assert held(run) == {"a": ("g0", "g1"), "b": ("g2", "g3")}
    assert run.records(InvariantViolated) == []
    unreadable = run.records(StatesDiffer)
    formats_changed = 0 if phase is Phase.DATABASE else 2

    assert len(unreadable) == formats_changed
    assert all("cannot be read" in each.detail for each in unreadable)


def test_a_blank_machine_in_its_place_begins_anew() -> None:
    run = started(migrating_spec())
    run.do(StartPlugin("gpu"))
    run.do(CreatePod("a"))
    run.do(Migrate(NODE, Phase.DATABASE))
    run.do(RecreateNode(NODE))

    assert run.records(ManagerStarted)[-1].bindings == 0
    assert run.simulation.checkpoint(NODE).entries == 1
    assert run.simulation.phase(NODE) is Phase.CHECKPOINT


@pytest.mark.parametrize("persistence", ["pod-status", "bind-resource"])
def test_a_node_of_another_persistence_is_not_migrated(persistence: str) -> None:
    run = Run(a_spec(pod("a"), persistence=persistence))
    run.do(StartPlugin("gpu"))
    run.do(CreatePod("a"))

    run.do(Migrate(NODE, Phase.DATABASE))

    [step] = run.records(MigrationStep)
    assert step.error == f"a node with the persistence {persistence} cannot be migrated"
    assert run.pod("a").phase == "Running"


def test_a_migration_of_a_node_that_is_down_is_refused() -> None:
    run = started(migrating_spec())
    run.begin(RebootNode(NODE, seconds(30)))
    run.wait(1)
    run.begin(Migrate(NODE, Phase.DATABASE))

    assert [step.error for step in run.records(MigrationStep)] == ["the node is down"]


@pytest.mark.parametrize("persistence", ["database", "dual-write"])
def test_a_node_on_the_database_goes_back_to_a_file_of_its_own_version(persistence: str) -> None:
    run = started(migrating_spec(persistence, version="1.19.16"))
    run.do(StartPlugin("gpu"))
    run.do(CreatePod("a"))
    run.do(Migrate(NODE, Phase.CHECKPOINT))
    run.do(RestartKubelet(NODE))

    assert run.simulation.checkpoint(NODE).valid
    assert held(run) == {"a": ("g0", "g1")}
    assert phases(run)[-2:] == ["imported", "checkpoint"]
    assert run.records(ManagerStarted)[-1].source == "checkpoint"


def test_a_resource_that_is_gone_too_long_leaves_both_sides() -> None:
    """S2.10: after the grace period of five minutes."""
    run = started(migrating_spec("dual-write"))
    run.do(StartPlugin("gpu"))
    run.do(StopPlugin("gpu"))
    run.wait(310)

    assert len(run.records(ResourceExpired)) == 1
    assert run.records(StatesDiffer) == []


def test_two_plugins_that_report_at_once_are_compared_when_both_are_written() -> None:
    spec = migrating_spec("dual-write")
    nic = replace(spec.plugins[0], name="nic", resource=NIC, devices=devices(2, "n"))
    run = started(replace(spec, plugins=(*spec.plugins, nic)))
    run.begin(StartPlugin("gpu"))
    run.begin(StartPlugin("nic"))
    run.wait(1)
    run.begin(ReportDevices("gpu", devices(7)))
    run.wait(0.0025)
    run.do(ReportDevices("nic", devices(3, "n")))
    run.do(CreatePod("a"))

    assert held(run) == {"a": ("g0", "g1")}
    assert run.records(StatesDiffer) == []
    assert run.records(InvariantViolated) == []


def test_rows_that_somebody_else_ended_are_made_again_from_what_the_manager_holds() -> None:
    store = MemoryStore()
    run = Run(migrating_spec("dual-write"), store_factory=lambda _: store)
    run.do(StartPlugin("gpu"))
    run.do(CreatePod("a"))
    store.apply([PodsReleased(NODE, run.simulation.now, (run.pod("a").uid,))])
    run.do(ReportDevices("gpu", devices(7)))
    run.wait(1)
    (difference,) = run.records(StatesDiffer)

    assert difference.believed == "memory"
    assert difference.detail.startswith("1 binding only in the file (")
    assert [each.pod for each in store.load(NODE).bindings] == [run.pod("a").uid]


def test_a_database_that_fails_while_both_are_written_is_told_once() -> None:
    run = started(migrating_spec("dual-write"))
    run.do(StartPlugin("gpu"))
    run.do(CreatePod("a"))
    run.do(DatabaseFile(NODE, FileAction.TRUNCATE))
    run.do(ReportDevices("gpu", devices(7)))
    run.do(ReportDevices("gpu", devices(6)))
    run.wait(1)

    assert [each.detail for each in run.records(StatesDiffer)] == [
        "the database cannot be read: database disk image is malformed"
    ]
    run.do(CreatePod("b"))

    assert run.pod("b").phase == "Failed"
    run.do(DatabaseFile(NODE, FileAction.REPLACE))
    run.do(CreatePod("c"))

    assert held(run)["c"] == ("g2", "g3")
    assert run.records(InvariantViolated) == []


def test_a_database_that_is_damaged_refuses_a_migration() -> None:
    run = started(migrating_spec())
    run.do(DatabaseFile(NODE, FileAction.TRUNCATE))
    run.do(Migrate(NODE, Phase.DATABASE))

    assert [step.error for step in run.records(MigrationStep)] == [
        "the database cannot be read: database disk image is malformed"
    ]


def test_the_devices_of_a_resource_are_known_by_name() -> None:
    run = started(migrating_spec("dual-write"))
    run.do(StartPlugin("gpu"))
    run.do(CreatePod("a"))

    assert [(each.resource, each.device) for each in run.simulation.holdings(NODE)] == [
        (GPU, "g0"),
        (GPU, "g1"),
    ]


def test_devices_of_an_ended_pod_that_an_old_kubelet_admits_again_are_no_loss() -> None:
    """Rows end before the file is written, and the pod is released only then."""
    spec = migrating_spec("dual-write", version="1.24.0", databasePrimary=True)
    full = Fault(FaultKind.ERROR, Op.FSYNC, nth=2, message="input/output error")
    run = Run(spec, store_factory=sqlite, faults=(full,))
    for step in (StartPlugin("gpu"), CreatePod("a"), RestartKubelet(NODE), CreatePod("b")):
        run.begin(step)
        run.wait(10)

    assert [one.admitted for one in run.records(AdmissionDecided)] == [False, True, True]
    assert held(run) == {"b": ("g0", "g1")}
    assert run.records(InvariantViolated) == []
