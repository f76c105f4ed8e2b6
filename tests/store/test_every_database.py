"""What every kind of SQL database itself refuses and survives (kind 13 of the field reports)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing

import pytest
from sqlalchemy import Engine, NullPool, create_engine, text
from sqlalchemy.exc import IntegrityError

from simulator.core.transitions import NodeName
from simulator.errors import StoreError, StoreUnavailableError, WriterLockedError
from simulator.ports import Committed, Refused
from store.sql_store import SqlStore
from tests.store.killing import acknowledged_until_killed
from tests.store.world import NODE, admits_one, admitted, binding, device, released, reported

SECOND_HOLDING = text("""
    INSERT INTO device_holding (id, device_id, pod_id, since_revision, since_at, disputed)
    SELECT max(id) + 1, min(device_id), min(pod_id) + 1, 99, 99, :disputed FROM device_holding
""")


@pytest.fixture
def store(database_url: str) -> Iterator[SqlStore]:
    with closing(SqlStore(database_url)) as opened:
        yield opened


@pytest.fixture
def plain(database_url: str) -> Iterator[Engine]:
    """Return an engine that knows nothing of the store."""
    engine = create_engine(database_url, poolclass=NullPool)
    yield engine
    engine.dispose()


def test_the_database_itself_refuses_a_second_holder(store: SqlStore, plain: Engine) -> None:
    """Acceptance 7 of the vertical slice: not our code but the unique index."""
    store.apply([admits_one("a", "g0")])
    with (
        pytest.raises(IntegrityError, match=r"device_holding\.device_id|_one_holder"),
        plain.begin() as connection,
    ):
        connection.execute(SECOND_HOLDING, {"disputed": False})
    with plain.begin() as connection:
        connection.execute(SECOND_HOLDING, {"disputed": True})
        connection.execute(text("UPDATE device_holding SET until_revision = 100 WHERE id = 1"))
        connection.execute(SECOND_HOLDING, {"disputed": False})


def test_the_database_itself_refuses_a_holding_that_ends_before_it_begins(
    store: SqlStore, plain: Engine
) -> None:
    store.apply([admits_one("a", "g0")])
    with (
        pytest.raises(IntegrityError, match="ends_after_it_began"),
        plain.begin() as connection,
    ):
        connection.execute(text("UPDATE device_holding SET until_revision = 0"))


def test_readers_answer_while_a_write_is_under_way(store: SqlStore, plain: Engine) -> None:
    store.apply([admits_one("a", "g0")])
    with plain.connect() as connection:
        connection.execute(text("DELETE FROM device_holding"))

        assert len(store.holders()) == 1


def test_r50_a_read_only_database_refuses_writes_and_answers(database_url: str) -> None:
    SqlStore(database_url).close()
    with closing(SqlStore(database_url, read_only=True)) as store:
        with pytest.raises(StoreUnavailableError, match="the database is read-only"):
            store.apply([admits_one("b", "g1")])

        assert store.holders() == []


def test_after_a_failed_batch_the_writer_believes_only_the_database(store: SqlStore) -> None:
    store.apply([reported(device("g0"), device("g1"))])
    too_large = reported(device("g0", "Sick", (2**70,)), device("g2"))
    wrong = admitted("a", binding("a", {2**70: ("g0",)}))
    with pytest.raises(StoreError, match="a value cannot be stored"):
        store.apply([admits_one("b", "g1"), wrong])

    assert store.apply([too_large, admits_one("c", "g1")]) == [Committed(2), Committed(3)]
    assert [each.pod.name for each in store.holders()] == ["c"]
    assert [each.pod.name for each in store.pods()] == ["c"]


def test_text_that_is_no_unicode_is_refused(store: SqlStore) -> None:
    with pytest.raises(StoreError, match="surrogates not allowed"):
        store.apply([admits_one("a", "\udcff")])

    assert store.nodes() == []


@pytest.mark.parametrize("count", [3, 200])
def test_a_conflict_among_many_admissions_refuses_only_itself(store: SqlStore, count: int) -> None:
    held = count // 2
    store.apply([admits_one("holder", f"g{held}")])
    outcomes = store.apply([admits_one(f"p{number}", f"g{number}") for number in range(count)])

    refused = [index for index, each in enumerate(outcomes) if isinstance(each, Refused)]
    assert refused == [held]
    assert outcomes[-1] == Committed(count)
    assert len(store.holders()) == count


def test_a_second_writer_is_refused_with_the_first_ones_name(
    database_url: str, store: SqlStore
) -> None:
    with pytest.raises(
        WriterLockedError,
        match=rf"is being written by pid {os.getpid()} on .+; stop it and try again",
    ):
        SqlStore(database_url)
    with closing(SqlStore(database_url, read_only=True)) as reader:
        assert reader.nodes() == []
    name = store.writer.connection.scalar(text("SELECT holder FROM writer_lock"))

    assert str(name).startswith(f"pid {os.getpid()} on ")
    store.close()
    SqlStore(database_url).close()


def test_ids_are_told_apart_and_sorted_byte_by_byte(store: SqlStore) -> None:
    """Whatever the collation of the database: `a` is not `A`, and upper case comes first."""
    ids = ["b", "B", "a", "A", "ä", "_", "10", "9", "a b", "a-b"]
    store.apply([admits_one(f"p{number}", id_) for number, id_ in enumerate(ids)])

    in_order = ["10", "9", "A", "B", "_", "a", "a b", "a-b", "b", "ä"]
    assert [each.device for each in store.holders()] == in_order
    assert [each.device for each in store.devices()] == in_order


KILLED_WHILE_WRITING = """
import sys
from store.sql_store import SqlStore
from tests.store.world import admits_one
store = SqlStore(sys.argv[1])
for number in range(1_000_000):
    outcome = store.apply([admits_one(f"p{number}", f"g{number}")])[0]
    print(outcome.revision, flush=True)
"""


def test_kill_9_loses_nothing_that_was_acknowledged_and_leaves_no_lock(database_url: str) -> None:
    """R97: a killed process loses no acknowledged commit; the next writer is not locked out."""
    last = acknowledged_until_killed(KILLED_WHILE_WRITING, database_url, 50)
    with closing(SqlStore(database_url)) as store:
        revision = store.load(NodeName("n0")).revision

        assert revision in {last, last + 1}
        assert len(store.holders()) == revision
        assert store.apply([released("p0")]) == [Committed(revision + 1)]
        assert store.load(NODE).revision == revision + 1
