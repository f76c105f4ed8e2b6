"""A whole run: in turns, in an order from the seed, repeatable in virtual time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from benchmarks.measuring.runs import Run, Runner
from benchmarks.results.progress import Progress
from benchmarks.results.rows import Result
from tests.benchmarks.measuring.runs import Written

_RESULT = """
from dataclasses import replace
from benchmarks.measuring.runs import Runner
from benchmarks.results.documents import result_text
from benchmarks.results.rows import MachineLoad, Noise
from tests.benchmarks.measuring.test_runs import MANY, run_of
result = Runner(run_of(MANY)).measure()
noise = Noise(fsync=None, before=MachineLoad(0.0))
print(result_text(replace(result, started="2026-01-01T00:00:00Z", noise=noise)))
"""

MANY = Written(
    persistence="[checkpoint, database]",
    matrix="addedFsync: [0ms, 1ms, 2ms]",
    phases="- {name: churn, load: load, pods: pod, duration: 200ms}",
)


def run_of(written: Written, *, seed: int = 3, repetitions: int = 1) -> Run:
    """Return the run of a profile."""
    profile = written.profile()
    return Run(
        profile=profile,
        document={},
        combinations=profile.combinations(),
        seed=seed,
        repetitions=repetitions,
    )


def test_repetitions_take_turns_in_an_order_that_follows_from_the_seed() -> None:
    turns = run_of(MANY, repetitions=3).turns()
    by_repetition = [[each for number, each in turns if number == one] for one in (1, 2, 3)]

    assert [number for number, _ in turns] == [1] * 6 + [2] * 6 + [3] * 6
    assert all(set(map(str, each)) == set(map(str, by_repetition[0])) for each in by_repetition)
    assert len({tuple(map(str, each)) for each in by_repetition}) > 1
    assert turns == run_of(MANY, repetitions=3).turns()
    assert turns != run_of(MANY, seed=4, repetitions=3).turns()


def test_every_row_is_kept_as_soon_as_it_is_there() -> None:
    kept: list[Result] = []
    result = Runner(run_of(MANY, repetitions=2), kept=kept.append).measure()

    assert [len(each.rows) for each in kept] == [*range(1, 13), 12]
    assert (result.is_complete, result.expected_rows) == (True, 12)
    assert sorted({row.repetition for row in result.rows}) == [1, 2]
    assert result.noise.after is not None


def test_ctrl_c_keeps_what_was_measured() -> None:
    kept: list[Result] = []

    def keep(result: Result) -> None:
        kept.append(result)
        if len(result.rows) == 2 and result.noise.after is None:
            signal.raise_signal(signal.SIGINT)

    runner = Runner(run_of(MANY), kept=keep)
    with pytest.raises(KeyboardInterrupt):
        runner.measure()

    assert len(kept[-1].rows) == 2
    assert not runner.result.is_complete


def test_a_phase_that_is_cut_by_ctrl_c_has_a_row_that_says_so() -> None:
    """In the middle of a phase on the real clock, from the progress that is told meanwhile."""
    written = Written(
        clock="real",
        load="{qpsLoad: {qps: 50}}",
        lifetime="1h",
        devices=500,
        phases="- {name: churn, load: load, pods: pod, duration: 60s}",
    )

    def interrupt(progress: Progress) -> None:
        if progress.rate:
            signal.raise_signal(signal.SIGINT)

    runner = Runner(run_of(written), progress=interrupt)
    with pytest.raises(KeyboardInterrupt):
        runner.measure()
    [row] = runner.result.rows

    assert row.interrupted
    assert 0 < row.served <= row.offered
    assert row.seconds < 30
    assert not runner.result.is_complete


def test_virtual_time_gives_the_same_bytes_for_the_same_seed() -> None:
    """Whatever the hash seed of the interpreter is."""
    first, second = (
        subprocess.run(  # noqa: S603 - our own modules
            [sys.executable, "-c", _RESULT],
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
        ).stdout
        for seed in ("1", "2")
    )

    assert first.count(b"admission") >= 6
    assert first == second
