"""The scale of time."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from simulator.core.instants import MILLISECOND, MINUTE, SECOND, Instant
from simulator.reports.pages.timeline_data import rough_duration
from simulator.reports.timelines.axis import axis


def at(*instants: int) -> list[Instant]:
    return [Instant(instant) for instant in instants]


def test_milliseconds_within_minutes_stay_readable() -> None:
    """Two milliseconds at either side of two minutes: each has room, the minutes have not much."""
    ms = int(MILLISECOND)
    scale = axis(at(0, ms, 2 * ms, 2 * MINUTE, 2 * MINUTE + ms, 2 * MINUTE + 2 * ms))
    rooms = [right.position - left.position for left, right in pairwise(scale.stops)]

    assert min(rooms) >= 10
    assert rooms[2] == max(rooms)
    assert rooms[2] < 60


def test_a_long_gap_is_a_break_and_says_how_long() -> None:
    scale = axis(at(0, MILLISECOND, 2 * MILLISECOND, 90 * SECOND, 90 * SECOND + MILLISECOND))

    assert [stop.gap for stop in scale.stops] == [None, None, 89_998 * MILLISECOND, None, None]


def test_longer_gaps_have_more_room() -> None:
    scale = axis(at(0, MILLISECOND, 3 * MILLISECOND, 13 * MILLISECOND))
    rooms = [right.position - left.position for left, right in pairwise(scale.stops)]

    assert rooms == sorted(rooms)
    assert [stop.gap for stop in scale.stops] == [None] * 4


def test_no_or_one_instant_is_a_scale_too() -> None:
    assert axis([]).stops == ()
    assert axis(at(7)).width > axis(at(7)).stops[0].position > 0


@given(st.sets(st.integers(min_value=0, max_value=2**62), min_size=1, max_size=2_000))
def test_the_order_of_time_is_the_order_on_the_scale(instants: set[int]) -> None:
    scale = axis(at(*sorted(instants)))
    positions = [stop.position for stop in scale.stops]

    assert positions == sorted(positions)
    assert len(positions) == len(instants)
    assert scale.width <= 4_100


def test_the_length_of_a_break_is_given_to_three_digits() -> None:
    assert rough_duration(3_931_930_000) == "3.93s"
    assert rough_duration(90 * SECOND) == "1m30s"
    assert rough_duration(999_999) == "1ms"
    assert rough_duration(0) == "0s"
