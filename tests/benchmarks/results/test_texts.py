"""What the terminal shows of a run: histogram, noise, progress, names, CSV."""

from __future__ import annotations

import csv
from dataclasses import replace

import pytest

from benchmarks.results.latencies import Latencies
from benchmarks.results.naming import Naming
from benchmarks.results.noise_text import fsync_line, incomplete_line, machine_line, noise_line
from benchmarks.results.progress import Progress, progress_line
from benchmarks.results.quantities import Form, ratio_text, text
from benchmarks.results.rows import ApiCallCount, MachineLoad, Measure
from benchmarks.results.sheet import csv_text
from benchmarks.results.text_histogram import text_histogram
from simulator.core.instants import MICROSECOND, MILLISECOND, SECOND, Duration
from tests.benchmarks.results.example import BATCHED, BIND, CHECKPOINT, DATABASE, FLUSHED, example
from tests.benchmarks.results.made import latencies_ms, made

RUN = example(settings=(CHECKPOINT, BIND), rates=(100,), repetitions=1)


def test_a_histogram_has_a_bar_for_each_step_of_1_2_5() -> None:
    latencies = latencies_ms(*[0.9] * 50, *[1.5] * 25, *[9] * 25)

    assert text_histogram([("database", latencies)], 40) == [
        "         database",
        " <= 1ms  #######################   50.0%",
        " <= 2ms  ############              25.0%",
        " <= 5ms",
        "<= 10ms  ############              25.0%",
    ]


def test_histograms_stand_side_by_side_over_the_same_buckets() -> None:
    lines = text_histogram([("a", latencies_ms(1.5)), ("b", latencies_ms(4))], 60)

    assert [line.split() for line in lines] == [
        ["a", "b"],
        ["<=", "2ms", "#" * 17, "100.0%"],
        ["<=", "5ms", "#" * 17, "100.0%"],
    ]
    assert max(map(len, lines)) <= 60


def test_names_that_are_too_long_stand_above() -> None:
    name = "checkpoint+api, flushPeriod 1s"
    lines = text_histogram([(name, latencies_ms(1)), ("database", latencies_ms(1))], 50)

    assert lines[:2] == [f"a: {name}", "b: database"]
    assert lines[2].split() == ["a", "b"]


def test_of_nothing_there_is_no_histogram() -> None:
    assert text_histogram([], 80) == []
    assert text_histogram([("empty", Latencies())], 80) == []


def test_the_plain_fsync_and_the_noise_are_said_in_a_line_each() -> None:
    assert fsync_line(RUN.noise) == "plain fsync here: p50 800µs, p99 3ms (1000 samples)"
    assert noise_line(RUN.noise, RUN.machine) == (
        "noise: load 0.4 before, 1.9 after; steal 1.0% while idle, 2.0% in the run"
    )


@pytest.mark.parametrize(
    ("before", "after", "ending"),
    [
        (
            MachineLoad(2.5),
            None,
            (
                "load 2.5 before; steal unknown; the machine was busy before the "
                "run (load above 2 CPUs)"
            ),
        ),
        (
            MachineLoad(0.1, 0.0),
            MachineLoad(2.0, 0.2),
            ("; other machines took more than 5% of the CPU time"),
        ),
        (MachineLoad(0.1, 0.0), MachineLoad(9.0, 0.01), "steal 0.0% while idle, 1.0% in the run"),
    ],
)
def test_a_noisy_machine_is_named(
    before: MachineLoad, after: MachineLoad | None, ending: str
) -> None:
    noise = replace(RUN.noise, before=before, after=after)

    assert noise_line(noise, RUN.machine).endswith(ending)


def test_in_virtual_time_a_busy_machine_blurs_nothing() -> None:
    virtual = replace(RUN.noise, fsync=None, before=MachineLoad(99.0, 0.5), after=None)

    assert noise_line(virtual, RUN.machine) == ("noise: load 99.0 before; steal 50.0% while idle")


def test_without_a_real_file_no_fsync_was_measured() -> None:
    assert fsync_line(replace(RUN.noise, fsync=None)) == (
        "plain fsync: not measured, no real file is written"
    )


def test_machine_versions_seed_and_time_are_in_one_line() -> None:
    memory = replace(RUN, machine=replace(RUN.machine, memory=8 << 30))

    assert machine_line(memory) == (
        "machine: Example Processor 9 (2 CPUs), Linux 6.12, 8GiB, ext4; versions: rebind 0.0, "
        "python 3.11.9, sqlite 3.46.0; seed: 7; started: 2026-11-30T12:00:00Z"
    )


