"""The n-th call fails, before or after its effect; all others go through."""

from __future__ import annotations

import pytest

from simulator.errors import StoreUnavailableError
from simulator.ports import Committed, Store
from store.memory.store import MemoryStore
from store.sql_store import SqlStore
from tests.store.failing_store import FailingStore
from tests.store.world import NODE, admits_one, imported


@pytest.mark.parametrize(("after", "stored"), [(False, 1), (True, 2)])
@pytest.mark.parametrize("kind", ["memory", "sqlite", "postgresql"])
def test_the_nth_apply_fails_before_or_after_its_effect(
    request: pytest.FixtureRequest, kind: str, *, after: bool, stored: int
) -> None:
    inner: Store = MemoryStore()
    if kind == "sqlite":
        inner = SqlStore("sqlite://")
    elif kind == "postgresql":
        inner = SqlStore(request.getfixturevalue("postgres_url"))
    store = FailingStore(inner, fail_at=2, after=after)

    assert store.apply([admits_one("a", "g0")]) == [Committed(1)]
    with pytest.raises(StoreUnavailableError, match="disk I/O error"):
        store.apply([admits_one("b", "g1")])
    assert len(store.holders()) == stored
    assert store.load(NODE).revision == stored
    assert store.has_failed
    store.close()


def test_loads_are_counted_too() -> None:
    store = FailingStore(MemoryStore(), fail_at=1)
    with pytest.raises(StoreUnavailableError):
        store.load(NODE)

    assert store.load(NODE).revision == 0


def test_questions_never_fail() -> None:
    store = FailingStore(MemoryStore(), fail_at=1, after=True)
    with pytest.raises(StoreUnavailableError):
        store.apply([imported(content=b"x")])

    assert [each.node for each in store.nodes()] == [NODE]
    assert len(store.devices()) == 2
    assert store.pods() == []
    assert len(store.history()) == 1
    assert store.imported_checkpoint(NODE) is not None
    store.close()
