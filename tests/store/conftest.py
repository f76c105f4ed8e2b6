"""A store of each kind, for tests that hold for all of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from simulator.ports import Store
from store.memory.store import MemoryStore
from store.sql_store import SqlStore


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """Return an empty store of each kind."""
    opened: Store = MemoryStore()
    if request.param == "sqlite":
        opened = SqlStore(f"sqlite:///{tmp_path}/rebind.db")
    elif request.param == "postgresql":
        opened = SqlStore(request.getfixturevalue("postgres_url"))
    with closing(opened):
        yield opened
