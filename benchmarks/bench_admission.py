"""One pod admitted and its binding durable, the plugin inside this process.

Beside a node that holds 8, 110, 1,000 and 5,000 pods already, `database` and `checkpoint` in turns.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.figures import FigureTable
from benchmarks.nodes import MeasuredNode, admissions, checkpoint_node, database_node
from benchmarks.timing import Contest, hold
from store.sql_store import SqlStore

BOUND = (8, 110, 1_000, 5_000)
SPARE_DEVICES = 8
ROUNDS = 25
REPEAT = 8


@contextmanager
def measured_nodes(folder: Path) -> Iterator[dict[str, MeasuredNode]]:
    """Make a node for each persistence and number of bound pods, each with its own files."""
    nodes: dict[str, MeasuredNode] = {}
    stores: list[SqlStore] = []
    for bound in BOUND:
        own = folder / str(bound)
        own.mkdir()
        devices = bound + SPARE_DEVICES
        stores.append(SqlStore(f"sqlite:///{own / 'rebind.db'}"))
        nodes[f"database/{bound}"] = database_node("n0", stores[-1], bound=bound, devices=devices)
        nodes[f"checkpoint/{bound}"] = checkpoint_node("n0", own, bound=bound, devices=devices)
    try:
        yield nodes
    finally:
        for store in stores:
            store.close()


def bench_admission(benchmark: BenchmarkFixture, figures: FigureTable, tmp_path: Path) -> None:
    """Compare along the number of bound pods, and the two persistences at each number."""
    with measured_nodes(tmp_path) as nodes:
        for node in nodes.values():
            node.restore()
            node.connect_plugin()
        contest = Contest({name: admissions(node, repeat=REPEAT) for name, node in nodes.items()})
        hold(contest, benchmark, rounds=ROUNDS)
    least, most = f"database/{BOUND[0]}", f"database/{BOUND[-1]}"
    figures.report("admission/flat", contest.ratio(most, least), contest.medians(most, least))
    for bound in BOUND:
        file, database = f"checkpoint/{bound}", f"database/{bound}"
        figures.report(f"admission/{file}", contest.median_ns(file) / 1e6)
        if bound != BOUND[0]:
            ratio = contest.ratio(file, database)
            figures.report(f"admission/{bound}", ratio, contest.medians(file, database))
    figures.report(f"admission/{most}", contest.median_ns(most) / 1e6)