def test_a_run_that_was_cut_says_so() -> None:
    cut = replace(RUN, rows=RUN.rows[:1])
    within = replace(RUN, rows=(replace(RUN.rows[0], interrupted=True),), expected_rows=None)

    assert incomplete_line(RUN) == ""
    assert incomplete_line(cut).startswith("this run was cut: 1 of 2 rows")
    assert incomplete_line(within).startswith("this run was cut: 1 rows")


def test_the_progress_line_begins_with_what_matters() -> None:
    progress = Progress(
        row=3,
        rows=12,
        what="database, commitBatch 64",
        phase="churn",
        elapsed=4.4,
        remaining=65.2,
        rate=812.3,
        p99=Duration(12_345 * MICROSECOND),
    )

    assert progress_line(progress) == (
        "3/12 database, commitBatch 64, churn 4s, 812/s, p99 so far 12.3ms, about 1m5s left"
    )
    assert progress_line(Progress(row=1, rows=2, what="checkpoint")) == "1/2 checkpoint"


@pytest.mark.parametrize(
    ("value", "form", "shown"),
    [
        (1_234_567, Form.DURATION, "1.23ms"),
        (61.4 * SECOND, Form.DURATION, "1m1.4s"),
        (0, Form.DURATION, "0s"),
        (1_000, Form.BYTES, "1000B"),
        (4_096, Form.BYTES, "4KiB"),
        (3.5 * 2**30, Form.BYTES, "3.5GiB"),
        (0.0123, Form.CPU_SECONDS, "0.0123s"),
        (812.4, Form.NUMBER, "812"),
        (99.44, Form.NUMBER, "99.4"),
    ],
)
def test_figures_have_three_digits_and_their_unit(value: float, form: Form, shown: str) -> None:
    assert text(value, form) == shown


def test_ratios_have_three_digits() -> None:
    assert [ratio_text(one) for one in (1.0, 0.5, 12.34, 123.4)] == [
        *("×1.00", "×0.500", "×12.3", "×123")
    ]


def test_settings_are_named_by_what_tells_them_apart() -> None:
    naming = Naming([CHECKPOINT, DATABASE, BATCHED, BIND, FLUSHED])

    assert [naming.name(one) for one in (CHECKPOINT, DATABASE, BATCHED, BIND, FLUSHED)] == [
        "checkpoint",
        "database, commitBatch 1",
        "database, commitBatch 64",
        "bind-resource",
        "checkpoint+api",
    ]
    assert naming.shared() == "QPS 5/10, durability full, 20 nodes, real time"


def test_a_variant_is_named_beside_its_persistence_without_it() -> None:
    variant = replace(BIND, options=(("perContainer", "true"),))
    naming = Naming([BIND, variant])

    assert [naming.name(BIND), naming.name(variant)] == [
        "bind-resource",
        "bind-resource, perContainer=true",
    ]
    assert "perContainer" not in naming.shared()


def test_what_some_settings_share_and_others_lack_is_named() -> None:
    slow = [replace(one, added_fsync=Duration(MILLISECOND)) for one in (CHECKPOINT, BIND)]
    fast = replace(BIND, qps=50, burst=100)
    naming = Naming([CHECKPOINT, BIND, fast, *slow])

    assert naming.common([CHECKPOINT, BIND]) == "QPS 5/10, fsync +0s"
    assert naming.common([CHECKPOINT, BIND, fast]) == "fsync +0s"
    assert naming.common(slow) == "QPS 5/10, fsync +1ms"
    assert naming.common([CHECKPOINT, *slow, fast]) == ""


def test_calls_of_the_node_itself_are_not_counted_to_its_pods() -> None:
    calls = (ApiCallCount("patch", "pods/status", 300), ApiCallCount("update", "leases", 9_999))

    assert replace(made(CHECKPOINT), api_calls=calls).calls_per_pod == 3.0
    assert made(CHECKPOINT).calls_per_pod is None


def test_every_row_is_a_line_of_csv_with_all_percentiles_in_base_units() -> None:
    row = replace(
        made(FLUSHED, served=0.5),
        latencies={Measure.VISIBLE: Latencies([MILLISECOND])},
        fsyncs=25,
    )
    (line,) = csv.DictReader(csv_text([replace(RUN, rows=(row,))]).splitlines())

    assert line["persistence"] == "checkpoint+api"
    assert line["flushPeriodNs"] == "1000000000"
    assert line["durability"] == "full"
    assert line["achievedPerSecond"] == "50.0"
    assert line["unserved"] == "50"
    assert line["fsyncsPerBinding"] == "0.5"
    assert float(line["visibleP99_9Ns"]) == pytest.approx(MILLISECOND, rel=1e-3)
    assert line["admissionP50Ns"] == ""
    assert line["interrupted"] == "false"
