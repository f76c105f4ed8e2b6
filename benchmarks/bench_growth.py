"""One durable binding in a database that holds 100,000 of them, beside one that holds none."""

from __future__ import annotations

from itertools import count
from pathlib import Path

from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.figures import FigureTable
from benchmarks.nodes import fill_store, pod_admitted
from benchmarks.timing import Contest, Contestant, hold
from simulator.core.transitions import NodeName, PodAdmitted
from store.sql_store import SqlStore

EXISTING = 100_000
PODS_ON_A_NODE = 100
MEASURED_NODES = 50
DEVICES = 1_000
ROUNDS = 20
REPEAT = 40


def filled(path: Path, bindings: int) -> SqlStore:
    """Return a store with so many bindings, spread over nodes of a hundred pods each."""
    store = SqlStore(f"sqlite:///{path}")
    full = [NodeName(f"full-{index}") for index in range(bindings // PODS_ON_A_NODE)]
    fill_store(store, full, bound=PODS_ON_A_NODE, devices=PODS_ON_A_NODE)
    measured = [NodeName(f"n{index}") for index in range(MEASURED_NODES)]
    fill_store(store, measured, bound=0, devices=DEVICES)
    return store


def binding_one(store: SqlStore) -> Contestant:
    """Return one admission for each commit, on one node after the other."""
    numbers = count()
    batch: list[PodAdmitted] = []

    def prepare() -> None:
        device, index = divmod(next(numbers), MEASURED_NODES)
        batch[:] = [pod_admitted(NodeName(f"n{index}"), device, device=device)]

    return Contestant(lambda: store.apply(batch), before=prepare, repeat=REPEAT)


def bench_growth(benchmark: BenchmarkFixture, figures: FigureTable, tmp_path: Path) -> None:
    """Commit single bindings to both, in turns."""
    stores = {
        "full": filled(tmp_path / "full.db", EXISTING),
        "empty": filled(tmp_path / "empty.db", 0),
    }
    contest = Contest({name: binding_one(store) for name, store in stores.items()})
    hold(contest, benchmark, rounds=ROUNDS)
    for store in stores.values():
        store.close()
    figures.report("growth", contest.ratio("full", "empty"), contest.medians("full", "empty"))
