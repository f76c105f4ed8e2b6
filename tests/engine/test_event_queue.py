from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.core.instants import HOUR, Instant
from simulator.engine.event_queue import EventQueue
from simulator.engine.streams import RandomStreams


def drain(queue: EventQueue[int]) -> list[tuple[int, int]]:
    return [queue.pop() for _ in range(len(queue))]


def test_events_of_one_instant_leave_by_priority_then_in_the_order_of_their_arrival() -> None:
    queue: EventQueue[str] = EventQueue()
    queue.push(Instant(5), "later")
    queue.push(Instant(1), "low", priority=3)
    queue.push(Instant(1), "first")
    queue.push(Instant(1), "second")

    assert [queue.pop()[1] for _ in range(4)] == ["first", "second", "low", "later"]
    assert queue.next_at() is None


def test_taking_from_an_empty_queue_is_an_error() -> None:
    with pytest.raises(IndexError):
        EventQueue().pop()


def test_an_event_pushed_into_the_bucket_being_drained_takes_its_place() -> None:
    queue: EventQueue[int] = EventQueue()
    for at in (10, 30, 50):
        queue.push(Instant(at), at)

    assert queue.pop() == (10, 10)

    queue.push(Instant(40), 40)
    queue.push(Instant(20), 20)

    assert queue.next_at() == 20
    assert [at for at, _ in drain(queue)] == [20, 30, 40, 50]


def test_an_event_before_the_next_one_looked_at_still_comes_first() -> None:
    queue: EventQueue[int] = EventQueue()
    queue.push(Instant(HOUR), 2)

    assert queue.next_at() == Instant(HOUR)

    queue.push(Instant(1), 1)

    assert queue.next_at() == 1
    assert [item for _, item in drain(queue)] == [1, 2]


ACTIONS = st.lists(
    st.one_of(
        st.none(),
        st.tuples(
            st.one_of(
                st.integers(0, 50), st.integers(0, 5_000_000), st.integers(0, 10_000_000_000_000)
            ),
            st.integers(0, 2),
        ),
    ),
    max_size=200,
)


@given(ACTIONS)
def test_the_queue_agrees_with_a_sorted_list(actions: list[tuple[int, int] | None]) -> None:
    queue: EventQueue[int] = EventQueue()
    naive: list[tuple[int, int, int]] = []
    now = 0
    for sequence, action in enumerate(actions):
        if action is not None:
            at, priority = now + action[0], action[1]
            queue.push(Instant(at), sequence, priority)
            naive.append((at, priority, sequence))
            naive.sort()
        elif naive:
            at, _, item = naive.pop(0)
            now = at
            assert queue.next_at() == at
            assert queue.pop() == (at, item)
        assert len(queue) == len(naive)

    assert drain(queue) == [(at, item) for at, _, item in naive]


def test_order_survives_the_widening_of_thin_buckets() -> None:
    chance = RandomStreams(7).stream("times")
    queue: EventQueue[int] = EventQueue()
    naive: list[tuple[int, int]] = []
    queue.push(Instant(0), -1)
    queue.pop()
    for item in range(30_000):
        at = chance.randrange(50 * HOUR)
        queue.push(Instant(at), item)
        naive.append((at, item))

    assert drain(queue) == sorted(naive)


def test_order_survives_a_widening_in_the_middle_of_a_bucket() -> None:
    queue: EventQueue[int] = EventQueue()
    queue.push(Instant(1), 1)
    queue.push(Instant(3), 3)
    assert queue.pop() == (1, 1)
    expected = [(3, 3)]
    for item in range(10, 20_000):
        at = item * 2_000_000
        queue.push(Instant(at), item)
        expected.append((at, item))

    assert drain(queue) == expected
