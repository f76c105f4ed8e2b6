"""The state of a node restored when its kubelet starts."""

from __future__ import annotations

from pathlib import Path

from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.figures import FigureTable
from benchmarks.nodes import MeasuredNode, checkpoint_node, database_node
from benchmarks.timing import Contest, Contestant, hold
from store.sql_store import SqlStore

FEWER, MORE = 1_000, 5_000
ROUNDS = 9


def restoring(node: MeasuredNode) -> Contestant:
    """Return the start of a device manager that knows nothing yet."""

    def restore() -> None:
        restored = node.restore()
        if len(restored.bindings) != node.bound:
            raise RuntimeError(restored.error)

    return Contestant(restore, before=node.forget)


def bench_restore(benchmark: BenchmarkFixture, figures: FigureTable, tmp_path: Path) -> None:
    """Restore 1,000 and 5,000 bound pods, from the database and from the file."""
    store = SqlStore(f"sqlite:///{tmp_path / 'rebind.db'}")
    contestants = {}
    for bound in (FEWER, MORE):
        name, folder = f"n{bound}", tmp_path / str(bound)
        folder.mkdir()
        contestants[f"database/{bound}"] = restoring(
            database_node(name, store, bound=bound, devices=bound)
        )
        contestants[f"checkpoint/{bound}"] = restoring(
            checkpoint_node(name, folder, bound=bound, devices=bound)
        )
    contest = Contest(contestants)
    hold(contest, benchmark, rounds=ROUNDS)
    store.close()
    more, fewer = f"database/{MORE}", f"database/{FEWER}"
    figures.report("restore/5000", contest.median_ns(more) / 1e6, f"median of {ROUNDS}")
    growth = contest.ratio(more, fewer) / (MORE / FEWER)
    figures.report("restore/linear", growth, contest.medians(more, fewer))
    figures.report("restore/checkpoint/5000", contest.median_ns(f"checkpoint/{MORE}") / 1e6)
