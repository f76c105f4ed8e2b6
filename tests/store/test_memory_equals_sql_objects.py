"""The stores are one store of objects: whatever is written, they answer alike."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from simulator.core.instants import Instant
from simulator.core.transitions import Transition
from simulator.object_ports import (
    CreateObject,
    DeleteObject,
    ObjectKey,
    ObjectReader,
    ObjectWrite,
    Position,
    UpdateObject,
)
from store.memory.store import MemoryStore
from store.sql_store import SqlStore
from store.tables import metadata
from tests.store.objects import body
from tests.store.world import admits_one, booted, released

COLLECTIONS = ("pods", "events")
WRITTEN = ("pods", "pods", "pods", "events")
NAMESPACES = ("a", "a-b")
NAMES = ("a", "B", "ä")
KEYS = st.builds(
    ObjectKey, st.sampled_from(WRITTEN), st.sampled_from(NAMESPACES), st.sampled_from(NAMES)
)
AT = st.integers(0, 9).map(Instant)
EXPIRES = st.none() | AT
BODIES = st.builds(body, st.text("xy", max_size=3))
UIDS = st.sampled_from(["first", "second"])
REVISIONS = st.none() | st.integers(1, 20)
WRITES: st.SearchStrategy[ObjectWrite] = st.one_of(
    st.builds(CreateObject, AT, KEYS, UIDS, BODIES, EXPIRES),
    st.builds(CreateObject, AT, KEYS, UIDS, BODIES, EXPIRES),
    st.builds(UpdateObject, AT, KEYS, BODIES, REVISIONS, st.none() | UIDS, EXPIRES),
    st.builds(UpdateObject, AT, KEYS, BODIES),
    st.builds(DeleteObject, AT, KEYS, REVISIONS, st.none() | UIDS),
    st.builds(DeleteObject, AT, KEYS),
)


@dataclass(frozen=True)
class Question:
    """What is asked of both stores."""

    namespace: str | None
    limit: int | None
    after: Position | None
    since: int

    def answers(self, objects: ObjectReader) -> list[object]:
        found: list[object] = [
            objects.revision(),
            objects.expired(Instant(5), limit=3),
            objects.since(self.since),
            objects.since(
                self.since, collection="pods", namespace=self.namespace, limit=self.limit
            ),
        ]
        found += [
            objects.page("pods", limit=self.limit, after=Position(revision))
            for revision in range(0, objects.revision(), 3)
        ]
        for collection in COLLECTIONS:
            found.append(objects.page(collection))
            found.append(
                objects.page(
                    collection, namespace=self.namespace, limit=self.limit, after=self.after
                )
            )
            keys = [ObjectKey(collection, space, name) for space in NAMESPACES for name in NAMES]
            found.append([objects.get(key) for key in keys])
        return found


POSITIONS = st.builds(
    Position, st.integers(0, 12), st.sampled_from(["", "a"]), st.sampled_from(["", "a"])
)
QUESTIONS = st.builds(
    Question,
    st.none() | st.sampled_from([*NAMESPACES, "b"]),
    st.none() | st.integers(1, 3),
    st.none() | POSITIONS,
    st.integers(0, 12),
)
OBJECTS = st.lists(st.lists(WRITES, min_size=3, max_size=12), min_size=1, max_size=4)
TRANSITIONS = st.lists(
    st.lists(
        st.sampled_from([booted("1"), admits_one("a", "g0"), admits_one("b", "g0"), released("a")]),
        max_size=3,
    ),
    max_size=4,
)


def _check(
    sql: SqlStore,
    batches: list[list[ObjectWrite]],
    transitions: list[list[Transition]],
    question: Question,
) -> None:
    memory = MemoryStore()
    others = iter(transitions)
    for batch in batches:
        together = next(others, [])
        expected = memory.apply_together(together, batch)

        assert sql.apply_together(together, batch) == expected
        assert question.answers(sql.objects) == question.answers(memory.objects)
    assert sql.history() == memory.history()
    assert sql.database.dangling(sql.writer.connection) == []


@given(batches=OBJECTS, transitions=TRANSITIONS, question=QUESTIONS)
@settings(deadline=None)
def test_memory_and_sql_answer_alike_after_any_writes(
    batches: list[list[ObjectWrite]], transitions: list[list[Transition]], question: Question
) -> None:
    with closing(SqlStore("sqlite://")) as sql:
        _check(sql, batches, transitions, question)


@given(batches=OBJECTS, transitions=TRANSITIONS, question=QUESTIONS)
@settings(
    deadline=None,
    # A server costs a hundred times what memory does; `make soak` runs as many as it is told.
    max_examples=min(settings().max_examples // 8, 100),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_memory_and_postgresql_answer_alike_after_any_writes(
    postgres_url: str,
    batches: list[list[ObjectWrite]],
    transitions: list[list[Transition]],
    question: Question,
) -> None:
    with closing(SqlStore(postgres_url)) as sql:
        sql.writer.say(f"TRUNCATE {', '.join(metadata.tables)}")
        _check(sql, batches, transitions, question)
