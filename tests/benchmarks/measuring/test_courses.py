"""Long phases are measured in slices: known drifts, stalls and sizes are found in them."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.measuring.courses import Course
from benchmarks.measuring.footprints import FootprintMeter, database_size, file_sizes
from benchmarks.measuring.instruments import ProcessMeter
from benchmarks.measuring.phases import Target
from benchmarks.measuring.span_counts import SpanCounts
from benchmarks.measuring.windows import Followed, Window
from benchmarks.results.latencies import Latencies
from benchmarks.results.rows import Measure, Setting, Store
from benchmarks.results.slices import Drift, Tracked, drift, longest_stall
from simulator.core.instants import SECOND, Duration, after
from simulator.engine.actions import HangPlugin
from tests.benchmarks.measuring.runs import Written, ms

MIB = 1 << 20
SETTING = Setting(persistence="database", store=Store.SQLITE)
LONG = Written(
    devices=100,
    load="{qpsLoad: {qps: 5}}",
    phases="- {name: soak, load: load, pods: pod, duration: 32s, warmup: 2s}",
)
"""A pod takes 8.2 ms: 5 ms until the kubelet sees it, 1 ms of Allocate, two commits of 1.1 ms."""
SPANS = st.lists(
    st.integers(0, 10**10) | st.sampled_from([2_047_999, 2_048_000, 10**13]), max_size=50
)


def hang(target: Target, at: Duration, span: Duration) -> None:
    """Let the node's plugin hang."""
    world = target.driver.world
    action = partial(world.perform, HangPlugin("gpu-n0", span), "hang")
    world.timeline.call_at(after(world.now, at), action)


def test_a_flat_phase_with_a_single_stall_is_flat_and_the_stall_is_told() -> None:
    """Of 30 slices 4 see it."""
    row = LONG.row(lambda target: hang(target, ms(5_000), ms(3_000)))
    p99 = drift(row.over_time, Tracked.P99)

    assert [(one.end, one.seconds) for one in row.over_time] == [
        (float(number), 1.0) for number in range(1, 31)
    ]
    assert sum(one.served for one in row.over_time) == row.served == 150
    assert drift(row.over_time, Tracked.RATE) == Drift(5, 5)
    assert p99 is not None
    assert p99.is_flat(0.01)
    assert ms(8.1) <= p99.first <= ms(8.3)
    assert ms(2_940) <= (longest_stall(row.over_time) or 0) <= ms(3_002)
    [stalled] = [one for one in row.over_time if one.stall > ms(100)]
    assert stalled.end == 7.0  # It began 3 s after the warm-up, and ended when one was served.


def test_a_known_drift_of_the_latency_is_found() -> None:
    """From the middle on, the plugin hangs for 300 ms in every second."""

    def watch(target: Target) -> None:
        for second in range(17, 32):
            hang(target, Duration(second * SECOND + ms(500)), ms(300))

    slices = LONG.row(watch).over_time
    p99 = drift(slices, Tracked.P99)

    assert p99 is not None
    assert ms(8.1) <= p99.first <= ms(8.3)
    assert ms(195) <= p99.last <= ms(205)  # Of the pod that comes 100 ms later.
    assert drift(slices, Tracked.RATE) == Drift(5, 5)


def test_a_known_growth_of_memory_is_found_and_sizes_that_stay_are_flat() -> None:
    """A MiB more at the end of each of 30 slices: 1 to 10 lie around 5.5, 21 to 30 around 25.5."""
    grown = count(101)
    meter = FootprintMeter(lambda: next(grown) * MIB, lambda: None, [lambda: 7, lambda: 5])

    with closing(meter):
        slices = LONG.row(lambda target: setattr(target.instruments, "footprint", meter)).over_time

    assert drift(slices, Tracked.MEMORY) == Drift(105.5 * MIB, 125.5 * MIB)
    assert drift(slices, Tracked.STORED) == Drift(12, 12)
    assert drift(slices, Tracked.SERVER_MEMORY) is None


def test_phases_are_sliced_that_are_long_and_end_by_their_time_alone() -> None:
    short = replace(LONG, phases=LONG.phases.replace("32s", "31s"))
    ended = replace(LONG, phases=LONG.phases.replace("warmup: 2s", "until: {pods: 20}"))

    assert short.row().over_time == ended.row().over_time == ()
    assert {one.memory for one in LONG.row().over_time} == {None}  # In virtual time.


