"""Gates: what passes, and what is said about the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from benchmarks.measuring.shortening import with_length
from benchmarks.profiles.gates import Verdict, judge
from benchmarks.results.latencies import Latencies
from benchmarks.results.rows import Measure, Row, Setting, Store
from simulator.cli.commands.bench.gates import tell_gates
from simulator.core.instants import MILLISECOND, MINUTE, SECOND, Duration
from tests.benchmarks.profiles.writing import edited, parse
from tests.benchmarks.results.coursing import slices

GATES = "[{measure: running, percentile: 90, below: 2s}, {achieved: 40}]"
PROFILE = parse(edited("duration: 5m, warmup: 30s", f"duration: 10s, gate: {GATES}")).profile


def row(slowest_seconds: float = 1, *, phase: str = "churn", served: int = 500) -> Row:
    """Return a row of 100 latencies of which the slowest 20 take so long, the others 1 ms."""
    slow = [round(slowest_seconds * SECOND)] * 20
    return Row(
        setting=Setting(persistence="checkpoint", store=Store.FILE),
        phase=phase,
        seconds=10,
        elapsed=10,
        offered=500,
        served=served,
        latencies={Measure.RUNNING: Latencies([MILLISECOND] * 80 + slow)},
    )


def verdicts(*rows: Row) -> list[Verdict]:
    return list(judge(PROFILE, rows))


def test_a_row_passes_below_its_latency_and_at_its_rate() -> None:
    assert [one.passed for one in verdicts(row(1.9, served=400))] == [True, True]


def test_a_row_fails_at_its_latency_and_below_its_rate() -> None:
    assert [one.passed for one in verdicts(row(2, served=399))] == [False, False]


def test_a_percentile_does_not_look_at_what_is_beyond_it() -> None:
    """20 of 100 are slow: the 79th percentile is not, the 90th is."""
    lower = parse(
        edited(
            "duration: 5m, warmup: 30s",
            "duration: 10s, gate: {measure: running, percentile: 79, below: 2s}",
        )
    )

    [verdict] = judge(lower.profile, [row(60)])
    assert verdict.passed


def test_every_repetition_is_judged_and_other_phases_are_not() -> None:
    found = verdicts(row(), row(60), row(phase="storm"))

    assert [one.passed for one in found] == [True, True, False, True]


def test_what_was_not_measured_does_not_pass() -> None:
    empty = Row(
        setting=row().setting, phase="churn", seconds=10, elapsed=10, offered=500, served=500
    )

    latency, rate = verdicts(empty)
    assert (latency.passed, latency.found) == (False, "not measured")
    assert rate.passed


def test_failed_gates_are_told_with_what_was_found(capsys: pytest.CaptureFixture[str]) -> None:
    assert not tell_gates(PROFILE, [row(60), row()])

    assert capsys.readouterr().err.splitlines() == [
        "gate failed: churn: running p90 is 1m0s, wanted below 2s: checkpoint",
        "gates: 1 of 4 do not hold",
    ]


def test_gates_that_hold_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    assert tell_gates(PROFILE, [row()])
    assert capsys.readouterr().err == "gates: 2 of 2 hold\n"


def test_without_gates_nothing_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert tell_gates(PROFILE, [row(phase="storm")])
    assert capsys.readouterr().err == ""


FLAT = parse(
    edited(
        "duration: 5m, warmup: 30s",
        "duration: 5m, gate: {flat: {rate: 5%, p99: 25%, memory: 10%, stored: 10%}}",
    )
).profile


def judged(**figures: Sequence[float]) -> dict[str, Verdict]:
    """Return what the bounds on what drifts say, by what they are of."""
    course = slices(**figures)  # type: ignore[arg-type]
    return {one.name: one for one in judge(FLAT, [replace(row(), over_time=course)])}


def test_what_stays_flat_passes_and_what_gets_better_too() -> None:
    found = judged(served=(1_000, 1_200), p99_ms=(20, 10), memory=(100, 109), stored=(50, 20))

    assert {name: one.passed for name, one in found.items()} == {
        "the change of the rate": True,
        "the change of the p99 of admission": True,
        "the change of memory": True,
        "the change of the size on disk": True,
    }


def test_what_gets_worse_by_more_than_its_bound_fails() -> None:
    found = judged(served=(1_000, 940), p99_ms=(10, 13), memory=(100, 111), stored=(50, 56))

    assert not any(one.passed for one in found.values())
    memory, rate = found["the change of memory"], found["the change of the rate"]
    assert (memory.found, memory.wanted) == ("+11.0% (100MiB to 111MiB)", "at most +10.0%")
    assert (rate.found, rate.wanted) == ("-6.0% (100/s to 94/s)", "at least -5.0%")


def test_what_was_not_sliced_is_not_flat() -> None:
    assert [one.passed for one in judge(FLAT, [row()])] == [False] * 4


def test_the_memory_of_an_api_server_counts_where_there_is_one() -> None:
    grown = [replace(one, server_memory=one.memory) for one in slices(memory=(100, 200))]
    found = [
        one.name for one in judge(FLAT, [replace(row(), over_time=tuple(grown))]) if not one.passed
    ]

    assert found == ["the change of memory", "the change of the API server's memory"]


def test_a_run_that_is_too_short_to_drift_is_not_asked_to_be_flat() -> None:
    [short] = [one for one in with_length(FLAT, Duration(2 * SECOND)).phases if one.name == "churn"]
    [long] = [one for one in with_length(FLAT, Duration(MINUTE)).phases if one.name == "churn"]

    assert (len(short.gates), len(long.gates)) == (0, 5)


def test_a_bound_that_is_low_does_not_pass() -> None:
    """11 of 100 pods were never seen running: nobody knows their 90th percentile."""
    never = replace(row(), unreached={Measure.RUNNING: 11})
    few = replace(row(), unreached={Measure.RUNNING: 10})

    latency, _ = verdicts(never)
    assert (latency.passed, latency.found) == (False, "at least 1s, as pods never came so far")
    assert [one.passed for one in verdicts(few)] == [True, True]


def test_where_nothing_is_served_nothing_is_flat() -> None:
    """The rate is the same all the time, and pods that never come wait less and less long."""
    rate = judged(served=(0,), p99_ms=(20, 10))["the change of the rate"]

    assert (rate.passed, rate.found) == (False, "nothing served in its first third")


@pytest.mark.parametrize(("refused", "passed"), [(1, True), (2, False)])
def test_a_p99_that_nobody_knows_is_not_flat(refused: int, *, passed: bool) -> None:
    """Of 100 pods some were refused: of two of them nobody knows how late the 99th is."""
    known = {Measure.ADMISSION: Latencies([MILLISECOND] * 100)}
    unreached = {Measure.ADMISSION: refused}
    long = replace(row(), latencies=known, unreached=unreached, over_time=slices())
    found = {one.name: one for one in judge(FLAT, [long])}

    assert found["the change of the p99 of admission"].passed is passed
    assert found["the change of the rate"].passed
