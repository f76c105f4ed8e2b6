"""Two runs against each other."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.results.comparing import compare
from benchmarks.results.quantities import ACHIEVED, FSYNCS_EACH, P50, P99, START_P99
from benchmarks.results.rows import MachineFacts, MachineLoad, Measure, Result
from tests.benchmarks.results.example import BIND, CHECKPOINT, DATABASE, example
from tests.benchmarks.results.made import made, repeated

EMPTY = example(settings=())
FIRST = replace(EMPTY, rows=repeated(CHECKPOINT, [10, 11, 12]).rows, expected_rows=3)


def with_rows(*start: float) -> Result:
    return replace(FIRST, rows=repeated(CHECKPOINT, start).rows)


def test_rows_are_matched_by_setting_and_phase_and_their_medians_divided() -> None:
    comparison = compare(FIRST, with_rows(20, 22, 24))
    (matched,) = comparison.matched
    start = matched.change(START_P99)

    assert start is not None
    assert start.ratio == pytest.approx(2.0, rel=1e-3)
    assert start.worse_by == pytest.approx(1.0, rel=2e-3)
    assert start.is_beyond is True
    assert matched.change(FSYNCS_EACH) is None
    assert comparison.warnings == ()


def test_what_overlaps_is_noise() -> None:
    (matched,) = compare(FIRST, with_rows(11, 12, 13)).matched
    start = matched.change(START_P99)

    assert start is not None
    assert start.is_beyond is False


def test_one_repetition_does_not_tell() -> None:
    (matched,) = compare(FIRST, with_rows(50)).matched
    start = matched.change(START_P99)

    assert start is not None
    assert start.is_beyond is None


def test_a_lower_rate_is_worse_and_a_lower_latency_is_better() -> None:
    first = replace(FIRST, rows=(made(CHECKPOINT, admission=20),))
    second = replace(FIRST, rows=(made(CHECKPOINT, served=0.5, admission=10),))
    (matched,) = compare(first, second).matched
    rate, tail = matched.change(ACHIEVED), matched.change(P99)

    assert rate is not None
    assert rate.worse_by == pytest.approx(0.5)
    assert tail is not None
    assert tail.worse_by == pytest.approx(-0.5, rel=1e-3)


def test_a_count_from_nothing_to_something_is_infinitely_worse() -> None:
    row = made(CHECKPOINT)
    first = replace(FIRST, rows=(replace(row, fsyncs=0),))
    (matched,) = compare(first, replace(FIRST, rows=(replace(row, fsyncs=100),))).matched
    fsyncs = matched.change(FSYNCS_EACH)

    assert fsyncs is not None
    assert fsyncs.ratio is None
    assert fsyncs.worse_by == float("inf")
    (same,) = compare(first, first).matched
    none = same.change(FSYNCS_EACH)
    assert none is not None
    assert none.ratio == 1.0


def test_only_what_is_worse_by_more_and_no_noise_counts() -> None:
    slower = compare(FIRST, with_rows(20, 22, 24))
    noisy = compare(FIRST, with_rows(11, 12, 13))

    assert {change.quantity.key for _, change in slower.worse(0.5)} == {
        *("admissionP50Ns", "admissionP99Ns", "startP99Ns")
    }
    assert list(slower.worse(1.5)) == []
    assert list(noisy.worse(0.01)) == []


def test_rows_of_one_run_alone_are_named() -> None:
    second = replace(FIRST, rows=(made(DATABASE, start=10), made(BIND, start=10)))
    comparison = compare(FIRST, second)

    assert comparison.matched == ()
    assert [one.setting for one in comparison.only_first] == [CHECKPOINT]
    assert [one.setting for one in comparison.only_second] == [DATABASE, BIND]


def test_what_makes_runs_hard_to_compare_is_told() -> None:
    machine = MachineFacts(processor="Other Processor", cpus=64, system="Linux 6.12")
    second = replace(
        FIRST,
        machine=machine,
        seed=8,
        profile={"kind": "ChurnProfile"},
        versions=dict(FIRST.versions) | {"rebind": "0.1"},
        rows=FIRST.rows[:2],
    )

    assert compare(FIRST, second).warnings == (
        (
            "the machines differ: processor Example Processor 9 against Other Processor, "
            "CPUs 2 against 64, file system ext4 against None"
        ),
        "the profiles differ (example, example), so the load is not the same",
        "the seeds differ (7, 8), so the schedules do",
        "the versions differ: rebind 0.0 against 0.1",
        "the second: this run was cut: 2 of 3 rows, what was measured until then",
    )


def test_another_number_of_pods_is_told_though_the_profile_is_the_same() -> None:
    """Of `--seconds`, and of a share of what a ramp has found, the profile tells nothing."""
    rows = [made(CHECKPOINT, phase=phase, rate=rate) for phase, rate in (("a", 100), ("b", 100))]
    first = replace(FIRST, rows=tuple(rows), expected_rows=2)
    second = replace(first, rows=(rows[0], replace(rows[1], offered=120)))

    assert compare(first, second).warnings == ("another number of pods came in 1 of 2 rows (b)",)
    assert compare(first, first).warnings == ()


def test_a_busy_machine_makes_a_run_hard_to_compare() -> None:
    busy = replace(FIRST, noise=replace(FIRST.noise, before=MachineLoad(0.1, 0.3)))

    assert compare(FIRST, busy).warnings == (
        "the second: other machines took more than 5% of the CPU time",
    )


def test_bounds_are_compared_as_bounds() -> None:
    row = made(CHECKPOINT, admission=20)
    first = replace(FIRST, rows=(row,))
    second = replace(FIRST, rows=(replace(row, unreached={Measure.ADMISSION: 10}),))
    (matched,) = compare(first, second).matched
    tail, middle = matched.change(P99), matched.change(P50)

    assert tail is not None
    assert middle is not None
    assert (tail.are_bounds, middle.are_bounds) == ((False, True), (False, False))