@pytest.mark.parametrize("persistence", ["checkpoint", "database", "bind-resource"])
def test_memory_and_files_are_those_of_the_processes_and_of_what_keeps_bindings(
    persistence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchmarks.profiles.profile.SLICED_FROM", ms(300))
    monkeypatch.setattr("benchmarks.measuring.courses.SHORTEST", ms(100))
    written = Written(
        clock="real",
        persistence=persistence,
        load="{qpsLoad: {qps: 50}}",
        devices=50,
        lifetime="1h",
        phases="- {name: soak, load: load, pods: pod, duration: 300ms, drain: 30s}",
    )
    slices = written.row().over_time

    assert len(slices) == 3
    assert all(10 * MIB < (one.memory or 0) < 2_000 * MIB for one in slices)
    assert all(100 < (one.stored or 0) < 50 * MIB for one in slices)
    has_server = persistence == "bind-resource"
    assert all((one.server_memory is not None) == has_server for one in slices)


def test_memory_is_what_a_process_takes_up_now() -> None:
    before = ProcessMeter().memory()
    taken = bytearray(b"x" * (64 * MIB))
    during = ProcessMeter().memory()
    del taken

    assert before is not None
    assert during is not None
    assert 60 * MIB < during - before < 160 * MIB


def test_the_size_of_a_database_is_that_of_its_file_and_its_log(tmp_path: Path) -> None:
    file = tmp_path / "rebind.db"
    assert database_size(file) == 0
    file.write_bytes(bytes(100))
    (tmp_path / "rebind.db-wal").write_bytes(bytes(30))
    (tmp_path / "rebind.db-shm").write_bytes(bytes(7))

    assert database_size(file) == 130
    assert file_sizes([file, tmp_path / "missing"]) == 100


def test_of_places_of_which_one_is_not_known_the_whole_is_not() -> None:
    with closing(FootprintMeter(lambda: 1, lambda: None, [lambda: 1, lambda: None])) as meter:
        assert meter.begin().result(10).stored is None


def test_a_stall_is_the_time_in_which_somebody_waited_and_nobody_was_served() -> None:
    course = Course(Duration(9 * SECOND), None)

    course.served(ms(100), ms(200))  # Waited alone.
    course.served(ms(5_000), ms(5_001))  # Nobody waited before.
    course.served(ms(5_000), ms(5_800))  # Somebody was served meanwhile.
    course.unserved(ms(8_500), ms(9_900))  # Not at all.
    for _ in range(9):
        course.end_slice()
    stalls = [one.stall for one in course.slices()]

    assert stalls == [ms(100), *[0] * 4, ms(799), 0, 0, ms(1_400)]
    assert [one.served for one in course.slices()] == [1, 0, 0, 0, 0, 2, 0, 0, 0]
    assert course.slices()[5].longest == ms(800)
    assert course.slices()[1].p99 is None


def test_a_pod_that_has_failed_is_waited_for_by_nobody_but_counts_as_never_served() -> None:
    """It failed in the first second; the phase is cut at 12 s, when another one still waits."""
    window = Window("soak", Duration(0), Duration(9 * SECOND))
    window.course = Course(Duration(9 * SECOND), None)
    failed, served, waiting = (
        Followed(due, window, {Measure.ADMISSION}) for due in (ms(100), ms(200), ms(8_000))
    )
    for followed in (failed, served, waiting):
        window.begin(followed)
    window.failed(failed)
    window.reached(served, Measure.ADMISSION, ms(300))
    for _ in range(9):
        window.course.end_slice()

    slices = window.row(SETTING, repetition=1, cut_ns=ms(12_000)).over_time

    assert [slices[0].longest, slices[8].longest] == [ms(11_900), ms(4_000)]
    assert [one.stall for one in slices] == [ms(100), *[0] * 7, ms(4_000)]


@given(SPANS)
def test_counted_latencies_are_kept_as_precisely_as_results_keep_them(spans: list[int]) -> None:
    counts = SpanCounts()
    for span in spans:
        counts.add(span)

    assert counts.latencies() == Latencies(spans)
    assert counts.count == len(spans)


@given(SPANS, SPANS, st.sampled_from([1.0, 50.0, 99.0, 100.0]), st.sampled_from([8, 11]))
def test_a_percentile_of_counts_is_that_of_the_list(
    spans: list[int], more: list[int], percent: float, bits: int
) -> None:
    """The smallest of those that so many percent of the list, rounded, do not exceed."""
    counts = SpanCounts(bits)
    for span in spans:
        counts.add(span)
    found, every = counts.percentile(percent, more), sorted([*spans, *more])

    if not every:
        assert found is None
        return
    exact = min(every[max(int(percent / 100 * len(every) + 0.5), 1) - 1], 3600 * SECOND)
    assert found is not None
    assert exact // 1_000 * 1_000 <= found <= max(exact * (1 + 2.0 ** (1 - bits)), 1_000)
