"""The counter sees the fsyncs that SQLite is known to make."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

import pytest

from benchmarks.sync_counter import counted_syncs


@pytest.mark.parametrize(
    ("journal_mode", "synchronous", "syncs"),
    [("WAL", "FULL", 100), ("WAL", "NORMAL", 0), ("WAL", "OFF", 0), ("DELETE", "OFF", 0)],
)
def test_a_commit_makes_as_many_syncs_as_its_mode_says(
    tmp_path: Path, journal_mode: str, synchronous: str, syncs: int
) -> None:
    with counted_syncs() as count:
        connection = sqlite3.connect(tmp_path / "counted.db", isolation_level=None)
        connection.execute(f"PRAGMA journal_mode = {journal_mode}")
        connection.execute(f"PRAGMA synchronous = {synchronous}")
        connection.execute("CREATE TABLE numbers (n)")
        connection.execute("INSERT INTO numbers VALUES (0)")
        before = count.syncs
        for number in range(100):
            connection.execute("INSERT INTO numbers VALUES (?)", (number,))
        found = count.syncs - before
        connection.close()

    assert found == syncs


def test_a_rollback_journal_costs_several_syncs(tmp_path: Path) -> None:
    with counted_syncs() as count:
        connection = sqlite3.connect(tmp_path / "counted.db", isolation_level=None)
        connection.execute("CREATE TABLE numbers (n)")
        before = count.syncs
        connection.execute("INSERT INTO numbers VALUES (1)")
        found = count.syncs - before
        connection.close()

    assert found >= 2


def test_an_added_delay_makes_each_commit_slower(tmp_path: Path) -> None:
    with counted_syncs() as count:
        connection = sqlite3.connect(tmp_path / "slow.db", isolation_level=None)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("CREATE TABLE numbers (n)")
        count.added_seconds = 0.005
        started = time.perf_counter()
        for number in range(4):
            connection.execute("INSERT INTO numbers VALUES (?)", (number,))
        took = time.perf_counter() - started
        connection.close()

    assert took >= 4 * 0.005


def test_connections_outside_the_block_are_not_counted(tmp_path: Path) -> None:
    with counted_syncs() as count:
        pass
    connection = sqlite3.connect(tmp_path / "outside.db")
    connection.execute("CREATE TABLE numbers (n)")
    connection.close()

    assert count.syncs == 0
