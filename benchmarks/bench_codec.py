"""The checkpoint codec: whole files, and the kubelet's rewrite after one more allocation."""

from __future__ import annotations

from functools import partial

from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks import workload
from benchmarks.figures import FigureTable
from benchmarks.timing import Contest, Contestant, hold
from simulator.core.behavior import CheckpointFormat
from simulator.core.checkpoint.bindings import checkpoint_of, read_bindings
from simulator.core.checkpoint.incremental import CheckpointRenderer
from simulator.core.checkpoint.parse import parse
from simulator.core.checkpoint.render import render
from simulator.core.checkpoint.values import Checkpoint
from simulator.core.devices import DeviceId
from simulator.core.resources import ResourceName

FORM = CheckpointFormat.V2
ROUNDS = 9


def checkpoint(pods: int) -> Checkpoint:
    """Return the checkpoint of a node with this many bound pods."""
    bindings = [workload.binding(number) for number in range(pods)]
    return checkpoint_of(bindings, registered(pods), FORM)


def registered(pods: int) -> list[tuple[ResourceName, list[DeviceId]]]:
    """Return the registered devices of such a node: one more than are bound."""
    return [(workload.RESOURCE, [workload.device_of(number).id for number in range(pods + 1)])]


def rewriting(pods: int) -> Contestant:
    """Return what the node does for each allocation: one new entry, then the whole file."""
    renderer = CheckpointRenderer(FORM)
    renderer.put(workload.binding(number) for number in range(pods))
    devices = registered(pods)
    added = workload.binding(pods)
    renderer.render(devices)

    def rewrite() -> None:
        renderer.put([added])
        renderer.render(devices)

    return Contestant(rewrite, after=lambda: renderer.remove_pods([added.pod]))


def bench_codec(benchmark: BenchmarkFixture, figures: FigureTable) -> None:
    """Encode, encode again after one change, decode."""
    content = render(checkpoint(5_000))
    contestants = {"rewrite/5000": rewriting(5_000)}
    for pods in (110, 1_000, 5_000):
        whole = checkpoint(pods)
        contestants[f"encode/{pods}"] = Contestant(partial(render, whole))
    contestants["decode/5000"] = Contestant(
        lambda: read_bindings(parse(content, {FORM}), lenient=True)
    )
    contest = Contest(contestants)
    hold(contest, benchmark, rounds=ROUNDS)
    note = f"median of {ROUNDS}; {len(content):,} bytes at 5,000"
    for name in contestants:
        figures.report(f"codec/{name}", contest.median_ns(name) / 1e6, note)
