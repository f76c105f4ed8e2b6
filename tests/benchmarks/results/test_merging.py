"""Repetitions taken together, and what is noise."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.results.latencies import Latencies
from benchmarks.results.merging import Spread, is_beyond_noise, merge, spread
from benchmarks.results.rows import Measure
from simulator.core.instants import MILLISECOND
from tests.benchmarks.results.example import BATCHED, BIND, CHECKPOINT, DATABASE, row

ROW = row(CHECKPOINT, 100)


def test_of_several_repetitions_the_middle_one_counts() -> None:
    assert spread([3.0, 1.0, 8.0]) == Spread(median=3.0, least=1.0, most=8.0, count=3)


def test_a_repetition_without_the_figure_is_left_out() -> None:
    assert spread([None, 2.0, None]) == Spread(2.0, 2.0, 2.0, 1)
    assert spread([None, None]) is None


def test_repetitions_are_merged_by_setting_and_phase() -> None:
    other = replace(ROW, setting=DATABASE)
    merged = merge([ROW, other, replace(ROW, repetition=2), replace(ROW, phase="storm")])

    assert [(one.setting.persistence, one.phase, len(one.rows)) for one in merged] == [
        ("checkpoint", ROW.phase, 2),
        ("database", ROW.phase, 1),
        ("checkpoint", "storm", 1),
    ]


def test_the_order_in_which_rows_were_measured_does_not_matter() -> None:
    settings = [
        replace(setting, existing=existing)
        for existing in (110, 1_000)
        for setting in (CHECKPOINT, DATABASE, BATCHED, BIND, replace(BIND, qps=50, burst=100))
    ]
    rows = [replace(ROW, setting=setting) for setting in settings]

    assert [one.setting for one in merge(rows)] == settings
    assert [one.setting for one in merge(reversed(rows))] == settings


def test_latencies_of_all_repetitions_are_one_histogram() -> None:
    first = replace(ROW, latencies={Measure.START: Latencies([MILLISECOND])})
    second = replace(ROW, latencies={Measure.START: Latencies([3 * MILLISECOND])})
    (merged,) = merge([first, second])
    together = merged.latencies(Measure.START)

    assert together == Latencies([MILLISECOND, 3 * MILLISECOND])
    assert merged.latencies(Measure.VISIBLE) is None


@pytest.mark.parametrize(
    ("first", "second", "beyond"),
    [
        ([10, 11, 12], [20, 21, 22], True),
        ([20, 21, 22], [10, 11, 12], True),
        ([10, 11, 12], [12, 13, 14], False),
        ([10, 15, 20], [21, 22, 23], False),
        ([10, 10], [11, 11], True),
        ([10, 10], [10, 10], False),
        ([10], [20, 21], None),
        ([10], [20], None),
    ],
)
def test_a_difference_is_more_than_noise_if_repetitions_are_apart_and_close_to_each_other(
    first: list[float], second: list[float], *, beyond: bool | None
) -> None:
    one, other = spread(first), spread(second)
    assert one is not None
    assert other is not None

    assert is_beyond_noise(one, other) is beyond


def test_a_repetition_that_was_cut_counts_only_where_there_is_no_other() -> None:
    cut = replace(ROW, interrupted=True, repetition=2)
    alone = replace(cut, setting=DATABASE)

    assert [one.rows for one in merge([ROW, cut, alone])] == [(ROW,), (alone,)]
