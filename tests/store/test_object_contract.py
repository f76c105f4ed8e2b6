"""What every store promises of objects, stated as facts; memory and SQL are held to the same ones.

Facts of Kubernetes are those of its API conventions: a resourceVersion for each write, conflicts,
lists of one revision, watches that miss nothing, 410 for what is forgotten.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from simulator.core.instants import Instant
from simulator.object_ports import (
    AlreadyExists,
    ChangeType,
    Conflicted,
    DeleteObject,
    NotFound,
    ObjectChange,
    ObjectChanges,
    ObjectPage,
    ObjectStore,
    Position,
    StoredObject,
    Written,
)
from store.memory.objects import MemoryObjectStore
from store.sql_store import SqlStore
from tests.store.objects import (
    PODS,
    change_of,
    changed,
    deleted,
    key,
    made,
    names_in,
    revisions_of,
    seen_since,
)


@pytest.fixture(params=["memory", "sql in memory", "sql in a file", "postgresql"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ObjectStore]:
    if request.param == "memory":
        yield MemoryObjectStore()
        return
    urls = {"sql in memory": "sqlite://", "sql in a file": f"sqlite:///{tmp_path}/rebind.db"}
    url = urls.get(request.param) or request.getfixturevalue("postgres_url")
    with closing(SqlStore(url)) as opened:
        yield opened.objects


def test_an_empty_store_has_revision_zero_and_nothing_else(store: ObjectStore) -> None:
    assert store.revision() == 0
    assert store.get(key("a")) is None
    assert store.page(PODS) == ObjectPage((), 0)
    assert store.since(0) == ObjectChanges((), 0)
    assert store.apply([]) == []


def test_an_object_carries_the_revision_of_the_write_that_made_it(store: ObjectStore) -> None:
    outcomes = store.apply([made("a"), made("b", "other")])

    assert outcomes == [
        Written(ObjectChange(1, ChangeType.ADDED, key("a"), b'{"v":"1","is":"new"}')),
        Written(ObjectChange(2, ChangeType.ADDED, key("b"), b'{"v":"2","is":"other"}')),
    ]
    assert store.get(key("a")) == StoredObject(key("a"), 1, b'{"v":"1","is":"new"}')
    assert store.revision() == 2


def test_a_second_object_of_a_name_is_refused_and_its_neighbors_are_not(
    store: ObjectStore,
) -> None:
    outcomes = store.apply([made("a"), made("a", "second"), made("b")])

    assert outcomes[1] == AlreadyExists()
    assert revisions_of([outcomes[0], outcomes[2]]) == [1, 2]
    assert store.apply([made("b")]) == [AlreadyExists()]
    assert store.revision() == 2


def test_a_name_is_free_in_other_namespaces_and_collections(store: ObjectStore) -> None:
    outcomes = store.apply(
        [
            made(key("a")),
            made(key("a", namespace="kube-system")),
            made(key("a", namespace="")),
            made(key("a", collection="events")),
        ]
    )

    assert revisions_of(outcomes) == [1, 2, 3, 4]


def test_an_update_tells_what_was_there_before(store: ObjectStore) -> None:
    store.apply([made("a")])
    outcomes = store.apply([changed("a", "more", revision=1, uid="uid-a")])

    assert outcomes == [
        Written(
            ObjectChange(
                revision=2,
                type=ChangeType.MODIFIED,
                key=key("a"),
                body=b'{"v":"2","is":"more"}',
                previous=b'{"v":"1","is":"new"}',
                previous_revision=1,
            )
        )
    ]
    assert store.get(key("a")) == StoredObject(key("a"), 2, b'{"v":"2","is":"more"}')


def test_a_deleted_object_carries_the_revision_of_its_deletion(store: ObjectStore) -> None:
    """api-facts.md 3."""
    store.apply([made("a"), changed("a", "more")])
    (outcome,) = store.apply([deleted("a")])

    assert change_of(outcome) == ObjectChange(
        revision=3,
        type=ChangeType.DELETED,
        key=key("a"),
        body=b'{"v":"3","is":"more"}',
        previous=b'{"v":"2","is":"more"}',
        previous_revision=2,
    )
    assert store.get(key("a")) is None
    assert names_in(store) == []


def test_what_is_not_there_is_neither_changed_nor_deleted(store: ObjectStore) -> None:
    outcomes = store.apply([changed("a", "more"), deleted("a"), deleted("a", uid="uid-a")])

    assert outcomes == [NotFound(), NotFound(), NotFound()]
    assert store.revision() == 0


def test_a_write_of_an_older_revision_is_refused_with_the_present_one(store: ObjectStore) -> None:
    store.apply([made("a"), changed("a", "more")])
    outcomes = store.apply([changed("a", "late", revision=1), deleted("a", revision=1)])

    assert outcomes == [Conflicted(2, "uid-a", is_another=False)] * 2
    assert store.get(key("a")) == StoredObject(key("a"), 2, b'{"v":"2","is":"more"}')


def test_a_write_of_another_uid_is_refused_whatever_its_revision(store: ObjectStore) -> None:
    store.apply([made("a", uid="second")])
    outcomes = store.apply(
        [changed("a", "x", uid="first"), deleted("a", uid="first", revision=1), deleted("a")]
    )

    assert outcomes[:2] == [Conflicted(1, "second", is_another=True)] * 2
    assert revisions_of(outcomes[2:]) == [2]


def test_an_object_keeps_its_uid_until_it_is_deleted(store: ObjectStore) -> None:
    store.apply([made("a", uid="first"), changed("a", "x"), changed("a", "y", uid="first")])
    store.apply([deleted("a", uid="first"), made("a", uid="second")])

    assert store.apply([deleted("a", uid="first")]) == [
        Conflicted(5, "second", is_another=True),
    ]


def test_of_two_updates_of_one_revision_in_a_batch_the_second_is_refused(
    store: ObjectStore,
) -> None:
    store.apply([made("a")])
    outcomes = store.apply(
        [changed("a", "one", revision=1), changed("a", "two", revision=1), changed("a", "three")]
    )

    assert outcomes[1] == Conflicted(2, "uid-a", is_another=False)
    assert change_of(outcomes[2]).previous == b'{"v":"2","is":"one"}'


def test_a_batch_may_make_change_delete_and_make_again_one_object(store: ObjectStore) -> None:
    outcomes = store.apply(
        [made("a"), changed("a", "x"), deleted("a"), made("a", "again", uid="second"), made("a")]
    )

    assert revisions_of(outcomes[:4]) == [1, 2, 3, 4]
    assert outcomes[4] == AlreadyExists()
    assert store.get(key("a")) == StoredObject(key("a"), 4, b'{"v":"4","is":"again"}')
    assert store.apply([changed("a", "y", uid="uid-a")]) == [
        Conflicted(4, "second", is_another=True)
    ]


def test_what_a_batch_makes_and_deletes_is_seen_by_watches_only(store: ObjectStore) -> None:
    store.apply([made("a"), deleted("a")])

    assert names_in(store) == []
    assert [change.type for change in seen_since(store, 0)] == [
        ChangeType.ADDED,
        ChangeType.DELETED,
    ]


def test_a_list_is_in_the_order_of_namespaces_and_names_byte_by_byte(store: ObjectStore) -> None:
    """Whatever the collation of the database."""
    names = ["b", "a-b", "a.b", "a", "ab", "10", "9", "B", "ä"]
    store.apply([made(name) for name in names])
    store.apply([made(key("z", namespace="abc")), made(key("z", namespace=""))])

    assert names_in(store, namespace="default") == [
        *("10", "9", "B", "a", "a-b", "a.b", "ab", "b", "ä")
    ]
    assert names_in(store)[:3] == ["z", "z", "10"]
    assert names_in(store, namespace="") == ["z"]
    assert names_in(store, "events") == []


def test_pages_follow_each_other_and_say_how_much_remains(store: ObjectStore) -> None:
    store.apply([made(name) for name in ("a", "b", "c", "d", "e")])
    first = store.page(PODS, limit=2)
    assert isinstance(first, ObjectPage)
    second = store.page(PODS, limit=2, after=first.after)
    assert isinstance(second, ObjectPage)
    third = store.page(PODS, limit=2, after=second.after)
    assert isinstance(third, ObjectPage)

    assert [[each.key.name for each in page.items] for page in (first, second, third)] == [
        ["a", "b"],
        ["c", "d"],
        ["e"],
    ]
    assert [page.remaining for page in (first, second, third)] == [3, 1, 0]
    assert first.after == Position(5, "default", "b")
    assert third.after is None
    assert store.page(PODS, limit=5) == store.page(PODS)


def test_pages_of_one_list_are_of_one_revision_whatever_happens_between(
    store: ObjectStore,
) -> None:
    store.apply([made(name) for name in ("a", "c", "d", "e", "f")])
    first = store.page(PODS, limit=1)
    assert isinstance(first, ObjectPage)
    store.apply([made("b"), changed("c", "x"), deleted("d"), deleted("e"), made("e", uid="other")])
    store.apply([changed("c", "y"), made(key("c", collection="events")), deleted("a")])
    rest = store.page(PODS, after=first.after)

    assert rest == ObjectPage(
        (
            StoredObject(key("c"), 2, b'{"v":"2","is":"new"}'),
            StoredObject(key("d"), 3, b'{"v":"3","is":"new"}'),
            StoredObject(key("e"), 4, b'{"v":"4","is":"new"}'),
            StoredObject(key("f"), 5, b'{"v":"5","is":"new"}'),
        ),
        revision=5,
    )
    assert store.page(PODS, limit=1, after=Position(5)) == first
    assert names_in(store) == ["b", "c", "e", "f"]


def test_a_list_and_a_watch_from_its_revision_miss_nothing_and_repeat_nothing(
    store: ObjectStore,
) -> None:
    store.apply([made("a"), made("b")])
    page = store.page(PODS)
    assert isinstance(page, ObjectPage)
    store.apply([changed("a", "x"), deleted("b")])

    assert [(each.revision, each.key.name) for each in seen_since(store, page.revision)] == [
        (3, "a"),
        (4, "b"),
    ]


def test_changes_are_those_that_writes_were_answered_with(store: ObjectStore) -> None:
    outcomes = store.apply([made("a"), changed("a", "x"), made("a"), deleted("a"), deleted("a")])
    written = tuple(change_of(each) for each in outcomes if isinstance(each, Written))

    assert seen_since(store, 0) == written
    assert seen_since(store, 1) == written[1:]
    assert len(written) == 3


def test_changes_of_a_collection_and_a_namespace_are_complete_up_to_the_newest_revision(
    store: ObjectStore,
) -> None:
    store.apply([made("a"), made(key("a", namespace="other")), made(key("a", collection="events"))])
    of_pods = store.since(0, collection=PODS)
    of_default = store.since(0, collection=PODS, namespace="default")
    of_all = store.since(1, namespace="default")
    assert isinstance(of_pods, ObjectChanges)
    assert isinstance(of_default, ObjectChanges)
    assert isinstance(of_all, ObjectChanges)

    assert [each.revision for each in of_pods.changes] == [1, 2]
    assert [each.revision for each in of_default.changes] == [1]
    assert [each.revision for each in of_all.changes] == [3]
    assert of_pods.revision == of_default.revision == of_all.revision == 3
    assert store.since(0, collection="nodes") == ObjectChanges((), 3)


def test_changes_come_in_parts_that_follow_each_other(store: ObjectStore) -> None:
    store.apply([made(name) for name in "abcde"])
    seen: list[int] = []
    part = store.since(0, collection=PODS, limit=2)
    while isinstance(part, ObjectChanges):
        seen += [each.revision for each in part.changes]
        assert len(part.changes) <= 2
        if not part.more:
            break
        part = store.since(part.revision, collection=PODS, limit=2)

    assert seen == [1, 2, 3, 4, 5]


def test_a_revision_that_is_yet_to_come_is_waited_for(store: ObjectStore) -> None:
    """api-facts.md 3: a watch with a future resourceVersion is open and silent."""
    store.apply([made("a")])

    assert store.since(9) == ObjectChanges((), 9)


def test_objects_whose_time_has_come_are_named_with_what_deletes_them(store: ObjectStore) -> None:
    store.apply(
        [
            made("late", expires=30),
            made("due", expires=20),
            made("first", expires=10),
            made("kept"),
            made("renewed", expires=10),
            changed("renewed", "x", expires=40),
            made("kept after all", expires=10),
            changed("kept after all", "x"),
            made("gone", expires=10),
            deleted("gone"),
        ]
    )
    due = store.expired(Instant(20), limit=9)

    assert due == [
        DeleteObject(Instant(20), key("first"), 3),
        DeleteObject(Instant(20), key("due"), 2),
    ]
    assert store.expired(Instant(20), limit=1) == due[:1]
    assert revisions_of(store.apply(due)) == [11, 12]
    assert store.expired(Instant(20), limit=9) == []
