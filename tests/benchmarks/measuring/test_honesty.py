"""Known delays and known stalls are found where they must show, and nothing is left out."""

from __future__ import annotations

import time
from functools import partial

import pytest

from benchmarks.measuring.phases import Target
from benchmarks.results.rows import Measure
from simulator.core.instants import Instant, after
from simulator.core.records import AdmissionDecided, Stamped
from simulator.engine.actions import HangPlugin
from tests.benchmarks.measuring.runs import Written, ms, percentile

FSYNC = ms(1)
"""What an fsync takes in virtual time."""


@pytest.mark.parametrize("persistence", ["checkpoint", "database"])
def test_a_known_delay_of_allocate_is_in_every_latency(persistence: str) -> None:
    load = "{qpsLoad: {qps: 10}}"
    usual = Written(persistence=persistence, load=load).row()
    slowed = Written(persistence=persistence, load=load, allocate="51ms").row()

    for measure in (Measure.ADMISSION, Measure.START, Measure.RUNNING, Measure.VISIBLE):
        for percent in (1, 50, 99):
            added = percentile(slowed, measure, percent) - percentile(usual, measure, percent)
            assert abs(added - ms(50)) <= ms(0.2), (measure, percent)


def test_a_known_delay_of_each_fsync_is_in_the_latency_of_admission() -> None:
    usual, slowed = (
        Written(persistence="checkpoint", matrix=f"addedFsync: {added}").row()
        for added in ("0ms", "30ms")
    )
    added = percentile(slowed, Measure.ADMISSION, 50) - percentile(usual, Measure.ADMISSION, 50)

    # S4.9: one fsync for each write, and one write for each container.
    assert abs(added - ms(30)) <= ms(0.2)


def test_a_known_stall_delays_every_pod_that_was_to_come_meanwhile() -> None:
    """A plugin that hangs for 300 ms: 100 pods a second come all the same."""

    def stall(target: Target) -> None:
        world = target.driver.world
        hang = partial(world.perform, HangPlugin("gpu-n0", ms(300)), "hang")
        world.timeline.call_at(after(world.now, ms(500)), hang)

    written = Written(load="{qpsLoad: {qps: 100}}", devices=200)
    row, quiet = written.row(stall), written.row()

    assert quiet.latencies[Measure.ADMISSION].longest() < ms(10)
    # Who came first has waited for all of it, who came last for nearly nothing; and while the
    # kubelet admits the 30 of them, at 2 ms each, 7 more come.
    spans = [
        span for span, count in row.latencies[Measure.ADMISSION].counts() for _ in range(count)
    ]
    assert (row.offered, row.served, row.late) == (100, 100, 0)
    assert ms(285) < max(spans) < ms(310)
    delayed = sum(span > ms(20) for span in spans)
    assert 30 <= delayed <= 40
    assert ms(120) < sum(spans) / len(spans) * 100 / delayed < ms(200)


def test_a_stall_of_the_load_generator_is_counted_as_late_and_paid_for() -> None:
    """No coordinated omission: for 300 ms nothing at all happens, neither load nor kubelets."""

    def stall(target: Target) -> None:
        """Let it begin with the load, however long a busy machine takes until that."""
        world = target.driver.world
        begun: list[Instant] = []

        def take(stamped: Stamped) -> None:
            if isinstance(stamped.record, AdmissionDecided) and not begun:
                begun.append(world.now)
                world.timeline.call_at(after(world.now, ms(300)), partial(time.sleep, 0.3))

        world.watch_records(take)

    written = Written(
        clock="real",
        load="{qpsLoad: {qps: 100}}",
        devices=200,
        lifetime="1h",
        phases="- {name: churn, load: load, pods: pod, duration: 800ms}",
    )
    row = written.row(stall)
    over = sum(count for span, count in row.latencies[Measure.ADMISSION].counts() if span > ms(100))

    assert (row.offered, row.served) == (80, 80)
    assert row.late >= 28
    assert over >= 19  # Those of the first 200 ms of the stall.
    assert row.latencies[Measure.ADMISSION].longest() >= ms(285)


def test_pods_that_are_not_served_count_with_the_time_that_they_have_waited() -> None:
    written = Written(
        allocate="200ms",
        load="{qpsLoad: {qps: 50}}",
        phases="- {name: churn, load: load, pods: pod, duration: 1s, drain: 500ms}",
    )
    row = written.row()

    assert (row.offered, row.errors) == (50, 0)
    assert 6 <= row.served <= 8
    assert len(row.latencies[Measure.ADMISSION]) == 50
    assert row.latencies[Measure.ADMISSION].longest() > ms(1200)
    assert row.unserved + row.served == 50


def test_pods_without_room_wait_for_it_from_their_scheduled_start() -> None:
    """One device, held for 300 ms by each: the second of two pods that come at once waits."""
    written = Written(
        devices=1,
        lifetime="300ms",
        load="{burst: {pods: 2}}",
        phases="- {name: churn, load: load, pods: pod, drain: 5s}",
    )
    row = written.row()

    assert (row.served, row.skipped) == (2, 0)
    assert row.latencies[Measure.ADMISSION].longest() > ms(300)
