"""Benchmark runs as a page: findings, plots where rows carry them, tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from benchmarks.results.merging import merge
from benchmarks.results.page import benchmark_page
from benchmarks.results.plots import plots
from benchmarks.results.rows import Measure, Result, Row, Setting
from simulator.core.instants import MILLISECOND, Duration
from tests.benchmarks.results.example import BATCHED, BIND, CHECKPOINT, DATABASE, FLUSHED, example
from tests.benchmarks.results.made import made
from tests.reports.html import check_stands_alone, read

RUN = example(settings=(CHECKPOINT, DATABASE, BATCHED, BIND), rates=(100, 900), repetitions=2)
TEXT = benchmark_page([RUN])


def titles(*rows: Row) -> list[str]:
    return [figure.title for figure in plots(merge(rows))]


def test_the_page_stands_alone_and_asks_for_nothing() -> None:
    check_stands_alone(TEXT)
    assert "://" not in TEXT
    assert TEXT.isascii()


def test_the_findings_stand_on_top_and_the_noise_below_them() -> None:
    page = read(TEXT)
    leads = [one.text for one in page.all("p", class_="lead")]
    setup = {one.one("dt").text: one.one("dd").text for one in page.one("dl").all("div")}

    assert leads[0].startswith("Compared with checkpoint, bind-resource changes a pod's start")
    assert 2 <= len(leads) <= 3
    assert setup["Noise"].startswith("plain fsync here: p50 800µs, p99 3ms (1000 samples); noise: ")
    assert setup["Seed"] == "7"
    assert setup["Versions"] == "rebind 0.0, python 3.11.9, sqlite 3.46.0"
    assert "Example Processor 9 (2 CPUs)" in setup["Machine"]
    assert setup["All rows"] == "QPS 5/10, durability full, 20 nodes, real time"


def test_every_plot_has_a_text_for_those_who_do_not_see_it() -> None:
    page = read(TEXT)
    images = page.all("svg", role="img")
    ids = [
        one.attributes["id"] for image in images for one in image.all() if "id" in one.attributes
    ]

    assert len(images) == 2 * len(page.all("figure"))
    assert len(ids) == len(set(ids))
    for image in images:
        assert image.attributes["aria-labelledby"] == " ".join(
            image.one(tag).attributes["id"] for tag in ("title", "desc")
        )
        assert image.one("desc").text


def test_all_figures_stand_in_a_table_with_their_spread() -> None:
    page = read(TEXT)
    table, repetitions = page.all("table")
    head = [one.text for one in table.one("thead").all("th")]
    (batched,) = [
        line
        for line in table.one("tbody").all("tr")
        if line.children and "database" in line.text and " 64 " in line.text and "900" in line.text
    ]
    cells = [one.text for one in [*batched.all("th"), *batched.all("td")]]

    assert head[:6] == ["PERSISTENCE", "BATCH", "QPS", "DURABILITY", "PHASE", "OFFERED/S"]
    assert cells[:6] == ["database", "64", "-", "full", "churn-900", "900"]
    assert ".." in cells[head.index("P99")]
    assert {"FSYNCS/BINDING", "WRITTEN/BINDING", "CALLS/POD", "START-P99.9", "MEMORY"} <= set(head)
    assert len(table.one("tbody").all("tr")) == 8
    assert len(repetitions.one("tbody").all("tr")) == 16


def test_several_runs_stand_one_below_the_other_with_ids_of_their_own() -> None:
    page = read(benchmark_page([RUN, replace(RUN, name="second")]))
    ids = [one.attributes["id"] for one in page.all() if "id" in one.attributes]

    assert [one.text for one in page.all("h1")] == ["2 runs"]
    assert [one.text for one in page.all("h2")] == ["example", "second"]
    assert len(ids) == len(set(ids))


def test_a_run_without_rows_says_that_nothing_was_measured() -> None:
    page = read(benchmark_page([example(settings=())]))

    assert page.one("p", class_="lead").text == "Nothing was measured."
    assert page.all("svg", role="img") == []


def test_a_run_that_was_cut_says_so() -> None:
    assert "this run was cut: 3 of 16 rows" in benchmark_page([replace(RUN, rows=RUN.rows[:3])])


def test_hostile_texts_stay_texts() -> None:
    evil = '<img src=x onerror="alert(1)">'
    row = replace(RUN.rows[0], setting=replace(CHECKPOINT, persistence=evil), phase=evil)
    run: Result = replace(
        RUN, name=evil, started=evil, versions={evil: evil}, profile={evil: evil}, rows=(row,)
    )
    text = benchmark_page([run])

    check_stands_alone(text)
    assert "<img" not in text


def test_the_same_run_gives_the_same_bytes() -> None:
    assert benchmark_page([RUN]) == TEXT


def test_one_row_has_nothing_to_be_drawn_against() -> None:
    assert titles(made(CHECKPOINT)) == []


def test_a_plot_over_load_needs_two_loads() -> None:
    one = made(CHECKPOINT, phase="ramp-100", rate=100, admission=1)
    two = made(CHECKPOINT, phase="ramp-200", rate=210, admission=2)
    over = "Latency over offered load, to the durable admission"

    assert over in titles(one, two)
    assert "Achieved over offered load" in titles(one, two)
    assert over not in titles(one)


def test_phases_of_different_kinds_are_no_steps_of_one_load() -> None:
    churn = made(CHECKPOINT, phase="churn", rate=100, admission=1)
    storm = made(CHECKPOINT, phase="storm-9", rate=200, admission=2)

    assert not any("offered load" in title for title in titles(churn, storm))


def test_of_the_steps_of_a_ramp_one_is_drawn_side_by_side() -> None:
    rows = [
        made(setting, phase=f"ramp-{rate}", rate=rate, start=1)
        for rate in (100, 200)
        for setting in (CHECKPOINT, DATABASE)
    ]
    [side] = [one for one in plots(merge(rows)) if one.title.startswith("Side by side")]

    assert "ramp-200: checkpoint 1ms, database 1ms" in side.drawings[0]
    assert "ramp-100" not in side.drawings[0]


def test_a_plot_over_batches_needs_two_of_the_same_persistence() -> None:
    first, second = made(DATABASE, served=0.5), made(BATCHED)

    assert any("over commitBatch" in title for title in titles(first, second))
    assert not any("over commitBatch" in title for title in titles(first, made(BIND)))


def test_a_flush_period_is_drawn_with_what_a_crash_would_lose() -> None:
    rows = [
        replace(made(replace(FLUSHED, flush_period=Duration(period))), at_risk_max=lost)
        for period, lost in ((0, 0), (100 * MILLISECOND, 9))
    ]

    assert any("would have lost, at most over flushPeriod" in title for title in titles(*rows))


def test_growth_is_drawn_over_existing_bindings() -> None:
    rows = [
        made(replace(CHECKPOINT, existing=existing), admission=1) for existing in (0, 110, 5_000)
    ]

    assert "Growth: p99 of the durable admission over existing bindings" in titles(*rows)


def test_a_persistence_without_client_stands_beside_each_limit_of_the_others() -> None:
    fast = replace(BIND, qps=50, burst=100)
    figures = plots(merge([made(CHECKPOINT, start=1), made(BIND, start=2), made(fast, start=1.5)]))
    (side,) = [one for one in figures if one.title.startswith("Side by side")]

    assert "churn, QPS 5/10: checkpoint 1ms, bind-resource 2ms" in side.drawings[0]
    assert "churn, QPS 50/100: checkpoint 1ms, bind-resource 1.5ms" in side.drawings[0]


def test_a_bar_that_is_only_a_lower_bound_says_so_as_the_table_does() -> None:
    stuck = replace(made(DATABASE, start=2), unreached={Measure.START: 50})
    (side,) = [
        one
        for one in plots(merge([made(CHECKPOINT, start=1), stuck]))
        if one.title.startswith("Side by side")
    ]

    for drawing in side.drawings:
        assert "churn: checkpoint 1ms, database ≥2ms." in drawing
        assert ">≥2ms</text>" in drawing


@pytest.mark.parametrize(
    ("starts", "axis", "caption"),
    [
        ((2.0,), "of one repetition", ""),
        ((2.0, 2.0), "median", ""),
        ((2.0, 3.0), "median, least to most", "The thin line reaches from the least to the most."),
    ],
)
def test_a_thin_line_is_explained_only_where_there_is_one(
    starts: Sequence[float], axis: str, caption: str
) -> None:
    rows = [
        made(setting, start=start, repetition=number)
        for setting in (CHECKPOINT, DATABASE)
        for number, start in enumerate(starts, 1)
    ]
    (side,) = [one for one in plots(merge(rows)) if one.title.startswith("Side by side")]

    assert side.caption == caption
    assert (f">{axis}</text>" in side.drawings[0], 'class="whisker"' in side.drawings[0]) == (
        True,
        bool(caption),
    )


@pytest.mark.parametrize("count", [8, 9])
def test_more_lines_than_can_be_told_apart_are_drawn_in_several_plots(count: int) -> None:
    settings: list[Setting] = [
        replace(CHECKPOINT, nodes=1 + index // 3, existing=index % 3) for index in range(count)
    ]
    seconds = (5, 6, 7)
    rows = [replace(made(one), elapsed=3.0, served_each_second=seconds) for one in settings]
    drawn = [title for title in titles(*rows) if title.startswith("Rate over time")]

    assert len(drawn) == (1 if count == 8 else 4)


def test_of_more_ways_than_there_are_colors_each_persistence_is_drawn() -> None:
    batches = [replace(DATABASE, commit_batch=size) for size in range(1, 10)]
    rows = [made(one, admission=1) for one in (CHECKPOINT, *batches, BIND)]
    (side,) = [one for one in plots(merge(rows)) if one.title.startswith("Side by side")]

    assert side.title.endswith(" (8 of 11, the table has all)")
    assert [one.name for one in side.legend] == [
        "checkpoint",
        *(f"database, commitBatch {size}" for size in range(1, 7)),
        "bind-resource",
    ]
