"""Lists are of one revision, whatever happens meanwhile: compared with copies of every state."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.api.dialect.kinds import PODS
from simulator.api.serving.events import Event, Window
from simulator.api.serving.shelves import Asked, Shelf
from simulator.api.serving.stored import Place, Stored

NODES = ["n0", "n1", ""]
PLACES = [(namespace, name) for namespace in ("a", "b") for name in ("x", "y", "z")]


def an_object(place: Place, revision: int) -> Stored:
    body = b'{"metadata":{"resourceVersion":"%d"}}' % revision
    return Stored(PODS, *place, NODES[revision % len(NODES)], revision, body)


def on_n0(stored: Stored) -> bool:
    return stored.node == "n0"


def everything(_: Stored) -> bool:
    return True


class History:
    """A shelf, and what it held at every revision."""

    def __init__(self, events_max: int = 1_000) -> None:
        self.shelf = Shelf(PODS, events_max=events_max)
        self.states: list[dict[Place, int]] = [{}]

    def put(self, place: Place) -> None:
        revision = len(self.states)
        new = an_object(place, revision)
        old = self.shelf.put(new)
        self.shelf.window.append(Event(revision, old, new))
        self.states.append({**self.states[-1], place: revision})

    def remove(self, place: Place) -> None:
        if place not in self.states[-1]:
            return
        revision = len(self.states)
        old = self.shelf.remove(place)
        self.shelf.window.append(Event(revision, old, None))
        self.states.append({k: v for k, v in self.states[-1].items() if k != place})

    def read(self, asked: Asked = Asked()) -> dict[Place, int] | None:
        part = self.shelf.part(everything, asked)
        return None if part is None else {each.place: each.revision for each in part.items}


steps = st.lists(st.tuples(st.booleans(), st.sampled_from(PLACES)), max_size=40)


@given(steps)
def test_a_list_of_a_former_revision_is_what_was_there_then(
    taken: list[tuple[bool, Place]],
) -> None:
    history = History()
    for is_put, place in taken:
        (history.put if is_put else history.remove)(place)
        assert history.read() == history.states[-1]

    for revision, state in enumerate(history.states):
        seen = history.read(Asked(revision=revision))
        assert seen == state
        assert list(seen or ()) == sorted(state)


@given(steps, steps, st.integers(1, 3))
def test_the_parts_of_a_list_make_one_state_whatever_happens_in_between(
    before: list[tuple[bool, Place]], between: list[tuple[bool, Place]], limit: int
) -> None:
    history = History()
    for is_put, place in before:
        (history.put if is_put else history.remove)(place)
    state, revision = history.states[-1], len(history.states) - 1
    seen: dict[Place, int] = {}
    part = history.shelf.part(everything, Asked(limit=limit, counted=True))
    while part is not None:
        assert part.remaining is None or part.remaining == len(state) - len(seen) - len(part.items)
        seen |= {each.place: each.revision for each in part.items}
        if part.after is None:
            break
        for is_put, place in between:
            (history.put if is_put else history.remove)(place)
        part = history.shelf.part(everything, Asked("", revision, part.after, limit, counted=True))

    assert seen == state


@given(steps, st.sampled_from(["a", "b"]))
def test_a_list_of_a_namespace_shows_that_namespace(
    taken: list[tuple[bool, Place]], namespace: str
) -> None:
    history = History()
    for is_put, place in taken:
        (history.put if is_put else history.remove)(place)

    wanted = {place: at for place, at in history.states[-1].items() if place[0] == namespace}
    assert history.read(Asked(namespace)) == wanted
    assert [each.place for each in history.shelf.all_in(namespace)] == sorted(wanted)


@given(steps, st.sampled_from(["", "a"]), st.integers(0, 2))
def test_a_list_of_a_node_is_found_without_looking_at_the_others(
    taken: list[tuple[bool, Place]], namespace: str, limit: int
) -> None:
    history = History()
    for is_put, place in taken:
        (history.put if is_put else history.remove)(place)

    plain = history.shelf.part(on_n0, Asked(namespace, limit=limit))
    by_node = history.shelf.part(on_n0, Asked(namespace, limit=limit, node="n0"))
    assert by_node == plain
    every = history.shelf.part(on_n0)
    assert every is not None
    assert history.shelf.on_node("n0") == every.items


def test_a_list_from_before_the_oldest_event_cannot_be_told() -> None:
    history = History(events_max=2)
    for name in ("x", "y", "z"):
        history.put(("a", name))

    assert history.read(Asked(revision=0)) is None
    assert history.read(Asked(revision=1)) == {("a", "x"): 1}


@pytest.mark.parametrize(("revision", "number"), [(0, 0), (1, 1), (2, 1), (9, 3), (10, 4), (99, 4)])
def test_the_first_event_after_a_revision_is_found_between_those_that_are_not_there(
    revision: int, number: int
) -> None:
    window = Window(0)
    for at in (1, 5, 9, 10):
        window.append(Event(at, None, an_object(("a", "x"), at)))

    assert window.number_after(revision) == number


def test_a_window_forgets_the_oldest_beyond_its_number_and_its_bytes() -> None:
    few = Window(0, events_max=3)
    small = Window(0, bytes_max=3 * len(an_object(("a", "x"), 1).body))
    for revision in range(1, 10):
        event = Event(revision, None, an_object(("a", "x"), revision))
        few.append(event)
        small.append(event)

    for window in (few, small):
        assert window.floor == 6
        assert window.number_after(5) is None
        assert [each.revision for each in window.since(6) or ()] == [7, 8, 9]
        number = window.number_after(7)
        assert number is not None
        assert [each.revision for each in window.from_number(number, 9) or ()] == [8, 9]
        assert window.from_number(number - 3, 9) is None
