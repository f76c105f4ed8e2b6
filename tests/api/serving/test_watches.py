"""What a watch is told, folded, is what is there: for every part, from every revision."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.api.dialect.kinds import PODS
from simulator.api.serving import watches
from simulator.api.serving.events import ADDED, DELETED, MODIFIED, Event
from simulator.api.serving.shelves import Shelf
from simulator.api.serving.stored import Place, Stored
from simulator.api.serving.watches import Scope, Watch, WatchHub

PLACES = [(namespace, name) for namespace in ("a", "b") for name in ("x", "y")]
NODES = ["n0", "n1", ""]


def an_object(place: Place, node: str, revision: int) -> Stored:
    return Stored(PODS, *place, node, revision, b"{}")


def is_odd(stored: Stored) -> bool:
    return stored.revision % 2 == 1


def every(_: Stored) -> bool:
    return True


class Cluster:
    """A shelf with its hub; a change raises the revision by one."""

    def __init__(self, events_max: int = 1_000) -> None:
        self.shelf = Shelf(PODS, events_max=events_max)
        self.hub = WatchHub()
        self.revision = 0

    def change(self, place: Place, node: str | None) -> None:
        """Put a pod on a node, or remove it."""
        if node is None and self.shelf.get(place) is None:
            return
        self.revision += 1
        new = None if node is None else an_object(place, node, self.revision)
        old = self.shelf.remove(place) if new is None else self.shelf.put(new)
        event, number = Event(self.revision, old, new), self.shelf.window.end
        self.shelf.window.append(event)
        self.hub.tell(self.shelf, event, number)

    def watch(self, scope: Scope, revision: int | None = None) -> Watch:
        watch = self.hub.watch(self.shelf, scope, revision=revision)
        assert watch is not None
        return watch

    def seen(self, scope: Scope) -> dict[Place, int]:
        return {each.place: each.revision for each in self.shelf.all_in() if scope.contains(each)}


def take_all(watch: Watch) -> list[tuple[str, Stored, int]]:
    told: list[tuple[str, Stored, int]] = []
    while True:
        some = watch.take()
        assert some is not None
        if not some and not watch.is_behind:
            return told
        told += [(each.type, each.state, each.event.revision) for each in some]


def follow(state: dict[Place, int], told: list[tuple[str, Stored, int]]) -> None:
    """Fold what was told into a state; each type must fit what is there."""
    for kind, stored, revision in told:
        if kind == DELETED:
            del state[stored.place]
        else:
            assert (kind == ADDED) == (stored.place not in state)
            assert stored.revision == revision
            state[stored.place] = stored.revision


changes = st.lists(st.tuples(st.sampled_from(PLACES), st.sampled_from([*NODES, None])), max_size=30)
scopes = st.builds(
    Scope,
    st.sampled_from(["", "a"]),
    st.sampled_from(["", "x"]),
    st.sampled_from(["", "n0"]),
    st.sampled_from([every, is_odd]),
)


@given(changes, changes, scopes, st.integers(1, 4))
def test_what_a_watch_is_told_leads_from_the_state_it_began_at_to_the_present_one(
    before: list[tuple[Place, str | None]],
    after: list[tuple[Place, str | None]],
    scope: Scope,
    often: int,
) -> None:
    cluster = Cluster()
    for change in before:
        cluster.change(*change)
    state, begun = cluster.seen(scope), cluster.revision
    watch = cluster.watch(scope)
    late_states = {}
    revisions: list[int] = []
    for number, change in enumerate(after):
        late_states[cluster.revision] = cluster.seen(scope)
        cluster.change(*change)
        if number % often == 0:
            told = take_all(watch)
            revisions += [revision for _, _, revision in told]
            follow(state, told)
            assert state == cluster.seen(scope)
    told = take_all(watch)
    follow(state, told)
    revisions += [revision for _, _, revision in told]

    assert state == cluster.seen(scope)
    assert revisions == sorted(set(revisions))
    assert all(revision > begun for revision in revisions)
    for revision, late_state in late_states.items():
        follow(late_state, take_all(cluster.watch(scope, revision)))
        assert late_state == cluster.seen(scope)


def test_an_object_that_leaves_the_part_is_deleted_as_it_was_and_one_that_enters_is_added() -> None:
    cluster = Cluster()
    cluster.change(("a", "x"), "n1")
    watch = cluster.watch(Scope("", "", "n0", every))
    for node in ("n0", "n0", "n1", "n1", "n0", None):
        cluster.change(("a", "x"), node)

    told = [(kind, stored.node, stored.revision) for kind, stored, _ in take_all(watch)]
    assert told == [
        (ADDED, "n0", 2),
        (MODIFIED, "n0", 3),
        (DELETED, "n0", 3),
        (ADDED, "n0", 6),
        (DELETED, "n0", 6),
    ]


def test_a_watch_from_the_future_is_silent_until_then() -> None:
    cluster = Cluster()
    watch = cluster.watch(Scope("", "", "", every), 3)
    for _ in range(5):
        cluster.change(("a", "x"), "n0")

    assert [revision for _, _, revision in take_all(watch)] == [4, 5]


def test_a_slow_watch_loses_its_place_and_one_that_sees_nothing_of_it_does_not() -> None:
    cluster = Cluster(events_max=5)
    slow = cluster.watch(Scope("", "", "n0", every))
    quiet = cluster.watch(Scope("", "", "n1", every))
    assert (slow.take(), quiet.take()) == ((), ())
    for _ in range(7):
        cluster.change(("a", "x"), "n0")
    cluster.change(("a", "y"), "n1")

    assert slow.take() is None
    assert [each.event.revision for each in quiet.take() or ()] == [8]
    assert cluster.hub.watch(cluster.shelf, Scope("", "", "", every), revision=2) is None


def test_a_watch_looks_at_a_bounded_number_of_events_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(watches, "LOOKED_AT_MAX", 4)
    cluster = Cluster()
    watch = cluster.watch(Scope("", "", "", every))
    for _ in range(10):
        cluster.change(("a", "x"), "n0")

    assert [len(watch.take() or ()) for _ in range(4)] == [4, 4, 2, 0]


def test_a_watch_that_sees_nothing_of_many_events_lets_others_have_their_turn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All watches are on one loop: one that looks at 65,536 events at once stops the server."""
    monkeypatch.setattr(watches, "LOOKED_AT_MAX", 2)
    looked_at: list[int] = []

    def none(stored: Stored) -> bool:
        looked_at.append(stored.revision)
        return False

    cluster = Cluster()
    for number in range(9):
        cluster.change(("a", f"n{number}"), "n0")
    watch = cluster.watch(Scope("", "", "", none), revision=0)
    assert watch.take() == ()
    assert looked_at == [1, 2]
    assert watch.is_behind
    assert take_all(watch) == []
    assert looked_at == [*range(1, 10)]
    assert not watch.is_behind


def test_only_who_may_be_concerned_is_woken_and_everybody_when_the_server_ends() -> None:
    async def run() -> list[str]:
        cluster = Cluster()
        woken: list[str] = []
        scopes = {
            "all": Scope("", "", "", every),
            "n0": Scope("", "", "n0", every),
            "b": Scope("b", "", "", every),
            "x": Scope("a", "x", "", every),
        }
        found = {name: cluster.watch(scope) for name, scope in scopes.items()}

        async def wait(name: str) -> None:
            found[name].take()
            await found[name].wait(60)
            woken.append(name)

        waiting = [asyncio.create_task(wait(name)) for name in scopes]
        await asyncio.sleep(0)
        cluster.change(("a", "y"), "n1")
        await asyncio.sleep(0)
        assert woken == ["all"]
        cluster.change(("a", "x"), "n0")
        await asyncio.sleep(0)
        assert sorted(woken) == ["all", "n0", "x"]
        cluster.hub.end_all()
        await asyncio.gather(*waiting)
        for watch in found.values():
            watch.close()
        assert len(cluster.hub) == 0
        return woken

    assert sorted(asyncio.run(run())) == ["all", "b", "n0", "x"]
