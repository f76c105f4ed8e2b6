"""Schedules of pods: their rates and distributions, and that nothing but the seed decides them."""

from __future__ import annotations

import math
import statistics
from fractions import Fraction
from itertools import islice, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.profiles.loads import RampLoad, Saturation
from benchmarks.profiles.schedule import Arrival, arrivals
from simulator.core.instants import MILLISECOND, MINUTE, SECOND, Duration
from tests.benchmarks.profiles.writing import PROFILE, edited, parse, phase

CHURN = "{name: churn, load: steady, pods: short, duration: 5m, warmup: 30s}"


def schedule(text: str, name: str, **options: int) -> list[Arrival]:
    """Return what comes in a phase."""
    loaded = parse(text)
    return list(arrivals(loaded.profile, phase(loaded, name), **options))


def with_load(load: str, more: str = "duration: 1m") -> list[Arrival]:
    """Return what comes under a load."""
    text = edited("{poissonLoad: {expectedActionsPerSecond: 50}}", load)
    return schedule(text.replace("duration: 5m, warmup: 30s", more), "churn")


def test_the_same_seed_makes_the_same_pods_at_the_same_instants() -> None:
    first, second, *_ = schedule(PROFILE, "churn")

    assert first == Arrival(Duration(12_238_828), "short", Duration(16_392_635_262))
    assert second == Arrival(Duration(35_116_355), "short", Duration(18_148_590_246))


def test_another_seed_makes_another_schedule() -> None:
    assert schedule(PROFILE, "churn", seed=8) != schedule(PROFILE, "churn")
    assert schedule(PROFILE, "churn", seed=7) == schedule(PROFILE, "churn")


def test_a_phase_more_does_not_shift_the_others() -> None:
    more = f"{CHURN}\n  - {{name: again, load: steady, pods: short, duration: 1m}}"
    text = edited(CHURN, more)

    for name in ("fill", "churn", "storm"):
        assert schedule(text, name) == schedule(PROFILE, name)
    assert schedule(text, "again") != schedule(PROFILE, "churn")[: len(schedule(text, "again"))]


def test_other_lifetimes_do_not_shift_the_instants() -> None:
    text = edited("{lognormal: {median: 30s, sigma: 0.8}, max: 5m}", "{exponential: {mean: 9s}}")

    before, after = schedule(PROFILE, "churn"), schedule(text, "churn")
    assert [one.at for one in before] == [one.at for one in after]
    assert [one.lifetime for one in before] != [one.lifetime for one in after]


def test_poisson_arrivals_have_their_rate_and_know_nothing_of_each_other() -> None:
    """15,000 pods are expected, give or take the root of that."""
    found = schedule(PROFILE, "churn")
    gaps = [later.at - sooner.at for sooner, later in pairwise(found)]

    assert abs(len(found) - 15_000) < 4 * math.sqrt(15_000)
    assert statistics.mean(gaps) == pytest.approx(20 * MILLISECOND, rel=0.05)
    assert statistics.stdev(gaps) == pytest.approx(20 * MILLISECOND, rel=0.05)
    longer = sum(gap > 20 * MILLISECOND for gap in gaps)
    assert longer / len(gaps) == pytest.approx(0.368, abs=0.02)


def test_even_arrivals_begin_at_once_and_do_not_drift() -> None:
    found = with_load("{qpsLoad: {qps: 3}}", "duration: 3s")

    assert [one.at for one in found] == [
        *(0, 333_333_333, 666_666_666),
        *(1_000_000_000, 1_333_333_333, 1_666_666_666),
        *(2_000_000_000, 2_333_333_333, 2_666_666_666),
    ]


def test_steps_are_bursts_of_exactly_so_many_pods() -> None:
    found = schedule(PROFILE, "storm")

    assert [one.at for one in found] == [
        Duration(step * 2 * SECOND) for step in range(30) for _ in range(40)
    ]


def test_a_burst_is_all_at_once() -> None:
    found = with_load("{burst: {pods: 110}}", "drain: 1m")

    assert [one.at for one in found] == [0] * 110


def test_a_ramp_grows_by_its_factor_and_ends_with_its_last_rate() -> None:
    ramp = RampLoad(10, 100, 2, Duration(SECOND), Saturation(Fraction(1)))

    assert [step.rate for step in ramp.steps()] == [10, 20, 40, 80, 100]
    assert [step.begin for step in ramp.steps()] == [index * SECOND for index in range(5)]


