"""The two stores are one store: whatever happens, they answer alike."""

from __future__ import annotations

from contextlib import closing

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from simulator.core.pods import PodUid
from simulator.core.transitions import NodeName, Transition
from simulator.ports import Store
from store.memory.store import MemoryStore
from store.sql_store import SqlStore
from store.tables import metadata
from tests.store.transitions import BATCHES, UIDS


def _everything(store: Store) -> dict[str, object]:
    return {
        "states": [store.load(NodeName(name)) for name in ("n0", "n1", "n2")],
        "files": [store.imported_checkpoint(NodeName(name)) for name in ("n0", "n1")],
        "nodes": store.nodes(),
        "devices": store.devices(),
        "pods": store.pods(),
        "holders": store.holders(),
        "holders ever": store.holders(past=True),
        "history": store.history(),
    }


def _check(
    sql: SqlStore, batches: list[list[Transition]], uid: PodUid, until_revision: int
) -> None:
    memory = MemoryStore()
    for batch in batches:
        expected = memory.apply(batch)

        assert sql.apply(batch) == expected
        assert _everything(sql) == _everything(memory)
    wanted = memory.history(pod=uid, until_revision=until_revision)

    assert sql.history(pod=uid, until_revision=until_revision) == wanted


@given(batches=BATCHES, uid=UIDS, revision=st.integers(0, 12))
@settings(deadline=None)
def test_memory_and_sql_answer_alike_after_any_transitions(
    batches: list[list[Transition]], uid: PodUid, revision: int
) -> None:
    with closing(SqlStore("sqlite://")) as sql:
        _check(sql, batches, uid, revision)


@given(batches=BATCHES, uid=UIDS, revision=st.integers(0, 12))
@settings(
    deadline=None,
    # A server costs a hundred times what memory does; `make soak` runs as many as it is told.
    max_examples=min(settings().max_examples // 8, 100),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_memory_and_postgresql_answer_alike_after_any_transitions(
    postgres_url: str, batches: list[list[Transition]], uid: PodUid, revision: int
) -> None:
    with closing(SqlStore(postgres_url)) as sql:
        tables = ", ".join(metadata.tables)
        sql.writer.say(f"TRUNCATE {tables}")
        _check(sql, batches, uid, revision)
