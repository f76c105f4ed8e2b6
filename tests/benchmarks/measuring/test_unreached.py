"""Pods that never come to something stay in the percentiles, and durable is what survives."""

from __future__ import annotations

import sys
from dataclasses import replace

import pytest

from benchmarks.measuring.following import Risk
from benchmarks.measuring.windows import Followed, Window
from benchmarks.results.rows import Measure, Row
from simulator.core.instants import SECOND, Duration
from tests.benchmarks.measuring.runs import Written, ms, percentile

SLOW_API = "\n  apiServer: {latency: {p50: 50ms, p99: 50ms}}"
BURST = Written(
    load="{burst: {pods: 5}}",
    lifetime="1h",
    phases=f"- {{name: churn, load: load, pods: pod, drain: 20s}}{SLOW_API}",
)


def bound(row: Row, measure: Measure) -> tuple[int, int]:
    """Return how many latencies of a measure there are, and how many are of pods short of it."""
    return len(row.latencies[measure]), row.unreached.get(measure, 0)


def test_pods_that_failed_are_in_the_percentiles_as_never_served() -> None:
    """#116376: the first batch after a reboot is admitted before the plugin has registered."""
    written = replace(
        BURST,
        phases="- {name: fill, load: load, pods: pod, drain: 10s, measure: false}\n"
        "  - {name: reboot, rebootNodes: {nodes: 100%, downtime: 5s}, drain: 60s}",
        plugin="startsAfterBoot: 5s",
    )
    row = written.row()

    assert (row.served, row.errors) == (0, 5)
    assert bound(row, Measure.ADMISSION) == bound(row, Measure.START) == (5, 5)
    assert row.is_lower_bound(Measure.ADMISSION, 50)


def test_a_percentile_is_a_bound_only_where_unreached_pods_reach() -> None:
    """200 ms for each Allocate: of 50 pods 6 to 8 are served in time."""
    row = Written(
        allocate="200ms",
        load="{qpsLoad: {qps: 50}}",
        phases="- {name: churn, load: load, pods: pod, duration: 1s, drain: 500ms}",
    ).row()

    assert row.unreached[Measure.ADMISSION] == 50 - row.served
    assert not row.is_lower_bound(Measure.ADMISSION, 10)
    assert row.is_lower_bound(Measure.ADMISSION, 50)


@pytest.mark.parametrize(
    ("persistence", "waits"),
    [("checkpoint+api", False), ("pod-status", False), ("bind-resource", True)],
)
def test_admitted_durably_is_what_a_crash_of_the_kubelet_leaves(
    persistence: str, *, waits: bool
) -> None:
    """bind-resource has nothing but the API, which takes 50 ms here; the others have a file."""
    row = replace(BURST, persistence=persistence).row()

    assert (row.served, row.bindings) == (5, 5)
    assert (percentile(row, Measure.ADMISSION, 1) >= ms(50)) is waits
    assert percentile(row, Measure.VISIBLE, 1) >= ms(50)
    if waits:
        assert percentile(row, Measure.ADMISSION, 99) <= percentile(row, Measure.START, 99)


@pytest.mark.parametrize(("synchronous", "most"), [("true", 0), ("false", 5)])
def test_only_bindings_of_pods_that_may_start_are_at_risk(synchronous: str, most: int) -> None:
    persistence = f"{{binding-object: {{synchronous: {synchronous}}}}}"
    row = replace(BURST, persistence=persistence).row()

    assert (row.served, row.at_risk_max, row.at_risk_end) == (5, most, 0)


def test_pods_that_end_before_anybody_saw_their_devices_are_never_seen() -> None:
    """Deleted after 100 ms, and flushed to the API every 10 s."""
    row = Written(persistence="checkpoint+api", matrix="flushPeriod: 10s").row()

    assert (row.served, row.errors, row.at_risk_end) == (20, 0, 0)
    count, unseen = bound(row, Measure.VISIBLE)
    assert count == 20
    assert unseen >= 18
    assert row.is_lower_bound(Measure.VISIBLE, 50)
    assert not row.is_lower_bound(Measure.ADMISSION, 100)


def test_of_a_pod_that_is_lost_only_its_waits_are_kept() -> None:
    """A long run with API limits loses most of its pods before they are seen."""
    window = Window("soak", Duration(0), Duration(SECOND))
    followed = Followed(ms(10), window, {Measure.VISIBLE})
    held = sys.getrefcount(followed)

    window.begin(followed)
    assert sys.getrefcount(followed) > held
    window.gone(followed)
    assert sys.getrefcount(followed) == held
    waited = window.percentile_by(ms(30), Measure.VISIBLE, 50)
    assert waited is not None
    assert abs(waited - ms(20)) <= ms(0.02)
    assert window.percentile_by(ms(30), Measure.ADMISSION, 50) is None


def test_bindings_at_risk_are_those_unsynced_and_those_unseen() -> None:
    syncs = [0]
    risk = Risk(lambda: syncs[0])
    risk.unseen(2)
    risk.bound(3)
    assert (risk.now, risk.most) == (5, 5)

    syncs[0] += 1
    risk.settle()
    assert (risk.now, risk.most) == (2, 5)

    risk.unseen(-2)
    assert risk.now == 0


def test_a_closed_loop_does_not_grow_when_its_pods_are_admitted_again() -> None:
    row = Written(
        devices=500,
        lifetime="1h",
        load="{closedLoop: {concurrency: 2}}",
        allocate="100ms",
        phases="- {name: loop, load: load, pods: pod, duration: 5s, "
        "restartKubelet: {spread: 2s}, drain: 1ms}",
        plugin="reregisterAfter: 50ms",
    ).row()

    assert row.served > 10
    assert row.offered <= row.served + 2


def test_a_pod_that_waits_for_room_is_counted() -> None:
    row = Written(
        devices=1,
        lifetime="300ms",
        load="{burst: {pods: 2}}",
        phases="- {name: churn, load: load, pods: pod, drain: 5s}",
    ).row()

    assert (row.served, row.waited) == (2, 1)


def test_a_second_without_pods_is_one_too() -> None:
    row = Written(
        load="{steppedLoad: {burstSize: 5, stepDelay: 4s}}",
        devices=50,
        phases="- {name: churn, load: load, pods: pod, duration: 12s}",
    ).row()

    assert row.served_each_second == (5, 0, 0, 0, 5, 0, 0, 0, 5, 0, 0, 0)


def test_a_phase_of_so_many_pods_is_as_long_as_their_distances() -> None:
    row = Written(
        phases="- {name: churn, load: load, pods: pod, until: {pods: 10}}",
        load="{qpsLoad: {qps: 20}}",
    ).row()

    assert row.offered == 10
    assert row.offered_per_second == pytest.approx(20)


def test_steps_of_a_ramp_have_names_of_their_own() -> None:
    rows = Written(
        load="{rampLoad: {from: 1, to: 1.5, factor: 1.2, stepDuration: 1s}}",
        phases="- {name: ramp, load: load, pods: pod}",
    ).rows()

    assert [row.phase for row in rows] == ["ramp-1.0", "ramp-1.2", "ramp-1.4", "ramp-1.5"]
    assert sum(row.seconds for row in rows) * SECOND == 4 * SECOND
