"""A call that fails is a refusal in words; what was reached before stays, and the way goes on."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from typing_extensions import override

from simulator.cli.commands.migrate.stopped_node import NodeFiles, StoppedNode
from simulator.cli.commands.migrate.texts import contradiction
from simulator.core.calls import (
    SetCheckpointAside,
    StoreCall,
    Stored,
    StoreFailed,
    StoreReply,
    WriteCheckpoint,
)
from simulator.core.migration.phases import Phase, route
from simulator.core.migration.steps import migrate
from simulator.core.migration.survey import Migration, MigrationRefused, Survey, survey
from simulator.core.pods import PodUid
from simulator.core.records import MigrationStep
from simulator.core.transitions import PodsReleased
from simulator.ports import Durability, Store
from store.sql_store import SqlStore
from tests.migration.stopped import NODE, Bench, believed, checkpoint_file, held, of_file
from tests.store.world import admits_one

WAYS = ((Phase.CHECKPOINT, Phase.DATABASE), (Phase.DATABASE, Phase.CHECKPOINT))


class RefusingNode(StoppedNode):
    """Answers the call of one number with a failure."""

    def __init__(self, store: Store, files: NodeFiles, fail_at: int = 0) -> None:
        super().__init__(NODE, store, files)
        self.calls = 0
        self._fail_at = fail_at

    @override
    def answer(self, call: StoreCall) -> StoreReply:
        self.calls += 1
        return StoreFailed("broken") if self.calls == self._fail_at else super().answer(call)


class ForgetfulNode(StoppedNode):
    """Takes a file for written that it does not write."""

    @override
    def answer(self, call: StoreCall) -> StoreReply:
        return Stored() if isinstance(call, WriteCheckpoint) else super().answer(call)


class UnmovableNode(StoppedNode):
    """Has a file that cannot be renamed."""

    @override
    def answer(self, call: StoreCall) -> StoreReply:
        return (
            StoreFailed("EPERM") if isinstance(call, SetCheckpointAside) else super().answer(call)
        )


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path, "sqlite://", checkpoint_file(2))


def _went(bench: Bench, node: StoppedNode, to: Phase) -> tuple[Migration, Survey]:
    job = bench.job()
    found = node.run(migrate(job, to))

    assert isinstance(found, Survey), found
    return job, found


@pytest.mark.parametrize(("start", "end"), WAYS)
def test_any_call_that_fails_is_told_and_costs_nothing(
    bench: Bench, store: Store, start: Phase, end: Phase
) -> None:
    """A file that cannot be read is no reason to stop while both are written: the rows count."""
    _fail_at_every_call(bench, store, start, end)


def test_any_call_that_fails_on_the_way_back_from_postgresql_costs_nothing(
    bench: Bench, postgres_url: str
) -> None:
    """One way of the many that `store` takes where there is time."""
    with closing(SqlStore(postgres_url, durability=Durability.OFF)) as store:
        _fail_at_every_call(bench, store, Phase.DATABASE, Phase.CHECKPOINT)


def _fail_at_every_call(bench: Bench, store: Store, start: Phase, end: Phase) -> None:
    sound = StoppedNode(NODE, store, bench.files)
    fail_at, refusals = 0, 0
    while True:
        fail_at += 1
        _went(bench, sound, start)
        failing = RefusingNode(store, bench.files, fail_at)
        job = bench.job()
        outcome = failing.run(migrate(job, end))
        if failing.calls < fail_at:
            break
        if isinstance(outcome, MigrationRefused):
            refusals += 1
            told = [one for one in job.records if isinstance(one, MigrationStep) and one.error]

            assert "broken" in outcome.reason
            assert [one.error for one in told] == [outcome.reason]
        _, found = _went(bench, sound, end)

        assert believed(found) == of_file(2)
        assert contradiction(found) == ""
    _went(bench, sound, Phase.CHECKPOINT)

    assert refusals > len(route(start, end))
    assert held(_looked(bench, sound).file.bindings) == of_file(2)


@pytest.mark.parametrize("phase", [Phase.DUAL_WRITE, Phase.DATABASE_PRIMARY])
def test_any_call_that_fails_while_a_difference_is_mended_costs_nothing(
    bench: Bench, store: Store, phase: Phase
) -> None:
    sound = StoppedNode(NODE, store, bench.files)
    fail_at = 0
    while True:
        fail_at += 1
        _went(bench, sound, phase)
        store.apply([PodsReleased(NODE, bench.job().now, (PodUid("uid-0"),))])
        failing = RefusingNode(store, bench.files, fail_at)
        failing.run(migrate(bench.job(), phase))
        _, found = _went(bench, sound, phase)

        assert contradiction(found) == ""
        assert believed(found) == held(found.rows.bindings) == held(found.file.bindings)
        if failing.calls < fail_at:
            break
        _went(bench, sound, Phase.CHECKPOINT)
        bench.files.path.write_bytes(bench.content)


def test_a_difference_that_stays_is_refused(bench: Bench, store: Store) -> None:
    sound = StoppedNode(NODE, store, bench.files)
    _went(bench, sound, Phase.DATABASE_PRIMARY)
    bench.files.path.unlink()
    outcome = ForgetfulNode(NODE, store, bench.files).run(migrate(bench.job(), Phase.DATABASE))

    assert isinstance(outcome, MigrationRefused)
    assert outcome.reason == "file and rows still differ: the checkpoint file is missing"
    assert store.load(NODE).phase is Phase.DATABASE_PRIMARY


def test_rows_do_not_end_while_the_file_that_counts_is_damaged(bench: Bench, store: Store) -> None:
    node = StoppedNode(NODE, store, bench.files)
    _went(bench, node, Phase.IMPORTED)
    bench.files.path.write_bytes(b"{")
    outcome = node.run(migrate(bench.job(), Phase.CHECKPOINT))

    assert isinstance(outcome, MigrationRefused)
    assert outcome.damaged
    assert len(store.load(NODE).bindings) == 2
    assert "cannot be read" in contradiction(_looked(bench, node))
    bench.files.path.unlink()

    assert "is missing" in contradiction(_looked(bench, node))


def _looked(bench: Bench, node: StoppedNode) -> Survey:
    found = node.run(survey(bench.job()))

    assert isinstance(found, Survey)
    return found


def test_a_node_that_was_always_on_the_database_can_go_back(bench: Bench, store: Store) -> None:
    """No phase is recorded: rows, and no file, are the database's."""
    bench.files.path.unlink()
    store.apply([admits_one("a", "g0", node=NODE)])
    node = StoppedNode(NODE, store, bench.files)
    job, found = _went(bench, node, Phase.CHECKPOINT)

    assert [one.phase for one in job.records if isinstance(one, MigrationStep)] == [
        "databasePrimary",
        "dualWrite",
        "imported",
        "checkpoint",
    ]
    assert held(found.file.bindings) == {("uid-a", "main", "example.com/gpu"): ("g0",)}
    assert store.load(NODE).bindings == ()


def test_a_stray_file_that_cannot_be_set_aside_is_told_and_stays(
    bench: Bench, store: Store
) -> None:
    """In phase `database` nobody writes a file; one that came later is moved out of the way."""
    sound = StoppedNode(NODE, store, bench.files)
    _went(bench, sound, Phase.DATABASE)
    stray = checkpoint_file(1)
    bench.files.path.write_bytes(stray)

    job = bench.job()
    outcome = UnmovableNode(NODE, store, bench.files).run(migrate(job, Phase.DATABASE))

    assert outcome == MigrationRefused("the file cannot be set aside: EPERM", unusable=True)
    assert [record.error for record in job.records if isinstance(record, MigrationStep)] == [
        "the file cannot be set aside: EPERM"
    ]
    assert bench.files.path.read_bytes() == stray
    _, found = _went(bench, sound, Phase.DATABASE)
    assert believed(found) == of_file(2)
    assert not bench.files.path.exists()
