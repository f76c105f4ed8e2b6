"""What drifts in a long phase is found, and what only stalls is not taken for it."""

from __future__ import annotations

import csv
import json
from dataclasses import replace

import pytest

from benchmarks.results.course_plots import byte_ticks, course
from benchmarks.results.documents import read_result, result_text
from benchmarks.results.findings import findings
from benchmarks.results.merging import merge
from benchmarks.results.page import benchmark_page
from benchmarks.results.quantities import CHANGES, STALL, STORED
from benchmarks.results.sheet import slices_csv
from benchmarks.results.slices import Drift, Tracked, drift, longest_stall
from simulator.core.instants import MILLISECOND
from tests.benchmarks.results.coursing import MIB, long_row, slices
from tests.benchmarks.results.example import BIND, DATABASE, example
from tests.benchmarks.results.made import made
from tests.reports.html import check_stands_alone

FLAT = slices()
HALVES = slices(served=(1_000, 900), p99_ms=(10, 20), memory=(100, 130), stored=(50, 40))


@pytest.mark.parametrize(
    ("tracked", "first", "last", "change"),
    [
        (Tracked.RATE, 100, 90, -0.1),
        (Tracked.P99, 10 * MILLISECOND, 20 * MILLISECOND, 1.0),
        (Tracked.MEMORY, 100 * MIB, 130 * MIB, 0.3),
        (Tracked.STORED, 50 * MIB, 40 * MIB, -0.2),
    ],
)
def test_what_changes_half_way_is_found_with_its_values(
    tracked: Tracked, first: float, last: float, change: float
) -> None:
    found = drift(HALVES, tracked)

    assert found == Drift(first, last)
    assert found.change == pytest.approx(change)
    assert not found.is_flat(abs(change) - 0.01)
    assert found.is_flat(abs(change) + 0.01)
    assert drift(FLAT, tracked) == Drift(first, first)


def test_steady_growth_is_found_from_the_middle_of_the_first_third_to_that_of_the_last() -> None:
    """A MiB in each of 60 slices: slices 0 to 19 lie around 9.5, 40 to 59 around 49.5."""
    growing = slices(memory=range(100, 160))

    assert drift(growing, Tracked.MEMORY) == Drift(109.5 * MIB, 149.5 * MIB)


def test_stalls_in_two_of_five_slices_are_no_drift_but_told() -> None:
    """They come in the last third only."""
    stalled = slices(
        served=(*[1_000] * 40, *(1_000, 300, 1_000, 400, 1_000) * 4),
        p99_ms=(*[10] * 40, *(10, 800, 10, 700, 10) * 4),
        stall_ms=(*[20] * 40, *(20, 900, 20, 800, 20) * 4),
    )

    assert drift(stalled, Tracked.RATE) == Drift(100, 100)
    assert drift(stalled, Tracked.P99) == Drift(10 * MILLISECOND, 10 * MILLISECOND)
    assert longest_stall(stalled) == 900 * MILLISECOND


def test_of_few_slices_and_of_what_is_not_known_nobody_can_tell() -> None:
    assert drift(slices(count=8), Tracked.RATE) is None
    assert drift(slices(count=9), Tracked.RATE) == Drift(100, 100)
    assert drift(FLAT, Tracked.SERVER_MEMORY) is None
    assert drift((), Tracked.RATE) is None
    assert longest_stall(()) is None


def test_from_nothing_everything_is_endless_growth() -> None:
    assert not Drift(0, 1).is_flat(1_000)
    assert Drift(0, 0).is_flat(0)


def test_a_flat_phase_is_said_to_be_flat_before_everything_else() -> None:
    first, second = findings(merge([long_row(DATABASE, FLAT)]))

    assert first == (
        "In the 10m0s of soak, database: the rate stayed flat (100/s to 100/s), the p99 of "
        "admission stayed flat (10ms to 10ms), memory stayed flat (100MiB to 100MiB), the size on "
        "disk stayed flat (50MiB to 50MiB); the longest stall was 20ms. Compared are the medians "
        "of the slices of its first and of its last third; flat is a change of at most 5% (the "
        "rate), 25% (the p99 of admission), 10% (memory, the size on disk)."
    )
    assert second.startswith("database served ")


def test_what_grew_or_fell_is_said_with_how_much() -> None:
    told = findings(merge([long_row(DATABASE, HALVES)]))[0]

    assert "the rate fell by 10% (100/s to 90/s), the p99 of admission grew by 100%" in told
    assert "memory grew by 30% (100MiB to 130MiB), the size on disk fell by 20%" in told


