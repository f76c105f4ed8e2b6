"""What was written last is remembered, and no more than that."""

from __future__ import annotations

from contextlib import closing

from store.object_cache import ObjectCache, refilled
from store.sql_store import SqlStore
from tests.store.objects import change_of, changed, deleted, key, made


def test_the_oldest_make_room() -> None:
    cache = ObjectCache(bytes_max=1_000)
    cache.keep({("p", "", "a"): (1, 0, b"x" * 300), ("p", "", "b"): (2, 0, b"x" * 200)})
    cache.keep({("p", "", "a"): (3, 0, b"y" * 300)})
    cache.keep({("p", "", "c"): (4, 0, b"x" * 100)})

    assert cache.get(("p", "", "a")) == (3, 0, b"y" * 300)
    assert cache.get(("p", "", "b")) is None
    assert cache.get(("p", "", "c")) == (4, 0, b"x" * 100)


def test_what_is_deleted_makes_room_too() -> None:
    cache = ObjectCache(bytes_max=1_000)
    cache.keep({("p", "", "a"): (1, 0, b"x" * 300), ("p", "", "b"): (2, 0, b"x" * 200)})
    cache.keep({("p", "", "a"): None, ("p", "", "c"): (3, 0, b"x" * 300)})

    assert cache.get(("p", "", "a")) is None
    assert cache.get(("p", "", "b")) == (2, 0, b"x" * 200)


def test_another_revision_takes_the_place_of_all_its_digits() -> None:
    assert refilled((999, 6, b'{"v":"999","v2":"999"}'), 1_000) == b'{"v":"1000","v2":"999"}'
    assert refilled((10, 6, b'{"v":"10"}'), 9) == b'{"v":"9"}'


def test_objects_that_nobody_remembers_are_read(database_url: str) -> None:
    with closing(SqlStore(database_url)) as store:
        store.objects.apply([made("a"), made("b"), made("c")])
        store.objects.cache.clear()
        found = store.objects.get(key("a"))

        assert found is not None
        assert found.body == b'{"v":"1","is":"new"}'
        outcomes = store.objects.apply([changed("b", "x"), deleted("c")])

        assert [change_of(each).previous for each in outcomes] == [
            b'{"v":"2","is":"new"}',
            b'{"v":"3","is":"new"}',
        ]
        assert change_of(outcomes[1]).body == b'{"v":"5","is":"new"}'
