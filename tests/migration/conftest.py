"""The store of a node that is migrated: in memory, and in either kind of database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from simulator.ports import Durability, Store
from store.memory.store import MemoryStore
from store.sql_store import SqlStore


@pytest.fixture(
    params=["memory", "sqlite", pytest.param("postgresql", marks=pytest.mark.soak)],
)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """Return an empty store that stays open; for loops over all failures, which take their time."""
    if request.param == "memory":
        yield MemoryStore()
        return
    url = f"sqlite:///{tmp_path}/rebind.db"
    if request.param == "postgresql":
        url = request.getfixturevalue("postgres_url")
    with closing(SqlStore(url, durability=Durability.OFF)) as opened:
        yield opened
