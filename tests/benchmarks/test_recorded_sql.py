"""Bare sqlite3 does the same work as the store: the databases are equal afterwards."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from benchmarks.nodes import fill_store, pod_admitted
from benchmarks.recorded_sql import BareDatabase, copy_database, record
from simulator.core.transitions import NodeName
from store.sql_store import SqlStore

NODE = NodeName("n0")


def content(path: Path) -> list[str]:
    """Return a database as SQL text."""
    connection = sqlite3.connect(path)
    dump = list(connection.iterdump())
    connection.close()
    return dump


def test_recorded_statements_make_the_same_database(tmp_path: Path) -> None:
    first = tmp_path / "first.db"
    store = SqlStore(f"sqlite:///{first}")
    fill_store(store, [NODE], bound=2, devices=8)
    store.close()
    copy = copy_database(first, tmp_path / "bare.db")
    store = SqlStore(f"sqlite:///{first}")
    batches = [[pod_admitted(NODE, 2)], [pod_admitted(NODE, 3), pod_admitted(NODE, 4)]]
    recorded = [record(store, batch) for batch in batches]
    store.close()
    bare = BareDatabase(copy)
    for statements in recorded:
        bare.run(statements)
    bare.close()

    assert any("INSERT INTO device_holding" in sql for sql, _ in recorded[0])
    assert content(copy) == content(first)
