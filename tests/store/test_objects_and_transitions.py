"""One database, one order of revisions, one commit: transitions of nodes and writes of objects."""

from __future__ import annotations

from contextlib import closing

import pytest
from sqlalchemy import text

from simulator.errors import StoreError
from simulator.object_ports import (
    AlreadyExists,
    ChangeType,
    Conflicted,
    ObjectChange,
    StoredObject,
)
from simulator.ports import Committed, Refused, Store
from store import maintenance
from store.sql_store import SqlStore
from tests.store.objects import (
    change_of,
    changed,
    deleted,
    key,
    made,
    names_in,
    revisions_of,
    seen_since,
)
from tests.store.world import NODE, admits_one


def test_revisions_are_of_the_whole_database(store: Store) -> None:
    assert store.apply([admits_one("a", "g0")]) == [Committed(1)]
    assert revisions_of(store.objects.apply([made("a"), changed("a", "x")])) == [2, 3]
    assert store.apply([admits_one("b", "g1")]) == [Committed(4)]
    assert revisions_of(store.objects.apply([deleted("a")])) == [5]

    assert store.objects.revision() == 5
    assert store.load(NODE).revision == 4
    assert [each.revision for each in store.history()] == [1, 4]
    assert [each.revision for each in seen_since(store.objects, 0)] == [2, 3, 5]


def test_a_batch_of_both_has_its_transitions_first(store: Store) -> None:
    outcomes, of_objects = store.apply_together(
        [admits_one("a", "g0"), admits_one("b", "g1")], [made("a"), made("b")]
    )

    assert outcomes == [Committed(1), Committed(2)]
    assert revisions_of(of_objects) == [3, 4]


def test_a_conflict_of_one_kind_does_not_fail_the_other(store: Store) -> None:
    store.apply_together([admits_one("a", "g0")], [made("a")])
    outcomes, of_objects = store.apply_together(
        [admits_one("b", "g0"), admits_one("c", "g1")],
        [made("a"), made("b"), changed("b", "x", revision=1)],
    )

    assert outcomes == [Refused("device g0 of example.com/gpu is held by pod uid-a"), Committed(3)]
    assert of_objects[0] == AlreadyExists()
    assert revisions_of(of_objects[1:2]) == [4]
    assert of_objects[2] == Conflicted(4, "uid-b", is_another=False)
    assert store.objects.revision() == 4


def test_objects_and_their_changes_survive_a_restart(database_url: str) -> None:
    with closing(SqlStore(database_url)) as store:
        store.objects.apply([made("a"), made("b"), changed("a", "x"), deleted("b")])
        before = (store.objects.page("pods"), store.objects.since(0))
    with closing(SqlStore(database_url)) as store:
        assert (store.objects.page("pods"), store.objects.since(0)) == before
        assert store.objects.get(key("a")) == StoredObject(key("a"), 3, b'{"v":"3","is":"x"}')
        (outcome, *others) = store.objects.apply(
            [changed("a", "y", revision=3, uid="uid-a"), made("a"), made("b")]
        )

        assert change_of(outcome) == ObjectChange(
            revision=5,
            type=ChangeType.MODIFIED,
            key=key("a"),
            body=b'{"v":"5","is":"y"}',
            previous=b'{"v":"3","is":"x"}',
            previous_revision=3,
        )
        assert others[0] == AlreadyExists()
        assert revisions_of(others[1:]) == [6]


def test_revisions_go_on_when_all_that_is_known_of_the_newest_one_was_a_deletion(
    database_url: str,
) -> None:
    with closing(SqlStore(database_url)) as store:
        store.objects.apply([made("a"), deleted("a")])
    maintenance.compact(database_url, keep=1)
    with closing(SqlStore(database_url)) as store:
        assert store.objects.revision() == 2
        assert revisions_of(store.objects.apply([made("a")])) == [3]


def test_a_failed_batch_leaves_nothing_and_the_next_one_is_right(database_url: str) -> None:
    with closing(SqlStore(database_url)) as store:
        store.objects.apply([made("a"), made("b")])
        unwritable = made("c\udcff")
        with pytest.raises(StoreError, match="a value cannot be stored"):
            store.apply_together(
                [admits_one("a", "g0")], [changed("a", "x"), deleted("b"), made("d"), unwritable]
            )

        assert store.history() == []
        assert store.objects.get(key("a")) == StoredObject(key("a"), 1, b'{"v":"1","is":"new"}')
        assert names_in(store.objects) == ["a", "b"]
        outcomes = store.objects.apply([made("b"), changed("a", "y", revision=1), made("d")])

        assert outcomes[0] == AlreadyExists()
        assert revisions_of(outcomes[1:]) == [3, 4]


def test_a_commit_that_fails_shows_nobody_what_it_would_have_written(database_url: str) -> None:
    with closing(SqlStore(database_url)) as store:
        store.objects.apply([made("a")])
        seen: list[StoredObject | None] = []
        reason = "too large"

        def watch(sql: str, _rows: object) -> None:
            if sql == "COMMIT":
                seen.append(store.objects.get(key("a")))
                store.writer.watch = None
                raise OverflowError(reason)

        store.writer.watch = watch
        with pytest.raises(StoreError, match="too large"):
            store.objects.apply([changed("a", "x")])

        assert seen == [StoredObject(key("a"), 1, b'{"v":"1","is":"new"}')]
        assert store.objects.get(key("a")) == seen[0]
        assert revisions_of(store.objects.apply([changed("a", "x", revision=1)])) == [2]


def test_only_objects_cost_no_look_at_nodes(database_url: str) -> None:
    """A batch of objects reads nothing, and writes two tables with one statement each."""
    with closing(SqlStore(database_url)) as store:
        store.apply_together([admits_one("a", "g0")], [made("first")])
        said: list[str] = []
        store.writer.watch = lambda sql, _rows: said.append(" ".join(sql.split()[:3]))
        store.objects.apply([made(f"p{number}") for number in range(64)])

    assert said[0].startswith("BEGIN")
    assert said[1:] == ["INSERT INTO api_change", "INSERT INTO api_object", "COMMIT"]


def test_a_copy_in_memory_has_the_objects(database_url: str) -> None:
    with closing(SqlStore(database_url)) as store:
        store.apply_together([admits_one("a", "g0")], [made("a"), changed("a", "x")])
    with maintenance.copy_in_memory(database_url) as copy:
        assert copy.objects.get(key("a")) == StoredObject(key("a"), 3, b'{"v":"3","is":"x"}')
        assert revisions_of(copy.objects.apply([changed("a", "y", revision=3)])) == [4]


def test_db_check_finds_an_object_whose_json_is_missing(database_url: str) -> None:
    with closing(SqlStore(database_url)) as store:
        store.objects.apply([made("a")])
        store.writer.begin()
        store.writer.connection.execute(text("DELETE FROM api_change"))
        store.writer.commit()
    findings = maintenance.examine(database_url)
    (problems,) = [each.problems for each in findings if each.subject == "references"]

    assert len(problems) == 1
    assert "api_object" in problems[0]
    assert "api_change" in problems[0]
