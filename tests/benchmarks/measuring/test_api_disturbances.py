"""Outages of the API server, and replies that get lost, as parts of a phase."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.measuring.phases import Target
from benchmarks.results.rows import Measure, Row
from tests.benchmarks.measuring.runs import Written, ms, percentile

STEADY = Written(
    nodes=2,
    devices=100,
    load="{qpsLoad: {qps: 20}}",
    lifetime="1h",
    persistence="bind-resource",
)


def disturbed(text: str, written: Written = STEADY, duration: str = "4s") -> Row:
    """Run one phase with something beside its load."""
    phases = f"- {{name: churn, load: load, pods: pod, duration: {duration}, drain: 1m, {text}}}"
    return replace(written, phases=phases).row()


def test_pods_wait_for_an_outage_to_end_and_all_are_served() -> None:
    row = disturbed("apiOutage: {duration: 2s}")

    assert (row.offered, row.served, row.errors) == (80, 80, 0)
    longest = row.latencies[Measure.START].longest()
    assert ms(2_000) <= longest <= ms(3_500)
    # Who came in the second half came after it.
    assert percentile(row, Measure.START, 40) < ms(100)


def test_an_outage_of_a_part_of_the_nodes_delays_their_pods_only() -> None:
    row = disturbed("apiOutage: {nodes: 50%, duration: 4s}")
    waited = sum(count for span, count in row.latencies[Measure.START].counts() if span > ms(500))

    assert row.served == 80
    assert 20 <= waited <= 60


def test_a_reply_that_is_lost_costs_a_request_more_and_no_pod() -> None:
    """W6: what was lost is there already, and its kubelet sees that or asks again."""
    quiet = disturbed("warmup: 0s")
    row = disturbed("lostReplies: {share: 20%}")
    again = disturbed("lostReplies: {share: 20%}")

    assert (row.served, row.errors, row.bindings) == (80, 0, 80)
    assert quiet.lost_replies is None
    assert row.lost_replies is not None
    assert row.lost_replies > 20
    assert calls(row) > calls(quiet)
    assert percentile(row, Measure.START, 99) >= ms(1_000)  # The gate asks again after a second.
    assert (again.lost_replies, again.latencies) == (row.lost_replies, row.latencies)


def calls(row: Row) -> int:
    """Return how many requests were made."""
    return sum(call.count for call in row.api_calls)


def test_what_befalls_a_phase_is_over_with_it() -> None:
    shares: list[float] = []

    def watch(target: Target) -> None:
        lossy = target.lossy
        assert lossy is not None
        target.driver.world.watch_records(lambda _: shares.append(lossy.share))

    phases = (
        "- {name: lossy, load: load, pods: pod, duration: 1s, lostReplies: {share: 10%}, "
        "drain: 30s}\n"
        "  - {name: after, load: load, pods: pod, duration: 1s, drain: 30s}"
    )
    first, second = replace(STEADY, phases=phases).rows(watch)

    assert (first.served, second.served) == (20, 20)
    assert set(shares) == {0.0, 0.1}
    assert second.lost_replies == 0


def test_real_kubelets_are_disturbed_too() -> None:
    """Against a server of its own, which carries out what nobody hears of."""
    phases = (
        "- {name: outage, load: load, pods: pod, duration: 600ms, drain: 1m, "
        "apiOutage: {duration: 300ms}}\n"
        "  - {name: lossy, load: load, pods: pod, duration: 600ms, drain: 1m, "
        "lostReplies: {share: 50%}}"
    )
    outage, lossy = replace(STEADY, clock="real", phases=phases).rows()

    assert [(row.offered, row.served, row.errors) for row in (outage, lossy)] == [(12, 12, 0)] * 2
    assert outage.latencies[Measure.START].longest() >= ms(200)
    assert (outage.lost_replies, (lossy.lost_replies or 0) > 0) == (0, True)
