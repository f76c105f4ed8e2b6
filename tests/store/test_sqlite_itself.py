"""What SQLite itself refuses and survives (kind 13 of the field reports)."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from simulator.core.transitions import NodeName
from simulator.errors import StoreError, StoreUnavailableError, WriterLockedError
from simulator.ports import Committed, Durability, Refused
from store import sqlite
from store.sql_store import SqlStore
from tests.store.world import NODE, admits_one, admitted, binding, device, released, reported

SECOND_HOLDING = """
    INSERT INTO device_holding (id, device_id, pod_id, since_revision, since_at, disputed)
    SELECT max(id) + 1, device_id, pod_id + 1, 99, 99, :disputed FROM device_holding
"""


def _url(folder: Path) -> str:
    return f"sqlite:///{folder}/rebind.db"


def _filled(folder: Path, *, pods: int = 1) -> Path:
    store = SqlStore(_url(folder))
    store.apply([admits_one(f"p{number}", f"g{number}") for number in range(pods)])
    store.close()
    return folder / "rebind.db"


def test_the_database_itself_refuses_a_second_holder(tmp_path: Path) -> None:
    """Acceptance 7: not our code but the unique index."""
    path = _filled(tmp_path)
    with closing(sqlite3.connect(path)) as plain:
        with pytest.raises(
            sqlite3.IntegrityError, match=r"UNIQUE constraint failed: device_holding\.device_id"
        ):
            plain.execute(SECOND_HOLDING, {"disputed": False})
        plain.execute(SECOND_HOLDING, {"disputed": True})
        plain.execute("UPDATE device_holding SET until_revision = 100 WHERE id = 1")
        plain.execute(SECOND_HOLDING, {"disputed": False})


def test_the_database_itself_refuses_a_holding_that_ends_before_it_begins(tmp_path: Path) -> None:
    with (
        closing(sqlite3.connect(_filled(tmp_path))) as plain,
        pytest.raises(sqlite3.IntegrityError, match="ends_after_it_began"),
    ):
        plain.execute("UPDATE device_holding SET until_revision = 0")


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


def test_readers_answer_while_a_write_is_under_way(tmp_path: Path) -> None:
    path = _filled(tmp_path)
    with (
        closing(SqlStore(_url(tmp_path))) as store,
        closing(sqlite3.connect(path, isolation_level=None)) as other,
    ):
        other.execute("BEGIN IMMEDIATE")
        other.execute("DELETE FROM device_holding")

        assert len(store.holders()) == 1


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


def test_r50_a_read_only_database_refuses_writes_and_answers(tmp_path: Path) -> None:
    _filled(tmp_path)
    with closing(SqlStore(_url(tmp_path), read_only=True)) as store:
        with pytest.raises(StoreUnavailableError, match="the database is read-only"):
            store.apply([admits_one("b", "g1")])

        assert len(store.holders()) == 1


def test_after_a_failed_batch_the_writer_believes_only_the_database(tmp_path: Path) -> None:
    with closing(SqlStore(_url(tmp_path))) as store:
        store.apply([reported(device("g0"), device("g1"))])
        too_large = reported(device("g0", "Sick", (2**70,)), device("g2"))
        wrong = admitted("a", binding("a", {2**70: ("g0",)}))
        with pytest.raises(StoreError, match="a value cannot be stored"):
            store.apply([admits_one("b", "g1"), wrong])

        assert store.apply([too_large, admits_one("c", "g1")]) == [Committed(2), Committed(3)]
        assert [each.pod.name for each in store.holders()] == ["c"]
        assert [each.pod.name for each in store.pods()] == ["c"]


def test_text_that_is_no_unicode_is_refused(tmp_path: Path) -> None:
    with closing(SqlStore(_url(tmp_path))) as store:
        with pytest.raises(StoreError, match="surrogates not allowed"):
            store.apply([admits_one("a", "\udcff")])

        assert store.nodes() == []


def test_a_conflict_after_many_admissions_refuses_only_itself(tmp_path: Path) -> None:
    with closing(SqlStore(_url(tmp_path))) as store:
        store.apply([admits_one("holder", "g100")])
        outcomes = store.apply([admits_one(f"p{number}", f"g{number}") for number in range(200)])

        refused = [index for index, each in enumerate(outcomes) if isinstance(each, Refused)]
        assert refused == [100]
        assert outcomes[-1] == Committed(200)
        assert len(store.holders()) == 200


def test_a_second_writer_is_refused_with_the_first_ones_name(tmp_path: Path) -> None:
    with closing(SqlStore(_url(tmp_path))) as store:
        with pytest.raises(
            WriterLockedError,
            match=rf"is being written by pid {os.getpid()} on .+; stop it and try again",
        ):
            SqlStore(_url(tmp_path))
        with closing(SqlStore(_url(tmp_path), read_only=True)) as reader:
            assert reader.nodes() == []
        name = store.writer.connection.exec_driver_sql("SELECT holder FROM writer_lock").scalar()

        assert str(name).startswith(f"pid {os.getpid()} on ")
    SqlStore(_url(tmp_path)).close()


KILLED_WHILE_WRITING = """
import sys
from store.sql_store import SqlStore
from tests.store.world import admits_one
store = SqlStore(sys.argv[1])
for number in range(1_000_000):
    outcome = store.apply([admits_one(f"p{number}", f"g{number}")])[0]
    print(outcome.revision, flush=True)
"""


def test_kill_9_loses_nothing_that_was_acknowledged_and_leaves_no_lock(tmp_path: Path) -> None:
    """R97: a killed process loses no acknowledged commit; the next writer is not locked out."""
    process = subprocess.Popen(  # noqa: S603 - our own text, run by this very Python
        [sys.executable, "-c", KILLED_WHILE_WRITING, _url(tmp_path)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert process.stdout is not None
    for line in process.stdout:
        if int(line) >= 50:
            break
    process.send_signal(signal.SIGKILL)
    acknowledged = [int(line) for line in process.stdout if line.endswith("\n")]
    process.wait()
    process.stdout.close()
    last = max([50, *acknowledged])
    with closing(SqlStore(_url(tmp_path))) as store:
        revision = store.load(NodeName("n0")).revision

        assert revision in {last, last + 1}
        assert len(store.holders()) == revision
        assert store.apply([released("p0")]) == [Committed(revision + 1)]
