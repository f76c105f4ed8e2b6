"""What a reader must know before believing figures: said beside what they say."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.results.findings import LEADS, findings
from benchmarks.results.latencies import Latencies
from benchmarks.results.merging import merge
from benchmarks.results.noise_text import cell_notes
from benchmarks.results.rows import Measure, Store
from simulator.core.instants import MILLISECOND
from tests.benchmarks.results.example import BIND, CHECKPOINT, DATABASE
from tests.benchmarks.results.made import made

FAST = replace(BIND, qps=50, burst=100)


def test_failures_waiting_for_room_and_a_busy_generator_are_told_on_top() -> None:
    rows = [
        replace(made(CHECKPOINT, start=1), errors=3, waited=20),
        replace(made(DATABASE, start=2, served=0.5), cpu_client_s=0.95, counted_s=1.0, late=30),
    ]
    told = findings(merge(rows))[:LEADS]

    assert told[-1] == (
        "Pods were refused or failed in churn: checkpoint up to 3%. "
        "Pods had to wait for a node with room (churn up to 20%): that wait is in their latencies, "
        "whatever keeps the bindings. "
        "The load generator was late with pods, and that is in their latencies: database up to "
        "30%. "
        "Of 1 setting that did not serve what was offered, 1 used a whole CPU for load and "
        "kubelets, which are one process: that is its limit, and not that of what keeps the "
        "bindings (database)."
    )


def test_of_nothing_doubtful_nothing_is_told() -> None:
    calm = replace(made(DATABASE), cpu_client_s=0.95, counted_s=1.0, waited=0)
    idle = replace(made(CHECKPOINT, served=0.5), cpu_client_s=0.4, counted_s=1.0)

    assert not any("whole CPU" in each for each in findings(merge([calm, idle])))


def test_a_limit_that_was_measured_with_batches_only_is_told_too() -> None:
    """One profile has QPS 50 without and with batches, and QPS 5 with batches only."""
    single, batched = replace(FAST, commit_batch=1), replace(FAST, commit_batch=64)
    slow = replace(BIND, commit_batch=64)
    sentence, *_ = findings(
        merge(
            made(setting, start=start)
            for setting, start in ((CHECKPOINT, 1), (single, 3), (batched, 2), (slow, 100))
        )
    )

    assert "at QPS 5/10 by +99" in sentence
    assert "at QPS 50/100 by +2ms" in sentence


def test_ranges_say_over_what_they_are() -> None:
    rows = [
        made(replace(setting, existing=existing), start=start * existing)
        for existing in (10, 20)
        for setting, start in ((CHECKPOINT, 1), (BIND, 3))
    ]

    assert "(ranges are over 10 existing and 20 existing)" in findings(merge(rows))[0]


def test_two_stores_of_one_persistence_are_told_apart() -> None:
    other = replace(DATABASE, store=Store.POSTGRESQL)
    rows = [
        made(setting, start=start)
        for setting, start in ((CHECKPOINT, 1), (DATABASE, 2), (other, 9))
    ]
    told = " ".join(findings(merge(rows)))

    assert "database (on sqlite) changes a pod's start by +1ms" in told
    assert "database (on postgresql) changes a pod's start by +8" in told


def test_one_setting_in_several_phases_is_compared_with_none_of_them() -> None:
    rows = [made(CHECKPOINT, phase=phase, rate=rate) for phase, rate in (("a", 10), ("b", 90))]

    assert findings(merge(rows)) == (
        (
            "checkpoint served 10/s of 10/s offered (a); checkpoint served 90/s of 90/s offered "
            "(b); there is nothing to compare it with."
        ),
    )


def test_cells_that_are_bounds_or_of_few_pods_are_explained() -> None:
    few = replace(made(CHECKPOINT), latencies={Measure.START: Latencies([MILLISECOND] * 20)})
    bound = replace(few, unreached={Measure.START: 1})

    assert cell_notes(merge([made(CHECKPOINT, start=1)])) == []
    assert cell_notes(merge([few])) == [
        "Where fewer than 100 pods came (here 20), p99 is the longest of all."
    ]
    assert cell_notes(merge([bound]))[0].startswith("≥ where too many pods have not come so far")


def test_a_percentile_is_a_bound_from_the_share_of_the_unreached_on() -> None:
    row = replace(made(CHECKPOINT, start=1), unreached={Measure.START: 5})

    assert not row.is_lower_bound(Measure.START, 95)
    assert row.is_lower_bound(Measure.START, 99)
    assert not row.is_lower_bound(Measure.VISIBLE, 99)


def test_of_a_ramp_the_highest_load_is_told_that_both_serve() -> None:
    rows = [
        made(setting, phase=f"ramp-{rate}", rate=rate, served=served, start=start * rate)
        for rate in (10, 20, 40, 80)
        for setting, start, served in (
            (CHECKPOINT, 1, 1.0),
            (BIND, 2, 1.0 if rate <= 20 else 0.5),
        )
    ]

    assert findings(merge(rows))[0].startswith(
        "Compared with checkpoint, bind-resource changes a pod's start at QPS 5/10 by +20ms at the "
        "median and +20ms at p99 in ramp-20, the highest load that both serve."
    )


def test_where_no_pod_came_nothing_is_served() -> None:
    rows = [made(setting, rate=0) for setting in (CHECKPOINT, DATABASE)]

    assert findings(merge(rows)) == ("No pod came: the phases are too short for their loads.",)


def test_what_was_waited_for_in_vain_is_told_as_a_bound() -> None:
    bound = replace(made(BIND, start=3), unreached={Measure.START: 5})
    alone = replace(made(CHECKPOINT, admission=5), unreached={Measure.ADMISSION: 5})
    batched = [
        replace(made(replace(DATABASE, commit_batch=size), admission=wait), unreached=unreached)
        for size, wait, unreached in ((1, 8, {Measure.ADMISSION: 5}), (64, 4, {}))
    ]

    assert (
        "by +2ms at the median and +2ms or more at p99"
        in (findings(merge([made(CHECKPOINT, start=1), bound]))[0])
    )
    assert "p99 at least 5ms" in findings(merge([alone]))[0]
    assert "p99 ×0.500 or less (8ms to 4ms)" in findings(merge(batched))[0]


def test_figures_that_are_only_bounds_on_both_sides_are_not_compared() -> None:
    rows = [
        replace(made(setting, admission=1, start=start), unreached={Measure.START: 5})
        for setting, start in ((CHECKPOINT, 1), (BIND, 3))
    ]

    assert not any("Compared with" in each for each in findings(merge(rows)))
