"""Gates: what passes, and what is said about the rest."""

from __future__ import annotations

import pytest

from benchmarks.profiles.gates import Verdict, judge
from benchmarks.results.latencies import Latencies
from benchmarks.results.rows import Measure, Row, Setting, Store
from simulator.cli.commands.bench.gates import tell_gates
from simulator.core.instants import MILLISECOND, SECOND
from tests.benchmarks.profiles.writing import edited, parse

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
