"""The limit of PodResources as Go's limiter keeps it (S8.3)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from simulator.core.behavior import Behavior
from simulator.core.instants import MILLISECOND, SECOND, Instant
from simulator.core.pod_resources import call_limit
from simulator.core.switches import behavior_for
from simulator.core.token_bucket import TokenBucket

START = Instant(5 * SECOND)


def full() -> TokenBucket:
    limit = call_limit(Behavior(), START)
    assert limit is not None
    return limit


def taken(bucket: TokenBucket, *times: int) -> list[bool]:
    """Return which of the calls at these instants are allowed."""
    answers = []
    for at in times:
        allowed, bucket = bucket.take(Instant(START + at))
        answers.append(allowed)
    return answers


def test_ten_calls_at_once_are_allowed_and_the_eleventh_is_not() -> None:
    assert taken(full(), *[0] * 11) == [True] * 10 + [False]


def test_a_token_comes_back_every_ten_milliseconds() -> None:
    times = [*[0] * 10, 9_999_999, 10 * MILLISECOND, 10 * MILLISECOND, 30 * MILLISECOND]

    assert taken(full(), *times)[10:] == [False, True, False, True]


def test_what_is_saved_up_is_ten_calls_however_long_nobody_calls() -> None:
    assert sum(taken(full(), *[3600 * SECOND] * 30)) == 10


def test_a_refused_call_takes_nothing() -> None:
    assert taken(full(), *[0] * 500, 10 * MILLISECOND)[-1]


def test_a_thousand_calls_a_second_get_a_hundred_and_the_burst() -> None:
    times = [MILLISECOND * step for step in range(3_000)]

    assert sum(taken(full(), *times)) == 10 + 299


def test_an_instant_before_the_last_one_gives_nothing_back() -> None:
    assert taken(full(), *[SECOND] * 10, 0, SECOND) == [True] * 10 + [False, False]


def test_up_to_1_26_there_is_no_limit() -> None:
    """PR 116459."""
    assert call_limit(behavior_for("1.26.15"), START) is None
    assert call_limit(behavior_for("1.27.0"), START) is not None


@given(st.lists(st.integers(0, 40 * MILLISECOND), max_size=60))
def test_it_allows_what_a_bucket_of_whole_tokens_would(gaps: list[int]) -> None:
    """A naive model: one token more at each multiple of 10 ms since the bucket was last full."""
    bucket, now, model_from, model_used = full(), 0, 0, 0
    for gap in gaps:
        now += gap
        back = (now - model_from) // (10 * MILLISECOND)
        if model_used - back <= 0:
            model_from, model_used, back = now, 0, 0
        expected = model_used - back < 10
        allowed, bucket = bucket.take(Instant(START + now))
        assert allowed == expected
        model_used += allowed
