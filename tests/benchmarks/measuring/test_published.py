"""Published figures that a preset gives again."""

from __future__ import annotations

import pytest

from benchmarks.measuring.runs import Run, Runner
from benchmarks.profiles.loading import load_profiles
from benchmarks.profiles.presets import find_profile
from benchmarks.results.rows import Measure, Row
from simulator.core.instants import SECOND


def seen_running(row: Row) -> tuple[float, float]:
    """Return p50 and p99 in seconds."""
    p50, p99 = row.latencies[Measure.RUNNING].percentiles((50, 99))
    return p50 / SECOND, p99 / SECOND


def test_a_burst_of_110_pods_is_seen_running_as_in_the_simple_model() -> None:
    """Persistence designs 4.4: a patch for each status; 0, 1 and 3 calls more for each pod."""
    [loaded] = load_profiles(find_profile("burst-110"), {"COALESCE": "false"})
    profile = loaded.profile
    combinations = profile.combinations()
    run = Run(profile=profile, document={}, combinations=combinations, seed=2, repetitions=1)
    found = {
        (row.setting.qps, row.calls_per_pod): seen_running(row)
        for row in Runner(run).measure().rows
    }

    # Two requests before the start and two after it, beside those that bind.
    assert found.keys() == {(qps, calls) for qps in (5, 50) for calls in (4, 5, 7)}
    for key, expected in {
        (5, 4): (64, 86),
        (5, 5): (86, 108),
        (5, 7): (130, 152),
        (50, 4): (4.7, 6.8),
        (50, 5): (6.9, 9.0),
        (50, 7): (11.3, 13.4),
    }.items():
        assert found[key] == pytest.approx(expected, rel=0.02), key
