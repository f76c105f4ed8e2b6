"""A bounded history that is dropped little by little and never gives up (R89, R90, R93)."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from itertools import count

import pytest
from sqlalchemy import NullPool, create_engine, func, select

from simulator.core.instants import HOUR, Instant
from simulator.core.pods import PodUid
from simulator.ports import Committed, Refused
from store import maintenance, node_entries, retention
from store.planning import plan
from store.retention import Retention
from store.sql_store import SqlStore
from store.stepping import STEP_CHANGES, STEP_CHANGES_MAX, STEP_CHANGES_MIN, STEP_S
from store.tables import metadata
from tests.store.world import (
    NODE,
    admits_one,
    booted,
    device,
    imported,
    rejected,
    released,
    reported,
)

MANY_CHANGES = """
    WITH RECURSIVE number(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM number WHERE n < {count})
    INSERT INTO change (revision, at, node_id, kind, pod_id, detail)
    SELECT n + 1, n, 1, 1, NULL, '' FROM number
"""
MANY_SEGMENTS = """
    INSERT INTO history_segment (first_revision, started_at, first_change)
    SELECT revision, at, revision FROM change WHERE revision % 10000 = 0
"""


@pytest.fixture
def store(database_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[SqlStore]:
    """Return a store with segments of ten changes that keeps thirty."""
    monkeypatch.setattr(plan, "SEGMENT_CHANGES_MAX", 10)
    opened = SqlStore(database_url, history_max=30)
    yield opened
    opened.close()


class Other:
    """Another connection to the database of a store, which can keep it from deleting."""

    def __init__(self, store: SqlStore) -> None:
        self._engine = create_engine(store.database.url, poolclass=NullPool)
        self._connection = self._engine.connect()
        self._is_sqlite = store.database.url.drivername.startswith("sqlite")
        # Nobody is to wait five seconds for what is meant to fail.
        store.writer.say(
            "PRAGMA busy_timeout = 1" if self._is_sqlite else "SET lock_timeout = '1ms'"
        )

    def block(self) -> None:
        """Take a lock that the writer needs."""
        if self._is_sqlite:
            driver = self._connection.connection.driver_connection
            assert isinstance(driver, sqlite3.Connection)
            driver.isolation_level = None
        statement = "BEGIN IMMEDIATE" if self._is_sqlite else "LOCK TABLE change IN EXCLUSIVE MODE"
        self._connection.exec_driver_sql(statement)

    def let_go(self) -> None:
        """Release it."""
        self._connection.rollback()

    def close(self) -> None:
        self._connection.close()
        self._engine.dispose()


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


def test_the_writers_memory_of_ended_pods_is_bounded_with_their_rows(store: SqlStore) -> None:
    _churn(store, 200)
    plan = store._plan  # noqa: SLF001 - nothing else shows what the writer remembers

    assert plan is not None
    assert len(plan.pods) == _rows(store, "pod") <= 21


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


def test_devices_that_vanished_and_boots_that_ended_are_bounded_too(store: SqlStore) -> None:
    """A driver update makes all ids anew; whoever reboots daily has a boot a day."""
    for number in range(50):
        store.apply([booted(f"b{number}"), reported(*[device(f"{number}-{n}") for n in range(8)])])
    store.apply([admits_one("old", "3-1")])
    _churn(store, 100)

    assert [each.device for each in store.devices()][:8] == [f"49-{n}" for n in range(8)]
    assert {each.device for each in store.devices() if not each.listed} == {
        "3-1",
        *(f"g{n}" for n in range(5)),
    }
    assert _rows(store, "boot") == 1
    assert store.nodes()[0].boot_id == "b49"
    assert store.holders()[0].boot_id == "b49"
    assert store.database.dangling(store.writer.connection) == []


def test_a_device_whose_row_was_dropped_may_come_back(store: SqlStore) -> None:
    store.apply([reported(device("again")), reported(device("other"))])
    _churn(store, 100)

    assert "again" not in {each.device for each in store.devices()}
    assert store.apply([admits_one("a", "again"), admits_one("b", "again")]) == [
        Committed(203),
        Refused("device again of example.com/gpu is held by pod uid-a"),
    ]
    assert store.database.dangling(store.writer.connection) == []


def test_by_default_half_a_million_changes_are_kept() -> None:
    assert retention.CHANGES_MAX == 500_000
    assert node_entries.SEGMENT_CHANGES_MAX == 65_536


def test_a_segment_ends_after_an_hour(database_url: str) -> None:
    with closing(SqlStore(database_url)) as store:
        for minutes in (0, 59, 60, 61, 119, 120, 30):
            at = Instant(minutes * HOUR // 60)
            store.apply([admits_one(f"p{minutes}", f"g{minutes}", at=at)])
        rows = store.writer.connection.exec_driver_sql("SELECT * FROM history_segment").all()

    assert rows == [(1, 0, 1), (3, HOUR, 3), (6, 2 * HOUR, 6)]


def test_segments_go_on_after_a_restart(database_url: str) -> None:
    for minutes in (0, 30, 59):
        with closing(SqlStore(database_url)) as store:
            store.apply([admits_one(f"p{minutes}", "g", at=minutes), released(f"p{minutes}")])

            assert _rows(store, "history_segment") == 1


@pytest.mark.parametrize(
    ("database_url", "count"),
    [("sqlite", 640_000), ("postgresql", 140_000)],
    indirect=["database_url"],
)
def test_r93_a_long_backlog_drains_in_short_steps(database_url: str, count: int) -> None:
    """R93: 640,000 changes (on PostgreSQL fewer, they take as long)."""
    with closing(SqlStore(database_url, history_max=10**9)) as store:
        store.apply([booted("b")])
        for statement in (MANY_CHANGES.format(count=count), MANY_SEGMENTS):
            store.writer.say(statement)
        work = Retention(store.writer, changes_max=100_000, clock=lambda: 0.0)
        most, before = 0, 0
        while work.step():
            most = max(most, work.effort.changes - before)
            before = work.effort.changes
        left = store.writer.connection.exec_driver_sql("SELECT min(revision) FROM change").scalar()

    assert most == STEP_CHANGES_MAX
    assert left == count - 100_000
    assert work.effort.changes == left - 1
    assert work.effort.failures == 0


def test_r93_a_slow_step_halves_the_next_one_and_a_quick_one_doubles_it(
    store: SqlStore,
) -> None:
    took = iter([0.0, 2 * STEP_S, 10.0, 10.0 + 0.8 * STEP_S, 20.0, 20.0 + STEP_S / 2])
    work = Retention(store.writer, changes_max=30, clock=lambda: next(took))
    sizes = [work.steps.size]
    for _ in range(3):
        work.step()
        sizes.append(work.steps.size)

    assert sizes == [STEP_CHANGES, STEP_CHANGES // 2, STEP_CHANGES // 2, STEP_CHANGES // 2]
    quick = Retention(store.writer, changes_max=30, clock=lambda: 0.0)
    for _ in range(9):
        quick.step()

    assert quick.steps.size == STEP_CHANGES_MAX


def test_a_writer_drops_without_counting_the_changes_that_it_made_itself(
    store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R93: of a segment of 65,536 that was most of a step, which then dropped next to nothing."""

    def counted(_: object) -> int:
        pytest.fail("a step has counted the changes of the newest segment")

    monkeypatch.setattr(retention, "newest_change", counted)
    for number in range(30):
        store.apply([admits_one(f"p{number}", "g"), released(f"p{number}")])

    assert store.retention.effort.changes == 20  # 60 came; the newest 30, and a segment more, stay.
    assert store.retention.effort.failures == 0


