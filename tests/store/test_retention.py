"""A bounded history that is dropped little by little and never gives up (R89, R90, R93)."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import func, select

from simulator.core.instants import HOUR, Instant
from simulator.core.pods import PodUid
from simulator.ports import Committed
from store import maintenance, node_entries, plan, retention
from store.retention import STEP_CHANGES, STEP_CHANGES_MAX, STEP_CHANGES_MIN, STEP_S, Retention
from store.sql_store import SqlStore
from store.tables import metadata
from tests.store.world import NODE, admits_one, booted, imported, rejected, released

MANY_CHANGES = """
    WITH RECURSIVE number(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM number WHERE n < 640000)
    INSERT INTO change (revision, at, node_id, kind, pod_id, detail)
    SELECT n + 1, n, 1, 1, NULL, '' FROM number
"""
MANY_SEGMENTS = """
    INSERT INTO history_segment (first_revision, started_at)
    SELECT revision, at FROM change WHERE revision % 10000 = 0
"""


def _url(folder: Path) -> str:
    return f"sqlite:///{folder}/rebind.db"


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SqlStore]:
    """Return a store with segments of ten changes that keeps thirty."""
    monkeypatch.setattr(plan, "SEGMENT_CHANGES_MAX", 10)
    opened = SqlStore(_url(tmp_path), history_max=30)
    yield opened
    opened.close()


def _churn(store: SqlStore, times: int, *, first: int = 0) -> None:
    """Admit and release: two changes each time."""
    for number in range(first, first + times):
        store.apply([admits_one(f"p{number}", f"g{number % 5}")])
        store.apply([released(f"p{number}")])


def _rows(store: SqlStore, table: str) -> int:
    count = select(func.count()).select_from(metadata.tables[table])
    return store.writer.connection.scalar(count) or 0


def test_the_history_is_bounded_without_anybody_asking(store: SqlStore) -> None:
    _churn(store, 200)
    kept = store.history()

    assert kept[-1].revision == 400
    assert 30 <= len(kept) <= 40
    assert [each.revision for each in kept] == list(range(kept[0].revision, 401))
    assert _rows(store, "pod") <= 21
    assert _rows(store, "device_holding") <= 21
    assert _rows(store, "device_binding") <= 21
    assert _rows(store, "container") <= 21
    assert _rows(store, "history_segment") <= 5


def test_what_is_held_now_is_kept_however_old(store: SqlStore) -> None:
    store.apply([imported(*[admits_one("old", "kept").bindings[0]])])
    _churn(store, 100)
    (holding,) = store.holders()

    assert (holding.pod.uid, holding.since_revision, holding.since) == ("uid-old", 1, 3)
    assert store.load(NODE).bindings[0].pod == "uid-old"
    assert store.imported_checkpoint(NODE) is not None
    assert store.history(pod=PodUid("uid-old")) == []


def test_a_pod_whose_rows_were_dropped_may_come_back(store: SqlStore) -> None:
    store.apply([rejected("again"), admits_one("again", "g9"), released("again")])
    _churn(store, 100)

    assert store.apply([admits_one("again", "g9")]) == [Committed(204)]
    assert store.apply([released("again"), rejected("again")]) == [Committed(205), Committed(206)]
    assert [each.kind for each in store.history(pod=PodUid("uid-again"))] == [
        "PodAdmitted",
        "PodsReleased",
        "PodRejected",
    ]


def test_nothing_is_dangling_afterwards(store: SqlStore) -> None:
    _churn(store, 60)
    store.apply([booted("b"), rejected("x"), released("x")])
    _churn(store, 60, first=60)

    assert store.database.dangling(store.writer.connection) == []
    assert store.database.damage(store.writer.connection) == []


def test_by_default_half_a_million_changes_are_kept() -> None:
    assert retention.CHANGES_MAX == 500_000
    assert node_entries.SEGMENT_CHANGES_MAX == 65_536


def test_a_segment_ends_after_an_hour(tmp_path: Path) -> None:
    with closing(SqlStore(_url(tmp_path))) as store:
        for minutes in (0, 59, 60, 61, 119, 120, 30):
            at = Instant(minutes * HOUR // 60)
            store.apply([admits_one(f"p{minutes}", f"g{minutes}", at=at)])
        rows = store.writer.connection.exec_driver_sql("SELECT * FROM history_segment").all()

    assert rows == [(1, 0), (3, HOUR), (6, 2 * HOUR)]


def test_segments_go_on_after_a_restart(tmp_path: Path) -> None:
    for minutes in (0, 30, 59):
        with closing(SqlStore(_url(tmp_path))) as store:
            store.apply([admits_one(f"p{minutes}", "g", at=minutes), released(f"p{minutes}")])

            assert _rows(store, "history_segment") == 1


def test_r93_a_backlog_of_640000_changes_drains_in_short_steps(tmp_path: Path) -> None:
    with closing(SqlStore(_url(tmp_path), history_max=10**9)) as store:
        store.apply([booted("b")])
        for statement in (MANY_CHANGES, MANY_SEGMENTS):
            store.writer.say(statement)
        work = Retention(store.writer, changes_max=100_000, clock=lambda: 0.0)
        most, before = 0, 0
        while work.step():
            most = max(most, work.effort.changes - before)
            before = work.effort.changes
        left = store.writer.connection.exec_driver_sql("SELECT min(revision) FROM change").scalar()

    assert most == STEP_CHANGES_MAX
    assert left == 540_000
    assert work.effort.changes == 540_000 - 1
    assert work.effort.failures == 0


def test_r93_a_slow_step_halves_the_next_one_and_a_quick_one_doubles_it(
    store: SqlStore,
) -> None:
    took = iter([0.0, 2 * STEP_S, 10.0, 10.0 + 0.8 * STEP_S, 20.0, 20.0 + STEP_S / 2])
    work = Retention(store.writer, changes_max=30, clock=lambda: next(took))
    sizes = [work.step_changes]
    for _ in range(3):
        work.step()
        sizes.append(work.step_changes)

    assert sizes == [STEP_CHANGES, STEP_CHANGES // 2, STEP_CHANGES // 2, STEP_CHANGES // 2]
    quick = Retention(store.writer, changes_max=30, clock=lambda: 0.0)
    for _ in range(9):
        quick.step()

    assert quick.step_changes == STEP_CHANGES_MAX


def test_r89_a_step_that_found_the_database_busy_goes_on_where_it_was(
    tmp_path: Path, store: SqlStore
) -> None:
    store.retention = Retention(store.writer, changes_max=10**9)
    _churn(store, 100)
    work = Retention(store.writer, changes_max=30, clock=lambda: 0.0)
    work.step_changes = 40

    assert work.step()
    assert work.effort.changes == 40
    store.writer.say("PRAGMA busy_timeout = 1")
    with closing(sqlite3.connect(tmp_path / "rebind.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")

        assert work.step()
        assert (work.effort.steps, work.effort.failures, work.effort.changes) == (2, 1, 40)
        other.execute("ROLLBACK")
    work.step()

    assert work.effort.changes == 80
    work.run()

    assert 30 <= len(store.history()) <= 40


def test_r90_three_failures_in_a_row_do_not_end_it(tmp_path: Path, store: SqlStore) -> None:
    store.retention = Retention(store.writer, changes_max=10**9)
    _churn(store, 100)
    work = Retention(store.writer, changes_max=30, clock=lambda: 0.0)
    store.writer.say("PRAGMA busy_timeout = 1")
    with closing(sqlite3.connect(tmp_path / "rebind.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        for _ in range(3):
            work.step()
        other.execute("ROLLBACK")
    work.step()

    assert (work.effort.steps, work.effort.failures) == (4, 3)
    assert work.effort.changes == 170
    assert work.step_changes >= STEP_CHANGES_MIN


def test_a_failing_step_does_not_fail_the_write_before_it(tmp_path: Path, store: SqlStore) -> None:
    _churn(store, 20)
    store.writer.say("PRAGMA busy_timeout = 1")
    with closing(sqlite3.connect(tmp_path / "rebind.db", isolation_level=None)) as other:

        def locked_meanwhile() -> float:
            if not other.in_transaction:
                other.execute("BEGIN IMMEDIATE")
            return 0.0

        store.retention = Retention(store.writer, changes_max=1, clock=locked_meanwhile)

        assert store.apply([admits_one("a", "g0")]) == [Committed(41)]
    assert (store.retention.effort.steps, store.retention.effort.failures) == (1, 1)
    assert store.holders()[-1].pod.name == "a"


def test_compact_drops_what_is_beyond_the_newest_ones(tmp_path: Path, store: SqlStore) -> None:
    store.retention = Retention(store.writer, changes_max=10**9)
    _churn(store, 100)
    store.close()

    assert maintenance.compact(_url(tmp_path), keep=50) == 150
    assert maintenance.compact(_url(tmp_path), keep=50) == 0
