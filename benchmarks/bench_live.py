"""Admissions on live nodes: Allocate over gRPC to a plugin's own process, then a durable commit."""

from __future__ import annotations

import time
from contextlib import ExitStack

from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.figures import FigureTable
from benchmarks.live_nodes import LiveNodes, live_nodes, loop_of_its_own
from benchmarks.timing import Contest, Contestant, hold

ROUNDS = 8
NODES = (1, 64)
BATCHES = (1, 64)
PODS = {1: 64, 64: 4}
"""Pods that each node admits in one turn, by number of nodes."""


class Watched:
    """Live nodes whose turns are timed together with their store's part."""

    def __init__(self, nodes: LiveNodes, pods: int) -> None:
        self.nodes = nodes
        self.pods = pods
        self.wall_ns = 0
        self.writing_ns = 0
        self.commits = 0

    def contestant(self) -> Contestant:
        """Return the admissions of one turn."""
        return Contestant(
            self._run, after=self.nodes.release, operations=len(self.nodes.names) * self.pods
        )

    def store_share(self) -> float:
        """Return the part of the time in which the store wrote, in percent."""
        return 100 * self.writing_ns / self.wall_ns

    def _run(self) -> None:
        store = self.nodes.store
        writing, commits, started = store.writing_ns, store.commits, time.perf_counter_ns()
        self.nodes.turn(self.nodes.admit_everywhere(self.pods))
        self.wall_ns += time.perf_counter_ns() - started
        self.writing_ns += store.writing_ns - writing
        self.commits += store.commits - commits


def bench_live_admissions(benchmark: BenchmarkFixture, figures: FigureTable) -> None:
    """Compare `commitBatch` 64 and 1, with one pod in flight on each of 1 and 64 nodes."""
    with ExitStack() as stack:
        loop = stack.enter_context(loop_of_its_own())
        watched = {}
        for nodes in NODES:
            for batch in BATCHES:
                made = live_nodes(loop, nodes=nodes, devices=2 * PODS[nodes], commit_batch=batch)
                watched[f"{nodes}/{batch}"] = Watched(stack.enter_context(made), PODS[nodes])
        contest = Contest({name: each.contestant() for name, each in watched.items()})
        contest.round()  # The first turn pays for what is made once.
        contest.times_ns.clear()
        hold(contest, benchmark, rounds=ROUNDS)
    for name, each in watched.items():
        rate = 1e9 / contest.median_ns(name)
        figures.report(f"live/{name}", rate, f"store writes {each.store_share():.0f} % of the time")
    gain = contest.ratio("64/1", "64/64")
    figures.report("live/group", gain, contest.medians("64/1", "64/64"))
