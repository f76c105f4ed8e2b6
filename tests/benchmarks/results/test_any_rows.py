"""Whatever was measured, or was not, it can be written, read, shown and compared."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.results.comparing import compare
from benchmarks.results.documents import read_result, result_text
from benchmarks.results.findings import findings
from benchmarks.results.latencies import Latencies
from benchmarks.results.merging import merge
from benchmarks.results.page import benchmark_page
from benchmarks.results.rows import (
    ApiCallCount,
    Measure,
    Result,
    Row,
    Setting,
    Store,
    TimeSource,
)
from benchmarks.results.sheet import csv_text
from benchmarks.results.slices import Slice
from simulator.core.instants import Duration
from simulator.ports import Durability
from tests.benchmarks.results.coursing import slices
from tests.benchmarks.results.example import example
from tests.reports.html import check_stands_alone

COUNTS = st.integers(0, 1_000_000)
MAYBE = st.none() | COUNTS
NANOSECONDS = st.sampled_from([0, 1, 999, 10**6, 10**9, 10**13])
TEXTS = st.sampled_from(["checkpoint", "database", "bind-resource", "checkpoint+api", "<x>\x07&"])
SETTINGS = st.builds(
    Setting,
    persistence=TEXTS,
    store=st.sampled_from(Store),
    clock=st.sampled_from(TimeSource),
    durability=st.sampled_from(Durability),
    options=st.sampled_from([(), (("perContainer", "true"),)]),
    commit_batch=st.none() | st.sampled_from([1, 64]),
    flush_period=st.none() | st.sampled_from([Duration(0), Duration(10**9)]),
    bulk_bind=st.none() | st.sampled_from([1, 16]),
    qps=st.none() | st.sampled_from([0.0, 5.0, 50.0]),
    burst=st.none() | st.sampled_from([10, 100]),
    existing=st.sampled_from([0, 110, 5_000]),
)
ODD = (
    Slice(end=0.0, seconds=0.0, served=0, p99=Duration(0), memory=0, stored=0),
    Slice(end=1e6, seconds=0.001, served=7, longest=Duration(10**13), server_memory=1 << 50),
)
COURSES = [(), ODD, ODD * 5, slices(count=9)]
ROWS = st.builds(
    Row,
    setting=SETTINGS,
    phase=st.sampled_from(["fill", "churn", "<b>"]),
    repetition=st.integers(1, 3),
    seconds=st.sampled_from([0.0, 0.001, 5.0, 90.0]),
    elapsed=st.sampled_from([0.0, 5.0, 1e6]),
    offered=COUNTS,
    served=COUNTS,
    errors=COUNTS,
    latencies=st.dictionaries(
        st.sampled_from(Measure), st.lists(NANOSECONDS, max_size=4).map(Latencies), max_size=4
    ),
    unreached=st.dictionaries(st.sampled_from(Measure), COUNTS, max_size=4),
    counted_s=st.none() | st.sampled_from([0.0, 1.5]),
    served_each_second=st.lists(COUNTS, max_size=5).map(tuple),
    over_time=st.sampled_from(COURSES),
    fsyncs=MAYBE,
    bytes_written=MAYBE,
    bindings=COUNTS,
    api_calls=st.just(()) | st.just((ApiCallCount("patch", "pods/status", 7),)),
    at_risk_max=MAYBE,
    cpu_client_s=st.none() | st.just(1.5),
    memory_peak=MAYBE,
    interrupted=st.booleans(),
)
EMPTY = example(settings=())


@st.composite
def runs(draw: st.DrawFn) -> Result:
    return replace(EMPTY, rows=tuple(draw(st.lists(ROWS, max_size=8))))


@settings(max_examples=40, deadline=None)
@given(runs(), runs())
def test_any_rows_can_be_written_read_shown_and_compared(one: Result, other: Result) -> None:
    assert read_result(result_text(one).encode(), "run.json") == one
    check_stands_alone(benchmark_page([one, other]))
    assert len(csv_text([one]).splitlines()) == len(one.rows) + 1
    merged = merge(one.rows)
    cut = [row for row in one.rows if row.interrupted]
    assert len(one.rows) - len(cut) <= sum(len(each.rows) for each in merged) <= len(one.rows)
    assert (findings(merged) == ()) == (not one.rows)
    comparison = compare(one, other)
    first, second = len(merged), len(merge(other.rows))
    assert len(comparison.matched) + len(comparison.only_first) == first
    assert len(comparison.matched) + len(comparison.only_second) == second