def test_each_step_of_a_ramp_has_its_own_rate() -> None:
    ramp = "{rampLoad: {from: 100, to: 1600, factor: 4, stepDuration: 10s}}"
    found = with_load(ramp, "drain: 1s")
    counts = [sum(one.at // (10 * SECOND) == step for one in found) for step in range(3)]

    assert sum(counts) == len(found)
    for count, expected in zip(counts, (1_000, 4_000, 16_000), strict=True):
        assert abs(count - expected) < 4 * math.sqrt(expected)


def test_a_closed_loop_has_no_instants_and_no_end() -> None:
    loaded = parse(
        edited("{qpsLoad: {qps: 200}}", "{closedLoop: {concurrency: 4}}").replace(
            "until: {utilization: 90%}", "duration: 1s"
        )
    )
    found = list(islice(arrivals(loaded.profile, phase(loaded, "fill")), 1_000))

    assert {one.at for one in found} == {0}
    assert len(found) == 1_000


def test_a_share_of_the_saturation_rate_wants_that_rate() -> None:
    ramp = "{rampLoad: {from: 10, to: 100, stepDuration: 1s}}"
    text = edited("{qpsLoad: {qps: 200}}", ramp).replace(", until: {utilization: 90%}", "")
    text = text.replace(
        "{poissonLoad: {expectedActionsPerSecond: 50}}", "{saturationLoad: {share: 80%}}"
    )
    loaded = parse(text)
    soak = phase(loaded, "churn")

    found = list(arrivals(loaded.profile, soak, saturation=100))
    assert abs(len(found) - 80 * 300) < 4 * math.sqrt(80 * 300)
    with pytest.raises(ValueError, match="share of a saturation rate, and none is known"):
        arrivals(loaded.profile, soak)


@pytest.mark.parametrize(("until", "count"), [("{pods: 7}", 7), ("{podsPerNode: 3}", 300)])
def test_a_phase_can_end_after_a_number_of_pods(until: str, count: int) -> None:
    assert len(with_load("{qpsLoad: {qps: 10}}", f"until: {until}")) == count


def test_pods_of_a_phase_are_mixed_by_weight_and_keep_their_own_lifetimes() -> None:
    found = schedule(
        edited("load: steady, pods: short", "load: steady, pods: {long: 1, short: 3}"), "churn"
    )
    long = [one for one in found if one.template == "long"]

    assert len(long) / len(found) == pytest.approx(0.25, abs=0.02)
    assert {one.lifetime for one in long} == {3_600 * SECOND}


def lifetimes(written: str) -> list[float]:
    """Return lifetimes in seconds."""
    text = edited("{lognormal: {median: 30s, sigma: 0.8}, max: 5m}", written)
    return [(one.lifetime or 0) / SECOND for one in schedule(text, "churn")]


def test_lognormal_lifetimes_have_their_median_and_end_at_the_longest() -> None:
    """99 % of a lognormal distribution are below the median times e to the 2.326 sigma."""
    found = sorted(lifetimes("{lognormal: {median: 30s, sigma: 0.8}, max: 5m}"))

    assert found[len(found) // 2] == pytest.approx(30, rel=0.05)
    assert found[len(found) * 99 // 100] == pytest.approx(30 * 6.43, rel=0.15)
    assert found[-1] == 300


def test_exponential_lifetimes_have_their_mean() -> None:
    found = lifetimes("{exponential: {mean: 30s}}")

    assert statistics.mean(found) == pytest.approx(30, rel=0.05)
    assert statistics.median(found) == pytest.approx(30 * math.log(2), rel=0.05)


def test_uniform_lifetimes_fill_their_range() -> None:
    found = lifetimes("{uniform: {from: 10s, to: 50s}}")

    assert min(found) == pytest.approx(10, abs=0.1)
    assert max(found) == pytest.approx(50, abs=0.1)
    assert statistics.mean(found) == pytest.approx(30, rel=0.02)


def test_pods_without_a_lifetime_stay() -> None:
    text = edited(
        "limits: {example.com/gpu: 1}, lifetime: {constant: 1h}", "limits: {example.com/gpu: 1}"
    )

    assert {one.lifetime for one in schedule(text, "fill")} == {None}


@given(
    st.sampled_from(
        [
            "{{qpsLoad: {{qps: {rate}}}}}",
            "{{poissonLoad: {{expectedActionsPerSecond: {rate}}}}}",
            "{{steppedLoad: {{burstSize: {rate}, stepDelay: 700ms}}}}",
        ]
    ),
    st.integers(1, 100),
    st.integers(1, 5_000),
)
def test_arrivals_are_in_order_and_within_their_phase(
    load: str, rate: int, milliseconds: int
) -> None:
    found = with_load(load.format(rate=rate), f"duration: {milliseconds}ms")

    assert all(sooner.at <= later.at for sooner, later in pairwise(found))
    assert all(0 <= one.at < milliseconds * MILLISECOND for one in found)


def test_a_phase_that_fills_is_cut_at_a_multiple_of_what_it_needs() -> None:
    """720 devices at 200 pods per second."""
    fill = phase(parse(PROFILE), "fill")

    assert fill.expected == 3_600 * MILLISECOND
    assert fill.duration == 36 * SECOND + MINUTE