def test_a_segment_is_dropped_in_step_with_the_changes_of_half_a_segment(
    store: SqlStore,
) -> None:
    """Two for each new one: the history shrinks, and no write waits for more than a small step."""
    ticks = count()
    store.retention = Retention(
        store.writer, changes_max=30, clock=lambda: next(ticks) * 0.8 * STEP_S
    )
    store.retention.steps.size = 2
    dropped = []
    for number in range(30):
        for change in (admits_one(f"p{number}", "g"), released(f"p{number}")):
            before = store.retention.effort.changes
            store.apply([change])
            dropped.append(store.retention.effort.changes - before)

    # Changes 1 to 10, the first segment, are looked at after the 41st; the next ones ten later.
    assert dropped == [0] * 40 + [2] * 5 + [0] * 5 + [2] * 5 + [0] * 5


def test_the_bound_holds_however_slow_the_steps_are(store: SqlStore) -> None:
    """Batches bring more changes than a slow step would drop by itself."""
    ticks = count()
    store.retention = Retention(
        store.writer, changes_max=30, clock=lambda: next(ticks) * STEP_S * 2
    )
    for number in range(60):
        pods = [f"p{number}-{each}" for each in range(25)]
        store.apply([admits_one(pod, f"g-{pod}") for pod in pods] + [released(p) for p in pods])

    assert store.retention.steps.size == STEP_CHANGES_MIN
    assert len(store.history()) <= 30 + 10 + 2 * 50


def test_r89_a_step_that_found_the_database_busy_goes_on_where_it_was(store: SqlStore) -> None:
    store.retention = Retention(store.writer, changes_max=10**9)
    _churn(store, 100)
    work = Retention(store.writer, changes_max=30, clock=lambda: 0.0)
    work.steps.size = 40

    assert work.step()
    assert work.effort.changes == 40
    with closing(Other(store)) as other:
        other.block()

        assert work.step()
        assert (work.effort.steps, work.effort.failures, work.effort.changes) == (2, 1, 40)
        other.let_go()
    work.step()

    assert work.effort.changes == 80
    work.run()

    assert 30 <= len(store.history()) <= 40


def test_r90_three_failures_in_a_row_do_not_end_it(store: SqlStore) -> None:
    store.retention = Retention(store.writer, changes_max=10**9)
    _churn(store, 100)
    work = Retention(store.writer, changes_max=30, clock=lambda: 0.0)
    with closing(Other(store)) as other:
        other.block()
        for _ in range(3):
            work.step()
        other.let_go()
    work.step()

    assert (work.effort.steps, work.effort.failures) == (4, 3)
    assert work.effort.changes == 170
    assert work.steps.size >= STEP_CHANGES_MIN


def test_a_failing_step_does_not_fail_the_write_before_it(store: SqlStore) -> None:
    _churn(store, 20)
    blocked: list[bool] = []
    with closing(Other(store)) as other:

        def locked_meanwhile() -> float:
            if not blocked:
                blocked.append(True)
                other.block()
            return 0.0

        store.retention = Retention(store.writer, changes_max=1, clock=locked_meanwhile)

        assert store.apply([admits_one("a", "g0")]) == [Committed(41)]
    assert (store.retention.effort.steps, store.retention.effort.failures) == (1, 1)
    assert store.holders()[-1].pod.name == "a"


def test_compact_drops_what_is_beyond_the_newest_ones(database_url: str, store: SqlStore) -> None:
    store.retention = Retention(store.writer, changes_max=10**9)
    _churn(store, 100)
    store.close()

    assert maintenance.compact(database_url, keep=50) == 150
    assert maintenance.compact(database_url, keep=50) == 0