def test_repetitions_are_told_by_their_medians_and_settings_each_by_itself() -> None:
    rows = [
        long_row(DATABASE, slices(memory=(100, last)), repetition=number)
        for number, last in enumerate((100, 140, 180), 1)
    ]
    told = findings(merge([*rows, long_row(BIND, FLAT)]))

    assert "memory grew by 40% (100MiB to 140MiB)" in told[0]
    [other] = [one for one in told[1:] if "longest stall" in one]
    assert other.startswith("In the 10m0s of soak, bind-resource: the rate stayed flat")
    assert other.endswith("; the longest stall was 20ms.")  # What is flat was said before.


def test_short_phases_say_nothing_of_it() -> None:
    assert not any("stall" in one for one in findings(merge([made(DATABASE, admission=1)])))


def test_slices_come_back_from_a_file_and_files_without_them_are_read() -> None:
    """A file of before has no such key."""
    run = replace(example(settings=()), rows=(long_row(DATABASE, HALVES),))
    document = json.loads(result_text(run))
    [row] = document["result"]["rows"]

    assert read_result(result_text(run).encode(), "run.json") == run
    times = {"p50": "2ms", "p99": "10ms", "longest": "20ms", "stall": "20ms"}
    sizes = {"memory": 100 * MIB, "serverMemory": None, "stored": 50 * MIB}
    assert row["overTime"][0] == {"end": 10.0, "seconds": 10.0, "served": 1_000, **times, **sizes}
    del row["overTime"]
    [old] = read_result(json.dumps(document).encode(), "old.json").rows
    assert old == replace(run.rows[0], over_time=())


def test_a_row_has_its_changes_as_figures() -> None:
    row = long_row(DATABASE, HALVES)
    found = {tracked: quantity.of(row) for tracked, quantity in CHANGES.items()}

    assert found[Tracked.P99] == 1.0
    assert found[Tracked.MEMORY] == pytest.approx(0.3)
    assert found[Tracked.SERVER_MEMORY] is None
    assert (STALL.of(row), STORED.of(row)) == (20 * MILLISECOND, 40 * MIB)
    assert [one.header for one in CHANGES.values()] == [
        *("RATE-CHANGE", "P99-CHANGE", "MEMORY-CHANGE", "SERVER-MEMORY-CHANGE", "STORED-CHANGE")
    ]


def test_every_slice_is_a_line_of_csv_in_base_units() -> None:
    run = replace(example(settings=()), rows=(long_row(DATABASE, HALVES), made(DATABASE)))
    lines = list(csv.DictReader(slices_csv([run]).splitlines()))

    assert len(lines) == 60
    assert (lines[0]["phase"], lines[0]["persistence"]) == ("soak", "database")
    assert (lines[-1]["endSeconds"], lines[-1]["served"]) == ("600.0", "900")
    assert (lines[-1]["p99Ns"], lines[-1]["longestNs"]) == ("20000000", "40000000")
    assert (lines[-1]["memoryBytes"], lines[-1]["serverMemoryBytes"]) == (str(130 * MIB), "")


def test_a_page_shows_what_is_known_over_time() -> None:
    run = replace(example(settings=()), rows=(long_row(DATABASE, HALVES),))
    page = benchmark_page([run])

    check_stands_alone(page)
    for title in ("p99 of the durable admission", "Memory", "Size on disk"):
        assert f"<b>{title} over time, soak</b>" in page
    assert "Memory of the API server" not in page
    assert ">128MiB<" in page


def test_a_setting_looks_the_same_in_every_plot() -> None:
    served = tuple(replace(one, server_memory=5 * MIB) for one in FLAT)
    merged = merge([long_row(DATABASE, FLAT), long_row(BIND, served)])
    looks = {
        plot.title.partition(" over time")[0]: {line.name: line.style for line in plot.lines}
        for plot, _ in course(merged)
    }

    assert looks["Memory"] == {"database": 0, "bind-resource": 1}
    assert looks["Memory of the API server"] == {"bind-resource": 1}


def test_numbers_at_an_axis_of_bytes_are_short() -> None:
    assert byte_ticks(130 * MIB) == (0, 64 * MIB, 128 * MIB, 192 * MIB)


def test_a_repetition_without_slices_leaves_the_others_theirs() -> None:
    rows = [long_row(DATABASE, ()), long_row(DATABASE, FLAT, repetition=2)]

    assert any(each.startswith("In the 10m0s of soak") for each in findings(merge(rows)))
