"""110 pods at once on one node: what calls that bind devices cost them (persistence-designs 4.4).

The table there is of a model in which each status is two requests of its own; a kubelet makes one
patch of several changes of a pod (S12.3), so its pods are seen running sooner where requests wait.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from simulator.core.instants import MILLISECOND, SECOND, Duration
from simulator.core.pods import PodUid
from simulator.core.records import ContainerChanged, PodPhaseChanged
from simulator.engine.actions import CreatePods, StartPlugin
from simulator.engine.latencies import Delays
from simulator.engine.spec import (
    ApiSpec,
    ClientLimit,
    NodeSpec,
    PluginLatency,
    PluginSpec,
    SimulationSpec,
)
from simulator.engine.world import Watching
from tests.engine.runs import GPU, NODE, Run, container, devices, pod

PODS = 110
AT_ONCE = PluginLatency(Duration(0), Duration(0), Duration(0))
OLD, NEW = ClientLimit(5, 10), ClientLimit(50, 100)


def started(binds: int, limit: ClientLimit, *, coalesce: bool) -> Run:
    """Create 110 pods at once that need `binds` requests each before they start.

    As in the model: a request takes 10 ms, the containers of a pod take 1 s to start.
    """
    each = max(binds, 1)
    names = tuple(f"p{number}" for number in range(PODS))
    containers = tuple(container(f"c{index}") for index in range(each))
    spec = SimulationSpec(
        nodes=(NodeSpec(NODE),),
        plugins=(PluginSpec("gpu", NODE, GPU, devices(PODS * each), latency=AT_ONCE),),
        pods=tuple(pod(name, *containers) for name in names),
        persistence="bind-resource" if binds else "checkpoint",
        persistence_options=(("perContainer", True),) if binds > 1 else (),
        api=ApiSpec(
            Duration(10 * MILLISECOND), Duration(10 * MILLISECOND), limit, status_coalesce=coalesce
        ),
        delays=replace(Delays(), container_start=Duration(SECOND // each)),
    )
    run = Run(spec, watching=Watching(invariants=False))
    run.do(StartPlugin("gpu"))
    run.wait(60)
    run.begin(CreatePods(names, NODE))
    run.wait(200)
    return run


@cache
def delays(binds: int, limit: ClientLimit, *, coalesce: bool) -> tuple[list[float], list[float]]:
    """Return how long each pod waited before its first container, and until it was seen running."""
    run = started(binds, limit, coalesce=coalesce)
    created: dict[PodUid, int] = {}
    first: dict[PodUid, float] = {}
    seen: dict[PodUid, float] = {}
    for stamped in run.simulation.records:
        record = stamped.record
        if isinstance(record, PodPhaseChanged) and record.phase == "Pending":
            created[record.pod] = stamped.at
        elif isinstance(record, PodPhaseChanged):
            seen[record.pod] = (stamped.at - created[record.pod]) / SECOND
        elif isinstance(record, ContainerChanged):
            first.setdefault(record.pod, (stamped.at - created[record.pod]) / SECOND)
    return sorted(first.values()), sorted(seen.values())


def percentiles(values: list[float]) -> tuple[float, float]:
    assert len(values) == PODS
    return values[PODS // 2], values[PODS * 99 // 100]


@pytest.mark.parametrize(
    ("limit", "binds", "p50", "p99"),
    [
        (OLD, 0, 64, 86),
        (OLD, 1, 86, 108),
        (OLD, 3, 130, 152),
        (NEW, 0, 4.7, 6.8),
        (NEW, 1, 6.9, 9.0),
        (NEW, 3, 11.3, 13.4),
    ],
)
def test_seen_running_as_in_the_model_when_each_status_is_a_patch(
    limit: ClientLimit, binds: int, p50: float, p99: float
) -> None:
    _, seen = delays(binds, limit, coalesce=False)

    assert percentiles(seen) == pytest.approx((p50, p99), rel=0.02)


@pytest.mark.parametrize(
    ("limit", "binds", "p50", "p99"),
    [(OLD, 1, (9, 12), (18, 22)), (OLD, 3, (30, 60), (58, 66)), (NEW, 3, (2, 5), (4, 6))],
)
def test_the_wait_before_the_start_grows_with_each_request(
    limit: ClientLimit, binds: int, p50: tuple[float, float], p99: tuple[float, float]
) -> None:
    """The model: 9.6 to 20 s, 39 to 60 s, and 2.5 to 4.6 s at QPS 50."""
    first, _ = delays(binds, limit, coalesce=False)
    start = SECOND // binds / SECOND
    waited = [value - start for value in first]
    middle, last = percentiles(waited)

    assert p50[0] < middle < p50[1]
    assert p99[0] < last < p99[1]


def test_without_a_request_before_it_no_start_waits() -> None:
    first, _ = delays(0, OLD, coalesce=False)

    assert first[-1] < 1.2


@pytest.mark.parametrize(("binds", "saved"), [(0, 36), (1, 42)])
def test_one_patch_for_several_changes_shows_pods_running_sooner(binds: int, saved: float) -> None:
    """S12.3: at QPS 5 the last pod is seen running so many seconds earlier than in the model."""
    _, each = delays(binds, OLD, coalesce=False)
    _, merged = delays(binds, OLD, coalesce=True)

    assert each[-1] - merged[-1] == pytest.approx(saved, abs=1)
