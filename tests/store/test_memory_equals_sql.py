"""The two stores are one store: whatever happens, they answer alike."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.core.pods import PodUid
from simulator.core.transitions import NodeName, Transition
from simulator.ports import Store
from store.memory_store import MemoryStore
from store.sql_store import SqlStore
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


@given(batches=BATCHES, uid=UIDS, revision=st.integers(0, 12))
@settings(deadline=None)
def test_memory_and_sql_answer_alike_after_any_transitions(
    batches: list[list[Transition]], uid: PodUid, revision: int
) -> None:
    memory = MemoryStore()
    sql = SqlStore("sqlite://")
    try:
        for batch in batches:
            expected = memory.apply(batch)

            assert sql.apply(batch) == expected
            assert _everything(sql) == _everything(memory)
        wanted = memory.history(pod=uid, until_revision=revision)

        assert sql.history(pod=uid, until_revision=revision) == wanted
    finally:
        sql.close()
