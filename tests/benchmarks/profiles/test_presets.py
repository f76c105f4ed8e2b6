"""The profiles that come with Rebind: bounded, with the published numbers."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import pytest

from benchmarks.profiles.estimate import estimated
from benchmarks.profiles.loading import LoadedProfile, load_profiles
from benchmarks.profiles.presets import find_profile, preset_names
from benchmarks.profiles.profile import FlatGate, LatencyGate, Phase, RateGate
from benchmarks.profiles.schedule import Arrival, arrivals
from benchmarks.results.rows import Measure, TimeSource
from benchmarks.results.slices import Tracked
from simulator.core.instants import MILLISECOND, MINUTE, SECOND, Duration
from simulator.errors import ProfileError
from tests.benchmarks.profiles.writing import phase

NAMES = preset_names()


def load(name: str, **settings: str) -> LoadedProfile:
    """Read a preset."""
    [loaded] = load_profiles(find_profile(name), settings)
    return loaded


def comes(loaded: LoadedProfile, name: str) -> list[Arrival]:
    """Return what comes in a phase."""
    return list(arrivals(loaded.profile, phase(loaded, name)))


def latency_gates(one: Phase) -> list[tuple[float, int]]:
    """Return percentiles and bounds in seconds of the gates of a phase."""
    gates = [gate for gate in one.gates if isinstance(gate, LatencyGate)]
    assert {gate.measure for gate in gates} <= {Measure.RUNNING}
    return [(gate.percentile, gate.below // SECOND) for gate in gates]


@pytest.mark.parametrize("name", NAMES)
def test_a_preset_is_bounded_and_says_what_it_is(name: str) -> None:
    """Details 25; it has the name of its file."""
    profile = load(name).profile
    combinations = profile.combinations(postgresql=True)

    assert profile.name == name
    assert 1 <= len(combinations) <= 12
    assert 10 <= len(profile.about) <= 100
    assert 0 < estimated(profile, combinations) <= 15 * MINUTE
    assert len(profile.combinations(whole_matrix=True)) >= len(profile.combinations())


def test_the_presets_are_the_ones_that_are_promised() -> None:
    assert set(NAMES) >= {
        *(
            "quick",
            "density",
            "load",
            "node-throughput",
            "gpu-fill-then-churn",
            "dra-fill-and-churn",
        ),
        *("e2e-node-density", "scheduler-throughput", "chaos", "reboot-storm", "api-comparison"),
        *("burst-110", "limiter", "soak-80"),
    }


def test_quick_takes_a_minute_at_most() -> None:
    quick = load("quick").profile

    assert estimated(quick, quick.combinations()) <= MINUTE


def test_density_is_30_pods_per_node_at_20_per_second_then_500_at_5() -> None:
    loaded = load("density")

    assert len(comes(loaded, "saturate")) == 30 * 100
    assert comes(loaded, "saturate")[20].at == SECOND
    assert len(comes(loaded, "latency")) == 500
    assert comes(loaded, "latency")[5].at == SECOND
    assert latency_gates(phase(loaded, "latency")) == [(99, 5)]


def test_load_is_30_pods_per_node_at_10_per_second() -> None:
    loaded = load("load")

    assert len(comes(loaded, "create")) == 30 * 100
    assert comes(loaded, "create")[10].at == SECOND


def test_node_throughput_is_100_pods_at_5_per_second_on_one_node_below_5_s() -> None:
    loaded = load("node-throughput")

    assert loaded.profile.nodes.count == 1
    assert len(comes(loaded, "throughput")) == 100
    assert comes(loaded, "throughput")[5].at == SECOND
    assert latency_gates(phase(loaded, "throughput")) == [(99, 5)]


def test_scheduler_throughput_is_5000_pods_at_500_per_second_and_wants_400() -> None:
    loaded = load("scheduler-throughput")

    assert len(comes(loaded, "throughput")) == 5_000
    assert comes(loaded, "throughput")[500].at == SECOND
    assert phase(loaded, "throughput").gates == (RateGate(400),)


def test_the_dra_load_fills_90_percent_of_8_devices_per_node_and_runs_jobs_of_30_s() -> None:
    """720 long pods, 80 jobs at 5/s, each 10 completions."""
    loaded = load("dra-fill-and-churn")
    fill, jobs = phase(loaded, "fill"), comes(loaded, "jobs")

    assert fill.expected == 36 * SECOND
    assert latency_gates(fill) == [(99, 5)]
    assert (len(jobs), jobs[5].at, {job.lifetime for job in jobs}) == (80, SECOND, {30 * SECOND})
    assert len(jobs) + len(comes(loaded, "completions")) == 800
    assert latency_gates(phase(loaded, "completions")) == [(50, 40), (90, 60), (99, 80)]


@pytest.mark.parametrize("pods", [10, 35, 90])
@pytest.mark.parametrize(
    ("spacing", "gap"), [("at-once", 0), ("every-100ms", 100), ("every-300ms", 300)]
)
def test_the_node_density_test_has_its_counts_and_spacings(
    pods: int, spacing: str, gap: int
) -> None:
    found = comes(load("e2e-node-density"), f"pods-{pods}-{spacing}")

    assert len(found) == pods
    assert {later.at - sooner.at for sooner, later in pairwise(found)} == {gap * MILLISECOND}


def test_the_node_density_test_has_its_gates() -> None:
    loaded = load("e2e-node-density")

    assert latency_gates(phase(loaded, "pods-10-at-once")) == [(50, 16), (90, 18), (99, 20)]
    assert latency_gates(phase(loaded, "one-by-one")) == [(50, 5), (90, 9), (99, 10)]
    assert len(comes(loaded, "background")) == 50


def test_chaos_fails_1_percent_of_the_nodes_every_minute_for_10_minutes() -> None:
    chaos = phase(load("chaos"), "chaos").chaos

    assert chaos is not None
    assert (chaos.nodes, chaos.every, chaos.down) == (Fraction(1, 100), MINUTE, 10 * MINUTE)


def test_the_limiter_is_asked_at_its_four_rates_for_15_s() -> None:
    """performance-notes.md: QPS 50, burst 100."""
    loaded = load("limiter")
    counts = [len(comes(loaded, f"at-{rate}")) for rate in (10, 50, 100, 200)]

    assert counts == [150, 750, 1_500, 3_000]
    limits = {one.kube_api for one in loaded.profile.combinations()}
    assert [(one.qps, one.burst) for one in limits if one is not None] == [(50, 100)]


def test_the_burst_is_110_pods_with_0_1_and_3_more_calls_at_qps_5_and_50() -> None:
    loaded = load("burst-110")
    found = loaded.profile.combinations()

    assert [arrival.at for arrival in comes(loaded, "burst")] == [0] * 110
    assert [(one.persistence.label, one.kube_api and one.kube_api.qps) for one in found] == [
        (persistence, qps)
        for persistence in ("checkpoint", "bind-resource", "bind-resource perContainer")
        for qps in (5, 50)
    ]
    assert {one.clock for one in found} == {TimeSource.VIRTUAL}
    [template] = loaded.profile.templates.values()
    assert len(template.containers) == 3


def test_the_comparison_covers_every_cell_of_its_table() -> None:
    """Six persistences with two limits; 110, 1,000 and 5,000 pods; 0 and 1 ms.

    All write statuses to an API server, so that the limits hold for all (S12.1, S12.2).
    """
    profile = load("api-comparison").profile

    assert len(profile.combinations(whole_matrix=True)) == 6 * 2 * 3 * 2
    assert all(one.has_api_server for one in profile.combinations())
    assert {one.existing for one in profile.combinations()} == {110}


def test_the_soak_takes_10_minutes_at_80_percent_with_retention() -> None:
    loaded = load("soak-80")

    soak = phase(loaded, "soak")
    assert soak.duration == 10 * MINUTE
    assert loaded.profile.retention == 10_000
    assert soak.is_sliced
    assert {gate.tracked for gate in soak.gates if isinstance(gate, FlatGate)} == set(Tracked)
    short = load("soak-80", DURATION="1m")
    found = list(arrivals(short.profile, phase(short, "soak"), saturation=1_000))
    assert len(found) == pytest.approx(800 * 60, rel=0.02)


def test_parameters_change_a_preset() -> None:
    assert load("quick", NODES="7", DURATION="1s").profile.nodes.count == 7
    assert phase(load("quick", DURATION="1s"), "churn").duration == Duration(SECOND)


def test_an_unknown_preset_is_refused_with_the_nearest_one() -> None:
    with pytest.raises(ProfileError) as caught:
        find_profile("quik")

    expected = 'there is no preset "quik"; did you mean "quick"? `rebind bench list` shows all'
    assert str(caught.value) == expected


def test_more_combinations_take_longer() -> None:
    """10 instead of 8."""
    profile = load("quick").profile
    every = profile.combinations(whole_matrix=True)

    assert estimated(profile, every) == estimated(profile, profile.combinations()) * 10 // 8
