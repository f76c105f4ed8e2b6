"""The kubelet's client of the API server (S12.1), against figures measured on a real one.

performance-notes.md, end: QPS 50 and burst 100, evenly spaced arrivals for 15 s.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pytest

from simulator.core.instants import MILLISECOND, SECOND, Duration, Instant
from simulator.core.pods import PodUid
from simulator.core.transitions import PodIdentity
from simulator.engine.api_requests import GetPod, RequestReply
from simulator.engine.kubelet_api import ApiClient, KubeletApi
from simulator.engine.spec import ApiSpec, ClientLimit
from tests.engine.runs import NODE, Run, a_spec

SPAN = 15
AS_MEASURED = ApiSpec(p50=Duration(5 * MILLISECOND), p99=Duration(7 * MILLISECOND))


def main_of(api: KubeletApi) -> ApiClient:
    return api.main


def latencies(
    rate: int, api: ApiSpec = AS_MEASURED, client: Callable[[KubeletApi], ApiClient] = main_of
) -> list[float]:
    """Return how long each request takes, in seconds from the instant that it was due."""
    run = Run(replace(a_spec(), api=api))
    kubelet = run.simulation.nodes[NODE].kubelet
    assert kubelet is not None
    found: list[float] = []

    def ask(due: Instant) -> None:
        def answered(_: RequestReply) -> None:
            found.append((run.simulation.now - due) / SECOND)

        client(kubelet.api).send(GetPod(PodIdentity(PodUid("u"), "default", "p")), answered)

    begun = run.simulation.now
    for number in range(rate * SPAN):
        due = Instant(begun + number * SECOND // rate)
        run.simulation.call_at(due, partial(ask, due))
    run.wait(120)
    return sorted(found)


def percentile(values: list[float], percent: float) -> float:
    return values[min(len(values) - 1, int(len(values) * percent / 100))]


@pytest.mark.parametrize("rate", [10, 50])
def test_up_to_the_limit_requests_take_what_the_server_takes(rate: int) -> None:
    found = latencies(rate)

    assert len(found) == rate * SPAN
    assert 0.004 < percentile(found, 50) < 0.007
    assert percentile(found, 99) < 0.012


@pytest.mark.parametrize(("rate", "p50", "p99"), [(100, 5.5, 12.9), (200, 20.5, 42.6)])
def test_above_the_limit_requests_wait_as_measured(rate: int, p50: float, p99: float) -> None:
    found = latencies(rate)

    assert len(found) == rate * SPAN
    assert percentile(found, 50) == pytest.approx(p50, rel=0.05)
    assert percentile(found, 99) == pytest.approx(p99, rel=0.05)


def test_without_a_limit_nothing_waits() -> None:
    """S12.2: the heartbeat's client, and any with QPS 0."""
    assert latencies(200, client=lambda api: api.heartbeat)[-1] < 0.02
    assert latencies(200, replace(AS_MEASURED, client=ClientLimit(0, 0)))[-1] < 0.02


def test_requests_take_as_long_as_the_distribution_says() -> None:
    """Half of them up to p50, one in a hundred longer than p99; the same with the same seed."""
    api = ApiSpec(p50=Duration(20 * MILLISECOND), p99=Duration(200 * MILLISECOND))
    found = latencies(200, api, lambda clients: clients.heartbeat)

    assert percentile(found, 50) == pytest.approx(0.020, rel=0.05)
    assert percentile(found, 99) == pytest.approx(0.200, rel=0.15)
    assert found == latencies(200, api, lambda clients: clients.heartbeat)
