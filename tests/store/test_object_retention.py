"""A bounded log of changes: what is forgotten is said to be, and what lasts is kept (R89, R93)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from itertools import count
from pathlib import Path

import pytest
from sqlalchemy import func, select

from simulator.object_ports import (
    ChangeType,
    Expired,
    ObjectChange,
    ObjectChanges,
    ObjectPage,
    ObjectStore,
    Position,
    StoredObject,
)
from store import maintenance, object_decisions
from store.memory.objects import MemoryObjectStore
from store.object_retention import ObjectRetention
from store.sql_store import SqlStore
from store.stepping import STEP_S
from store.tables import metadata
from tests.store.objects import PODS, change_of, changed, deleted, key, made, names_in, seen_since
from tests.store.world import NODE, admits_one, released

KEPT = 32
"""Revisions; with an eighth more there may be 36."""


def _bounded(url: str) -> SqlStore:
    store = SqlStore(url)
    work = ObjectRetention(store.writer, revisions_max=KEPT, clock=lambda: 0.0)
    store.object_retention = work
    return store


@pytest.fixture
def sql(database_url: str) -> Iterator[SqlStore]:
    with closing(_bounded(database_url)) as opened:
        yield opened


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ObjectStore]:
    if request.param == "memory":
        yield MemoryObjectStore(revisions_max=KEPT)
        return
    url = f"sqlite:///{tmp_path}/rebind.db"
    if request.param == "postgresql":
        url = request.getfixturevalue("postgres_url")
    with closing(_bounded(url)) as opened:
        yield opened.objects


def _rows(store: SqlStore, table: str) -> int:
    rows = select(func.count()).select_from(metadata.tables[table])
    return store.writer.connection.scalar(rows) or 0


def _churn(store: ObjectStore, times: int) -> None:
    """Make, change and delete: three revisions each time."""
    for number in range(times):
        store.apply([made(f"p{number}")])
        store.apply([changed(f"p{number}", "x"), deleted(f"p{number}")])


def test_what_is_older_than_the_newest_revisions_is_expired(store: ObjectStore) -> None:
    _churn(store, 20)

    assert store.revision() == 60
    refused = store.since(20)
    assert isinstance(refused, Expired)
    assert 60 - KEPT - KEPT // 8 <= refused.oldest <= 60 - KEPT
    assert store.since(20, collection=PODS, limit=1) == refused
    assert store.page(PODS, after=Position(20, "default", "p1")) == refused
    seen = seen_since(store, 60 - KEPT)
    assert [change.revision for change in seen] == list(range(60 - KEPT + 1, 61))


def test_the_change_before_one_that_is_known_is_known(store: ObjectStore) -> None:
    """A watch with a selector has to tell whether an object was in it before."""
    store.apply([made("old", "first")])
    _churn(store, 20)
    store.apply([changed("old", "second")])
    _churn(store, 5)
    found = [change for change in seen_since(store, 55) if change.key == key("old")]

    assert found == [
        ObjectChange(
            revision=62,
            type=ChangeType.MODIFIED,
            key=key("old"),
            body=b'{"v":"62","is":"second"}',
            previous=b'{"v":"1","is":"first"}',
            previous_revision=1,
        )
    ]
    assert store.page(PODS, after=Position(55)) == ObjectPage(
        (StoredObject(key("old"), 1, b'{"v":"1","is":"first"}'),), 55
    )


def test_an_object_is_kept_however_old_its_last_change(store: ObjectStore) -> None:
    store.apply([made("old")])
    _churn(store, 40)

    assert store.get(key("old")) == StoredObject(key("old"), 1, b'{"v":"1","is":"new"}')
    assert names_in(store) == ["old"]
    assert change_of(store.apply([deleted("old")])[0]).body == b'{"v":"122","is":"new"}'


def test_by_default_a_hundred_thousand_revisions_are_known() -> None:
    assert object_decisions.REVISIONS_MAX == 100_000


def test_the_log_is_bounded_without_anybody_asking(sql: SqlStore) -> None:
    sql.objects.apply([made("kept"), made("changing")])
    _churn(sql.objects, 100)
    for number in range(100):
        sql.objects.apply([changed("changing", str(number))])

    assert _rows(sql, "api_change") <= 1 + KEPT + KEPT // 8 + 1
    assert _rows(sql, "api_object") == 2
    assert sql.database.dangling(sql.writer.connection) == []
    assert sql.database.damage(sql.writer.connection) == []


def test_steps_are_few(sql: SqlStore) -> None:
    """A transaction more for each write would cost as much as the write."""
    for number in range(400):
        sql.objects.apply([made(f"p{number}")])

    assert sql.object_retention.effort.steps <= 400 // (KEPT // 8)
    assert sql.object_retention.effort.failures == 0


def test_r93_a_long_backlog_drains_in_short_steps_each_where_the_last_one_ended(
    sql: SqlStore,
) -> None:
    sql.object_retention = ObjectRetention(sql.writer, revisions_max=10**9)
    _churn(sql.objects, 100)
    ticks = count()
    work = ObjectRetention(sql.writer, revisions_max=KEPT, clock=lambda: next(ticks) * 0.8 * STEP_S)
    work.steps.size = 40
    floors: list[int] = []
    while work.step():
        refused = sql.objects.since(0)
        assert isinstance(refused, Expired)
        floors.append(refused.oldest)

    assert floors == [40, 80, 120, 160, 200, 240]
    assert sql.objects.since(0) == Expired(300 - KEPT)
    assert work.effort.failures == 0
    assert _rows(sql, "api_change") <= KEPT + 2


def test_the_bound_holds_however_slow_the_steps_are(sql: SqlStore) -> None:
    ticks = count()
    sql.object_retention = ObjectRetention(
        sql.writer, revisions_max=KEPT, clock=lambda: next(ticks) * 2 * STEP_S
    )
    for batch in range(40):
        sql.objects.apply([made(f"p{batch}-{number}") for number in range(50)])

    refused = sql.objects.since(0)
    assert isinstance(refused, Expired)
    assert refused.oldest > 40 * 50 - KEPT - 3 * 50


def test_a_failing_step_does_not_fail_the_write_before_it(sql: SqlStore) -> None:
    _churn(sql.objects, 20)
    sql.writer.say("ALTER TABLE api_horizon RENAME TO elsewhere")
    work = sql.object_retention = ObjectRetention(sql.writer, revisions_max=1)
    outcomes = sql.objects.apply([made("a")])

    assert change_of(outcomes[0]).revision == 61
    assert (work.effort.steps, work.effort.failures) == (1, 1)
    sql.writer.say("ALTER TABLE elsewhere RENAME TO api_horizon")
    sql.objects.apply([made("b")])

    assert (work.effort.steps, work.effort.failures) == (2, 1)


def test_bounds_of_history_and_of_objects_do_not_count_each_other(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Revisions are shared; a busy API server is not to cost who holds what its history."""
    monkeypatch.setattr("store.planning.plan.SEGMENT_CHANGES_MAX", 10)
    with closing(SqlStore(database_url, history_max=30)) as store:
        for number in range(20):
            store.apply([admits_one(f"p{number}", "g0")])
            _churn(store.objects, 3)
            store.apply([released(f"p{number}")])
        steps = store.retention.effort.steps

        assert len(store.history()) in range(30, 41)
        assert store.history()[-1].revision == store.load(NODE).revision == 220
        _churn(store.objects, 50)

        assert store.retention.effort.steps == steps
        assert len(store.history()) in range(30, 41)


def test_history_counts_on_after_a_restart(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("store.planning.plan.SEGMENT_CHANGES_MAX", 10)
    for number in range(30):
        with closing(SqlStore(database_url, history_max=20)) as store:
            store.apply([admits_one(f"p{number}", "g0"), released(f"p{number}")])
            _churn(store.objects, 2)

            assert min(2 * number + 2, 20) <= len(store.history()) <= 30
    with closing(SqlStore(database_url)) as store:
        segments = store.writer.connection.exec_driver_sql(
            "SELECT first_change FROM history_segment ORDER BY 1"
        ).scalars()

        assert list(segments) == [41, 51]
        assert len(store.history()) == 20


def test_compact_forgets_changes_of_objects_too(database_url: str) -> None:
    with closing(SqlStore(database_url)) as store:
        store.objects.apply([made("old")])
        _churn(store.objects, 20)

    # All but the newest ten, the object, and the change before the deletion of revision 52.
    assert maintenance.compact(database_url, keep=10) == 49
    assert maintenance.compact(database_url, keep=10) == 0
    with closing(SqlStore(database_url)) as store:
        assert store.objects.since(0) == Expired(51)
        assert names_in(store.objects) == ["old"]
        assert isinstance(store.objects.since(51), ObjectChanges)
