"""The sentences of a run: right numbers, and never more than the rows carry."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.results.findings import LEADS, findings
from benchmarks.results.merging import Merged, merge
from benchmarks.results.rows import ApiCallCount, Row, Setting, TimeSource
from simulator.core.instants import MILLISECOND, SECOND, Duration
from tests.benchmarks.results.example import BATCHED, BIND, CHECKPOINT, DATABASE, FLUSHED, example
from tests.benchmarks.results.made import made, repeated

FAST = replace(BIND, qps=50, burst=100)


def test_what_binding_through_the_api_adds_is_said_for_each_limit_of_the_client() -> None:
    sentence, *_ = findings(
        [
            repeated(CHECKPOINT, [10, 11, 12]),
            repeated(BIND, [210, 211, 212]),
            repeated(FAST, [10.5, 11, 11.5]),
        ]
    )

    assert sentence == (
        "Compared with checkpoint, bind-resource changes a pod's start at QPS 5/10 by +200ms at "
        "the median and +200ms at p99; at QPS 50/100 by no more than the noise at the median and "
        "no more than the noise at p99."
    )


def test_variants_and_phases_are_told_each_by_itself() -> None:
    variant = replace(BIND, options=(("perContainer", "true"),))
    said = findings(
        [
            repeated(setting, [start, start], phase=phase)
            for phase, base in (("steady", 10), ("burst", 1_000))
            for setting, start in ((CHECKPOINT, base), (variant, 4 * base), (BIND, 2 * base))
        ]
    )

    assert said[0] == (
        "Compared with checkpoint, bind-resource changes a pod's start at QPS 5/10 by +10ms at the "
        "median and +10ms at p99 in steady and +1s at the median and +1s at p99 in burst."
    )
    assert said[1].startswith(
        "Compared with checkpoint, bind-resource (perContainer=true) changes a pod's start at "
        "QPS 5/10 by +30ms at the median"
    )


def test_with_many_phases_and_limits_only_the_tail_is_told() -> None:
    merged = merge(
        made(setting, phase=phase, start=start, running=10 * start, repetition=number)
        for phase, base in (("steady", 10), ("burst", 100))
        for setting, start in (
            (replace(CHECKPOINT, qps=5, burst=10), base),
            (replace(CHECKPOINT, qps=50, burst=100), base),
            (BIND, 3 * base),
            (FAST, 2 * base),
        )
        for number in (1, 2)
    )

    assert findings(merged)[0] == (
        "Compared with checkpoint, bind-resource changes the p99 of a pod's start, in brackets "
        "until the API shows it running, at QPS 5/10 by +20ms (+200ms) in steady and +200ms (+2s) "
        "in burst; at QPS 50/100 by +10ms (+100ms) in steady and +100ms (+1s) in burst."
    )


def test_a_database_is_compared_with_the_file_after_what_uses_the_api() -> None:
    said = findings(
        [
            repeated(CHECKPOINT, [10, 10]),
            repeated(DATABASE, [8, 8]),
            repeated(BIND, [30, 30]),
        ]
    )

    assert said[0].startswith("Compared with checkpoint, bind-resource changes")
    assert (
        "Compared with checkpoint, database changes a pod's start by -2ms at the median"
        in (said[1])
    )


def test_the_time_until_the_api_shows_a_pod_running_is_told_where_it_is_known() -> None:
    merged = merge(
        made(setting, start=start, running=running, repetition=number)
        for setting, start, running in (
            (replace(CHECKPOINT, qps=5, burst=10), 1, 1_000),
            (BIND, 2, 1_500),
        )
        for number in (1, 2)
    )

    assert "+1ms at p99, until Running in the API by +500ms at p99." in findings(merged)[0]


def test_pods_seen_running_are_not_compared_with_those_that_no_api_server_was_told_of() -> None:
    """S12.2: without an API server nothing holds up a status, so like would not meet like."""
    rows = [
        made(setting, start=start, running=running, repetition=number)
        for setting, start, running in ((CHECKPOINT, 1, 2), (BIND, 2, 1_500))
        for number in (1, 2)
    ]
    virtual = [replace(row, setting=replace(row.setting, clock=TimeSource.VIRTUAL)) for row in rows]

    assert "Running" not in findings(merge(rows))[0]
    assert "until Running in the API by +1.5s at p99." in findings(merge(virtual))[0]


def test_a_faster_start_is_said_too() -> None:
    sentence, *_ = findings([repeated(CHECKPOINT, [30, 30]), repeated(BIND, [20, 20])])

    assert "by -10ms at the median" in sentence


def test_with_one_repetition_the_sentence_says_that_nobody_can_tell() -> None:
    sentence, *_ = findings([repeated(CHECKPOINT, [10]), repeated(BIND, [30])])

    assert "+20ms at the median" in sentence
    assert sentence.endswith("With one repetition nobody can tell such differences from noise.")


def test_what_is_computed_in_virtual_time_has_no_noise() -> None:
    virtual = [
        repeated(replace(setting, clock=TimeSource.VIRTUAL), start)
        for setting, start in ((CHECKPOINT, [10]), (BIND, [30]))
    ]

    assert "nobody can tell" not in " ".join(findings(virtual))


def test_sides_that_differ_in_more_than_the_persistence_are_not_compared() -> None:
    other = replace(BIND, existing=1_000)
    said = " ".join(findings([repeated(CHECKPOINT, [10, 10]), repeated(other, [30, 30])]))

    assert "Compared" not in said


def test_phases_are_compared_each_with_itself() -> None:
    said = findings([repeated(CHECKPOINT, [10], phase="a"), repeated(BIND, [30], phase="b")])

    assert "Compared" not in " ".join(said)


def test_a_flush_period_is_named_where_there_is_nothing_without() -> None:
    sentence, *_ = findings([repeated(CHECKPOINT, [10, 10]), repeated(FLUSHED, [20, 20])])

    assert sentence.startswith("Compared with checkpoint, checkpoint+api (flushPeriod 1s) changes")


def _under_a_slow_fsync(setting: Setting, *, served: float, start: float) -> list[Row]:
    """Return rows without and with a slower fsync, the latter with ten times the latency."""
    slow = replace(setting, added_fsync=Duration(MILLISECOND))
    return [
        made(each, served=share, start=late, repetition=number)
        for each, share, late in ((setting, 1.0, start), (slow, served, 10 * start))
        for number in (1, 2)
    ]


def test_a_difference_of_one_setting_names_it_and_is_no_range() -> None:
    """Under the slower fsync the file does not serve all, so nothing is compared there."""
    sentence, *_ = findings(
        merge(
            [
                *_under_a_slow_fsync(CHECKPOINT, served=0.5, start=10),
                *_under_a_slow_fsync(DATABASE, served=1.0, start=8),
            ]
        )
    )

    assert sentence == (
        "Compared with checkpoint, database changes a pod's start by -2ms at the median and -2ms "
        "at p99, compared only at fsync +0s."
    )


def test_a_range_names_the_settings_that_it_is_over() -> None:
    sentence, *_ = findings(
        merge(
            [
                *_under_a_slow_fsync(CHECKPOINT, served=1.0, start=10),
                *_under_a_slow_fsync(DATABASE, served=1.0, start=8),
            ]
        )
    )

    assert sentence == (
        "Compared with checkpoint, database changes a pod's start by -20ms to -2ms at the median "
        "and -20ms to -2ms at p99 (ranges are over fsync +0s and fsync +1ms)."
    )


def test_latency_beyond_saturation_is_said_to_be_that() -> None:
    merged = merge(
        [
            made(CHECKPOINT, start=10),
            made(CHECKPOINT, start=10, repetition=2),
            made(BIND, served=0.5, start=900),
            made(BIND, served=0.5, start=900, repetition=2),
        ]
    )
    sentence, *_ = findings(merged)

    assert sentence.endswith("at p99, with more load than they serve.")


def test_batching_is_told_by_rate_latency_and_calls() -> None:
    merged = merge(
        made(setting, rate=1_000, served=served, admission=admission, repetition=number)
        for setting, served, admission in ((DATABASE, 0.2, 80), (BATCHED, 0.8, 20))
        for number in (1, 2)
    )
    (sentence, *_) = findings(merged)

    assert sentence == (
        "With database, commitBatch 64 against 1 changes the served rate ×4.00 (200 to 800), "
        "p99 ×0.250 (80.1ms to 20ms)."
    )


def test_a_rate_and_a_latency_of_different_settings_are_told_each_with_its_own() -> None:
    """Where a batch of 1 is overloaded its latency says nothing, elsewhere its rate does not."""
    merged = merge(
        made(
            replace(setting, added_fsync=Duration(added * MILLISECOND)),
            rate=1_000,
            served=served,
            admission=admission,
            repetition=number,
        )
        for setting, added, served, admission in (
            *((DATABASE, 0, 1.0, 8), (BATCHED, 0, 1.0, 4)),
            *((DATABASE, 1, 0.2, 80), (BATCHED, 1, 0.8, 20)),
        )
        for number in (1, 2)
    )

    assert findings(merged)[0] == (
        "With database, commitBatch 64 against 1 changes the served rate ×4.00 (200 to 800) at "
        "fsync +1ms, p99 ×0.500 (8ms to 4ms) at fsync +0s."
    )


def test_phases_that_only_one_figure_is_from_are_named() -> None:
    merged = merge(
        made(setting, phase=phase, rate=1_000, served=served, admission=3)
        for phase, served in (("steady", 1.0), ("storm", 0.5))
        for setting in (DATABASE, BATCHED)
    )

    assert (
        "changes the served rate ×1.00 (500 to 500) in storm, p99 ×1.00 (3ms to 3ms) in steady."
    ) in findings(merged)[0]


def test_settings_that_no_word_tells_from_the_others_are_counted() -> None:
    merged = merge(
        made(
            replace(setting, added_fsync=Duration(added * MILLISECOND), existing=existing),
            served=0.5 if (added, existing) == (1, 110) else 1.0,
            admission=3,
        )
        for setting in (DATABASE, BATCHED)
        for added in (0, 1)
        for existing in (0, 110)
    )
    said = " ".join(findings(merged))

    assert (
        "the served rate ×1.00 (50 to 50) at fsync +1ms, 110 existing, p99 ×1.00 in 3 of 4 cases"
        in (said)
    )


def test_a_batch_that_serves_all_might_serve_more() -> None:
    merged = merge([made(DATABASE, rate=1_000, served=0.2), made(BATCHED, rate=1_000, served=1.0)])
    (sentence, *_) = findings(merged)

    assert "the served rate ×5.00 (200 to 1000) or more" in sentence


def test_a_flush_that_saves_calls_is_told_by_them() -> None:
    rows = [
        replace(
            made(replace(FLUSHED, flush_period=Duration(period * SECOND))),
            api_calls=(ApiCallCount("patch", "pods/status", calls),),
        )
        for period, calls in ((0, 100), (10, 25))
    ]
    said = " ".join(findings(merge(rows)))

    assert "With checkpoint+api, flushPeriod 10s against 0s changes" in said
    assert "API calls per pod ×0.250 (1 to 0.25)" in said


def test_a_batch_that_changes_nothing_is_told_in_one_word() -> None:
    merged = merge(
        made(setting, admission=admission, repetition=number)
        for setting in (DATABASE, BATCHED)
        for number, admission in ((1, 2), (2, 3))
    )

    assert findings(merged)[0] == (
        "With database, commitBatch 64 against 1 changes the served rate and p99 by no more than "
        "the noise."
    )


def test_growth_is_told_from_the_fewest_to_the_most_existing_bindings() -> None:
    merged = [
        repeated(replace(setting, existing=existing), start)
        for setting, existing, start in (
            (CHECKPOINT, 110, [10, 10]),
            (CHECKPOINT, 5_000, [100, 100]),
            (DATABASE, 110, [10, 11]),
            (DATABASE, 5_000, [10, 11]),
        )
    ]
    said = findings(merged)

    assert said[1] == (
        "From 110 to 5000 existing pods on a node, the median admission changes: "
        "checkpoint ×10.0 (1ms to 10ms); database no more than the noise."
    )


def test_settings_that_do_not_serve_what_is_offered_are_named_with_what_they_serve() -> None:
    merged = merge([made(CHECKPOINT, rate=900, served=0.5), made(DATABASE, rate=900)])

    assert (
        "1 of 2 settings saturate below what is offered (at most 900/s): checkpoint at 450/s."
        in findings(merged)[-1]
    )


def test_where_all_is_served_nothing_is_said_to_be_saturated() -> None:
    merged = merge([made(CHECKPOINT), made(DATABASE)])

    assert "All 2 settings serve what is offered, at most 100/s." in (findings(merged)[0])


def test_of_pods_that_come_all_at_once_no_saturation_is_told() -> None:
    merged = merge([made(CHECKPOINT, rate=900), made(DATABASE, rate=90)])

    assert not any("what is offered" in sentence for sentence in findings(merged))


def test_one_row_is_compared_with_nothing() -> None:
    said = findings(merge([made(CHECKPOINT, admission=20)]))

    assert said == (
        (
            "checkpoint served 100/s of 100/s offered (churn), p99 20ms; "
            "there is nothing to compare it with."
        ),
    )


def test_of_nothing_nothing_is_said() -> None:
    no_rows: list[Merged] = []

    assert findings(no_rows) == ()


def test_the_three_sentences_on_top_are_of_different_kinds() -> None:
    said = findings(merge(example().rows))

    assert said[0].startswith("Compared with checkpoint, bind-resource")
    assert said[1].startswith("With checkpoint+api, flushPeriod 1s against 0s")
    assert "saturate below what is offered" in said[2]
    assert len(said) > LEADS


def test_batches_that_differ_in_more_than_their_size_are_not_compared() -> None:
    merged = merge([made(DATABASE), made(replace(BATCHED, existing=1_000))])

    assert not any("commitBatch 64 against 1" in sentence for sentence in findings(merged))
