"""What SQLite itself refuses and survives (kind 13 of the field reports)."""

from __future__ import annotations

import resource
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from simulator.errors import StoreUnavailableError
from simulator.ports import Committed, Durability
from store.sql_store import SqlStore
from store.sqlite import database as sqlite
from tests.store.world import NODE, admits_one, admitted, binding


def _url(folder: Path) -> str:
    return f"sqlite:///{folder}/rebind.db"


def _filled(folder: Path, *, pods: int = 1) -> Path:
    store = SqlStore(_url(folder))
    store.apply([admits_one(f"p{number}", f"g{number}") for number in range(pods)])
    store.close()
    return folder / "rebind.db"


@pytest.mark.parametrize(
    ("durability", "synchronous"),
    [(Durability.FULL, 2), (Durability.NORMAL, 1), (Durability.OFF, 0)],
)
def test_durability_is_sqlites_synchronous_in_wal_mode(
    tmp_path: Path, durability: Durability, synchronous: int
) -> None:
    with closing(SqlStore(_url(tmp_path), durability=durability)) as store:
        settings = {
            name: store.writer.connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("synchronous", "journal_mode", "busy_timeout", "wal_autocheckpoint")
        }

    assert settings == {
        "synchronous": synchronous,
        "journal_mode": "wal",
        "busy_timeout": 5_000,
        "wal_autocheckpoint": 1_000,
    }


def test_r91_a_deferred_transaction_that_turns_to_writing_fails_at_once(tmp_path: Path) -> None:
    path = _filled(tmp_path)
    with (
        closing(sqlite3.connect(path, timeout=60, isolation_level=None)) as first,
        closing(sqlite3.connect(path, timeout=60, isolation_level=None)) as second,
    ):
        first.execute("BEGIN DEFERRED")
        first.execute("SELECT count(*) FROM pod").fetchall()
        second.execute("UPDATE node SET revision = revision + 1")
        with pytest.raises(sqlite3.OperationalError) as failed:
            first.execute("UPDATE node SET revision = revision + 1")

    assert failed.value.sqlite_errorcode == sqlite3.SQLITE_BUSY_SNAPSHOT


def test_r91_our_transactions_take_the_write_lock_with_their_first_statement(
    tmp_path: Path,
) -> None:
    said: list[str] = []
    with closing(SqlStore(_url(tmp_path))) as store:
        store.writer.watch = lambda sql, _rows: said.append(sql)
        store.apply([admits_one("a", "g0")])

    assert said[0] == "BEGIN IMMEDIATE"
    assert said[-1] == "COMMIT"


def test_another_connections_lock_is_waited_for_and_then_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "BUSY_TIMEOUT_MS", 1)
    path = _filled(tmp_path)
    with (
        closing(SqlStore(_url(tmp_path))) as store,
        closing(sqlite3.connect(path, isolation_level=None)) as other,
    ):
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnavailableError, match="another process is writing"):
            store.apply([admits_one("b", "g1")])
        other.execute("ROLLBACK")

        assert store.apply([admits_one("b", "g1")]) == [Committed(2)]


def test_r50_a_full_disk_fails_the_commit_and_changes_nothing(tmp_path: Path) -> None:
    with closing(SqlStore(_url(tmp_path))) as store:
        store.apply([admits_one("a", "g0")])
        connection = store.writer.connection
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar()
        connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")
        much = [
            admitted(f"p{number}", binding(f"p{number}", {0: (f"d{number}",)}, response=b"x" * 999))
            for number in range(40)
        ]
        with pytest.raises(StoreUnavailableError, match="the disk is full; free some space"):
            store.apply(much)

        assert store.load(NODE).revision == 1
        assert [each.device for each in store.holders()] == ["g0"]
        connection.exec_driver_sql("PRAGMA max_page_count = 1000000")

        assert store.apply(much)[-1] == Committed(41)


@pytest.mark.parametrize("count", [0, 1, 7, 8, 9, 31, 32, 33, 41, 64, 75])
def test_so_many_rows_as_there_are_are_written_in_their_order(tmp_path: Path, count: int) -> None:
    with closing(SqlStore(_url(tmp_path))) as store:
        connection = store.writer.connection
        connection.exec_driver_sql("CREATE TABLE numbered (at INTEGER PRIMARY KEY, word TEXT)")
        told: list[tuple[str, int]] = []
        statement = "INSERT INTO numbered (word) VALUES (?)"
        store.writer.write([(statement, ((f"row {number}",) for number in range(count)))])
        store.writer.watch = lambda sql, rows: told.append((sql, len(rows or ())))
        update = "UPDATE numbered SET word = word || ? WHERE at = ?"
        store.writer.write([(update, [("!", number + 1) for number in range(count)])])

        found = connection.exec_driver_sql("SELECT word FROM numbered ORDER BY at").scalars()
        assert [*found] == [f"row {number}!" for number in range(count)]
        assert told == [(update, count)]


def test_a_conflict_among_many_admissions_refuses_only_its_own(tmp_path: Path) -> None:
    with closing(SqlStore(_url(tmp_path))) as store:
        devices = [f"g{number}" for number in range(40)]
        devices[25] = devices[3]
        outcomes = store.apply([admits_one(f"p{n}", each) for n, each in enumerate(devices)])

        refused = [n for n, each in enumerate(outcomes) if not isinstance(each, Committed)]
        assert refused == [25]
        held = [each.device for each in store.holders()]
        assert sorted(held) == sorted(f"g{number}" for number in range(40) if number != 25)


def test_a_database_that_could_not_be_made_leaves_no_file_without_bytes(tmp_path: Path) -> None:
    """One is refused, because a database that lost its bytes looks the same."""
    usual = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, usual[1]))
    try:
        with pytest.raises(StoreUnavailableError, match="the disk reports an error"):
            SqlStore(_url(tmp_path))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, usual)

    assert _filled(tmp_path).stat().st_size > 0


def test_a_file_without_bytes_that_was_there_is_left_there(tmp_path: Path) -> None:
    (tmp_path / "rebind.db").touch()
    with pytest.raises(StoreUnavailableError, match="the file has no bytes"):
        SqlStore(_url(tmp_path))

    assert (tmp_path / "rebind.db").exists()
