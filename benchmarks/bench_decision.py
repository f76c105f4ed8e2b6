"""The allocation decision by itself, beside the durable write that it leads to."""

from __future__ import annotations

from itertools import count
from pathlib import Path

from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.figures import FigureTable
from benchmarks.nodes import MeasuredNode, admissions, database_node, pod_admitted
from benchmarks.timing import Contest, Contestant, hold
from simulator.core.calls import StoreCall, Stored, StoreReply
from simulator.core.instants import Instant
from simulator.core.transitions import PodsReleased
from store.sql_store import SqlStore

DEVICES = (8, 128, 10_000)
ROUNDS = 25
REPEAT = 20


def stored_at_once(call: StoreCall) -> StoreReply:
    """Answer a write as if it were durable."""
    del call
    return Stored()


def writing(store: SqlStore, node: MeasuredNode) -> Contestant:
    """Return the commit that an admission makes, without the decision."""
    numbers = count(node.bound)
    present = [pod_admitted(node.name, next(numbers), device=node.bound)]

    def write() -> None:
        store.apply(present)

    def replace() -> None:
        store.apply([PodsReleased(node.name, Instant(0), (present[0].pod.uid,))])
        present[0] = pod_admitted(node.name, next(numbers), device=node.bound)

    return Contestant(write, after=replace, repeat=REPEAT)


def bench_decision(benchmark: BenchmarkFixture, figures: FigureTable, tmp_path: Path) -> None:
    """Decide among 8, 128 and 10,000 devices, half of them held."""
    store = SqlStore(f"sqlite:///{tmp_path / 'rebind.db'}")
    contestants = {}
    for devices in DEVICES:
        node = database_node(f"n{devices}", store, bound=devices // 2, devices=devices)
        node.restore()
        node.connect_plugin()
        if devices == DEVICES[0]:
            contestants["write"] = writing(store, node)
        node.answers = stored_at_once
        contestants[f"decision/{devices}"] = admissions(node, repeat=REPEAT)
    contest = Contest(contestants)
    hold(contest, benchmark, rounds=ROUNDS)
    store.close()
    for devices in DEVICES:
        name = f"decision/{devices}"
        figures.report(name, contest.ratio(name, "write"), contest.medians(name, "write"))
