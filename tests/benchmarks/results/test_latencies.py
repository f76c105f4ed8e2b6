"""Latencies of many pods."""

from __future__ import annotations

import pytest
from hdrh.histogram import HdrHistogram
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.results.latencies import Latencies
from simulator.core.instants import HOUR, MICROSECOND, MILLISECOND

HUNDRED = [value * MILLISECOND for value in range(1, 101)]


def test_of_1_to_100_ms_the_percentiles_are_their_own_number_to_three_digits() -> None:
    found = Latencies(HUNDRED).percentiles((50, 90, 99, 100))

    assert found == pytest.approx([value * MILLISECOND for value in (50, 90, 99, 100)], rel=1e-3)


@given(st.lists(st.integers(0, 10**13), min_size=1), st.lists(st.floats(0, 100), max_size=4))
def test_percentiles_are_those_of_the_library(
    nanoseconds: list[int], percents: list[float]
) -> None:
    latencies = Latencies(nanoseconds)
    theirs = HdrHistogram.decode(latencies.encoded())

    for percent in (0, 50, 99.9, 100, *percents):
        expected = theirs.get_value_at_percentile(percent) * MICROSECOND
        assert latencies.percentile(percent) == expected


def test_what_is_added_counts_after_a_percentile_was_asked_for() -> None:
    latencies = Latencies([MILLISECOND])
    assert latencies.longest() == MILLISECOND
    before = latencies.encoded()
    latencies.record(2 * MILLISECOND)

    assert latencies.longest() == 2 * MILLISECOND
    assert latencies.encoded() != before
    latencies.add(Latencies([1_024 * MILLISECOND]))
    assert latencies.longest() == pytest.approx(1_024 * MILLISECOND, rel=1e-3)


def test_latencies_of_nothing_are_0() -> None:
    assert Latencies().percentile(99) == 0
    assert Latencies().longest() == 0
    assert list(Latencies().counts()) == []


def test_what_is_longer_than_an_hour_counts_as_an_hour() -> None:
    assert Latencies([3 * HOUR]).longest() == pytest.approx(HOUR, rel=1e-3)


def test_two_add_up_to_what_all_of_both_would_be() -> None:
    together, even = Latencies(HUNDRED[::2]), Latencies(HUNDRED[1::2])
    together.add(even)

    assert together == Latencies(HUNDRED)
    assert len(together) == 100
    assert together != even


def test_the_encoding_is_that_of_hdrhistogram_with_values_in_microseconds() -> None:
    encoded = Latencies(HUNDRED).encoded()
    theirs = HdrHistogram.decode(encoded)

    assert theirs.get_total_count() == 100
    assert theirs.get_value_at_percentile(50) == pytest.approx(50_000, rel=1e-3)
    assert Latencies.decoded(encoded) == Latencies(HUNDRED)


@pytest.mark.parametrize("text", ["", "no base64", "AAAA", Latencies(HUNDRED).encoded()[:-40]])
def test_what_is_no_encoding_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no latencies of Rebind"):
        Latencies.decoded(text)


def test_counts_come_in_order_with_how_often_each_was_recorded() -> None:
    latencies = Latencies([2 * MILLISECOND, MILLISECOND, MILLISECOND])

    values, counts = zip(*latencies.counts(), strict=True)

    assert values == pytest.approx([MILLISECOND, 2 * MILLISECOND], rel=1e-3)
    assert counts == (2, 1)
