"""Arrivals follow the clock, not the server."""

from __future__ import annotations

import pytest

from benchmarks.open_loop import Latencies, poisson_arrivals


def test_the_same_seed_gives_the_same_schedule() -> None:
    assert list(poisson_arrivals(100, 1, seed=7)) == list(poisson_arrivals(100, 1, seed=7))
    assert list(poisson_arrivals(100, 1, seed=7)) != list(poisson_arrivals(100, 1, seed=8))


def test_arrivals_ascend_and_keep_the_rate() -> None:
    arrivals = list(poisson_arrivals(1_000, 10, seed=1))

    assert arrivals == sorted(arrivals)
    assert arrivals[-1] < 10_000_000_000
    # 10,000 expected; the standard deviation of a Poisson count is its root, 100.
    assert 9_500 < len(arrivals) < 10_500


def test_percentiles_are_of_what_was_recorded() -> None:
    latencies = Latencies()
    for milliseconds in range(1, 101):
        latencies.record(milliseconds * 1_000_000)

    assert len(latencies) == 100
    assert latencies.percentile_ms(50) == pytest.approx(50, rel=0.001)
    assert latencies.percentile_ms(99) == pytest.approx(99, rel=0.001)


def test_a_latency_below_a_microsecond_counts_as_one() -> None:
    latencies = Latencies()
    latencies.record(0)

    assert latencies.percentile_ms(50) == 0.001
