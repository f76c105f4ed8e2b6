"""Shapes of phases: ramps, closed loops, restarts, reboots, what was there before."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.measuring.phases import Target
from benchmarks.results.rows import Measure
from simulator.core.transitions import NodeName
from tests.benchmarks.measuring.runs import Written, ms, percentile


def test_a_ramp_ends_at_the_first_step_that_is_too_much() -> None:
    """A node admits one pod after the other; at 30 ms each it cannot do more than 33 a second."""
    written = Written(
        allocate="30ms",
        devices=500,
        lifetime="1h",
        load="{rampLoad: {from: 5, to: 80, factor: 2, stepDuration: 2s, "
        "saturated: {achievedBelow: 90%}}}",
        phases="- {name: ramp, load: load, pods: pod, drain: 10s}",
    )
    result = written.result()
    rows = result.rows

    assert result.is_complete
    assert [row.phase for row in rows] == ["ramp-5", "ramp-10", "ramp-20", "ramp-40"]
    assert [row.served for row in rows] == [row.offered for row in rows]
    assert rows[-1].achieved_per_second < 34 < rows[-1].offered_per_second
    assert percentile(rows[-1], Measure.ADMISSION, 99) > ms(200)


def test_a_load_can_be_a_share_of_the_rate_that_a_ramp_has_found() -> None:
    written = Written(
        allocate="30ms",
        devices=500,
        load="{rampLoad: {from: 5, to: 80, factor: 2, stepDuration: 2s, "
        "saturated: {achievedBelow: 90%}}}\n    share: {saturationLoad: {share: 50%}}",
        phases="- {name: ramp, load: load, pods: pod, drain: 10s}\n"
        "  - {name: half, load: share, pods: pod, duration: 10s}",
    )
    half = written.rows()[-1]

    assert half.phase == "half"
    assert 6 <= half.offered_per_second <= 15  # Half of 20, as Poisson arrivals.


def test_a_closed_loop_offers_the_next_pod_when_one_is_served() -> None:
    written = Written(
        allocate="97ms",
        devices=500,
        load="{closedLoop: {concurrency: 1}}",
        phases="- {name: loop, load: load, pods: pod, duration: 5s}",
    )
    row = written.row()

    # 97 ms, a commit of 1.1 ms before and after, and the way of the pod to the kubelet.
    assert 45 <= row.served <= 50
    assert row.offered <= row.served + 1


def test_restarted_kubelets_admit_their_pods_again_and_rebooted_nodes_start_them_again() -> None:
    written = Written(
        nodes=4,
        lifetime="1h",
        load="{burst: {pods: 20}}",
        phases="- {name: fill, load: load, pods: pod, drain: 10s, measure: false}\n"
        "  - {name: restart, restartKubelet: {nodes: 50%}, drain: 60s}\n"
        "  - {name: reboot, rebootNodes: {nodes: 100%, downtime: 5s}, drain: 60s}",
    )
    restart, reboot = replace(written, plugin="reregisterAfter: 50ms").rows()

    assert (restart.served, restart.errors) == (restart.offered, 0)
    assert 4 <= restart.offered <= 16
    # 200 ms from a start to the first batch of pods.
    assert ms(200) <= percentile(restart, Measure.ADMISSION, 1) <= ms(210)
    assert Measure.START not in restart.latencies
    assert (reboot.offered, reboot.served, reboot.errors) == (20, 20, 0)
    assert percentile(reboot, Measure.ADMISSION, 1) >= ms(200)
    assert len(reboot.latencies[Measure.START]) == 20


def test_pods_of_a_rebooted_node_fail_when_their_plugin_comes_late() -> None:
    """#116376: the first batch is admitted before the plugin has registered."""
    written = Written(
        lifetime="1h",
        load="{burst: {pods: 5}}",
        phases="- {name: fill, load: load, pods: pod, drain: 10s, measure: false}\n"
        "  - {name: reboot, rebootNodes: {nodes: 100%, downtime: 5s}, drain: 60s}",
    )
    row = replace(written, plugin="startsAfterBoot: 5s").row()

    assert (row.offered, row.served, row.errors) == (5, 0, 5)


def test_a_phase_begins_afresh_when_it_is_told_to() -> None:
    pods: list[int] = []
    written = Written(
        lifetime="1h",
        load="{burst: {pods: 5}}",
        phases="- {name: first, load: load, pods: pod, drain: 10s}\n"
        "  - {name: second, load: load, pods: pod, drain: 10s, fresh: true}",
    )

    def watch(target: Target) -> None:
        world = target.driver.world
        world.watch_records(lambda _: pods.append(len(world.api.pods())))

    first, second = written.rows(watch)

    assert (first.served, second.served) == (5, 5)
    # A burst is as long as it takes to serve it.
    assert first.seconds == first.elapsed < 0.1
    assert max(pods) == 5


def test_a_phase_ends_when_enough_devices_are_held() -> None:
    written = Written(
        nodes=4,
        devices=10,
        lifetime="1h",
        load="{qpsLoad: {qps: 100}}",
        phases="- {name: fill, load: load, pods: pod, until: {utilization: 90%}, drain: 10s}",
    )
    row = written.row()

    assert (row.offered, row.served) == (36, 36)
    assert row.seconds == pytest.approx(0.36, abs=0.02)


@pytest.mark.parametrize("persistence", ["checkpoint", "database"])
@pytest.mark.parametrize("clock", ["virtual", "real"])
def test_existing_pods_hold_devices_of_their_own(persistence: str, clock: str) -> None:
    held: list[int] = []
    written = Written(
        nodes=2,
        devices=4,
        persistence=persistence,
        clock=clock,
        lifetime="1h",
        load="{burst: {pods: 8}}",
        phases="- {name: churn, load: load, pods: pod, drain: 10s}",
        matrix="existing: 20",
    )

    def watch(target: Target) -> None:
        world = target.driver.world
        held.append(len(world.holdings(NodeName("n1"))))

    row = written.row(watch)

    assert held == [20]
    assert (row.setting.existing, row.served, row.errors, row.bindings) == (20, 8, 0, 8)


def test_pods_that_finish_by_themselves_make_room_for_others() -> None:
    written = Written(
        devices=1,
        lifetime="200ms",
        load="{qpsLoad: {qps: 0.5}}",
        phases="- {name: churn, load: load, pods: pod, duration: 9s}",
        pod="finishes: true",
    )
    row = written.row()

    assert (row.offered, row.served, row.errors) == (5, 5, 0)
    assert row.latencies[Measure.ADMISSION].longest() < ms(20)
