"""The store's write path: batches of admissions beside bare sqlite3, and beside each other."""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TypeVar

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.figures import FigureTable
from benchmarks.nodes import fill_store, pod_admitted
from benchmarks.recorded_sql import BareDatabase, Statement, copy_database, record
from benchmarks.sync_counter import counted_syncs
from benchmarks.timing import Contest, Contestant, hold
from simulator.core.transitions import NodeName, PodAdmitted
from store.sql_store import SqlStore

T = TypeVar("T")

NODES = 512
DEVICES = 64
BATCHES = {1: 40, 8: 12, 64: 4, 512: 2}
"""Admissions in one commit, and how many such commits make a turn."""

ROUNDS = 15
WARM_UP = NODES * 4
ADDED_SYNC_S = 0.001
COMMITS_COUNTED = 2_000


def node_name(index: int) -> NodeName:
    """Return the name of a node."""
    return NodeName(f"n{index}")


def arrivals() -> Iterator[PodAdmitted]:
    """Iterate over admissions, one node after the other, each with the node's next free device."""
    for device in range(DEVICES):
        for index in range(NODES):
            number = device * NODES + index
            yield pod_admitted(node_name(index), number, device=device)


def make_database(path: Path) -> Iterator[PodAdmitted]:
    """Make a database of many nodes with some pods each; return the admissions still to come."""
    coming = arrivals()
    with opened(path) as store:
        store.apply(list(islice(coming, WARM_UP)))
    return coming


@contextmanager
def opened(path: Path) -> Iterator[SqlStore]:
    """Open a store and let it meet every node, so that no turn pays for that."""
    store = SqlStore(f"sqlite:///{path}")
    fill_store(store, [node_name(index) for index in range(NODES)], bound=0, devices=DEVICES)
    try:
        yield store
    finally:
        store.close()


def turns(coming: Iterator[PodAdmitted]) -> dict[int, deque[list[PodAdmitted]]]:
    """Return the batches of all turns, by size."""
    return {
        size: deque(list(islice(coming, size)) for _ in range(commits * ROUNDS))
        for size, commits in BATCHES.items()
    }


def in_turn(run: Callable[[T], object], waiting: deque[T], size: int) -> Contestant:
    """Return what runs the next of the waiting batches at each call.

    Each batch is made anew, outside its time, just before it is run, as a live node makes its own:
    else the time would be that of fetching into the processor's cache what was made long ago.
    """
    frozen = deque(pickle.dumps(batch) for batch in waiting)
    fresh: list[T] = []
    return Contestant(
        lambda: run(fresh[0]),
        before=lambda: fresh.append(pickle.loads(frozen.popleft())),  # noqa: S301 - our own
        after=fresh.clear,
        repeat=BATCHES[size],
        operations=size,
    )


def bench_store_beside_sqlite3(
    benchmark: BenchmarkFixture, figures: FigureTable, tmp_path: Path
) -> None:
    """Apply batches and run their recorded SQL, each on its own copy of one database."""
    coming = make_database(tmp_path / "first.db")
    batches = turns(coming)
    recorded: dict[int, deque[list[Statement]]] = {}
    with opened(copy_database(tmp_path / "first.db", tmp_path / "recorded.db")) as recording:
        for size, group in batches.items():
            recorded[size] = deque(record(recording, batch) for batch in group)
    bare = BareDatabase(copy_database(tmp_path / "first.db", tmp_path / "bare.db"))
    with opened(copy_database(tmp_path / "first.db", tmp_path / "store.db")) as store:
        contestants = {
            f"store/{size}": in_turn(store.apply, batches[size], size) for size in BATCHES
        }
        contestants |= {f"bare/{size}": in_turn(bare.run, recorded[size], size) for size in BATCHES}
        contest = Contest(contestants)
        hold(contest, benchmark, rounds=ROUNDS)
    bare.close()
    for size in BATCHES:
        ours, theirs = f"store/{size}", f"bare/{size}"
        figures.report(ours, contest.ratio(ours, theirs), contest.medians(ours, theirs))
    for size in (64, 512):
        gain = contest.ratio("store/1", f"store/{size}")
        figures.report(f"commit-batch/{size}", gain, contest.medians("store/1", f"store/{size}"))


def bench_fsyncs(benchmark: BenchmarkFixture, figures: FigureTable, tmp_path: Path) -> None:
    """Count the fsyncs of many commits of one admission, checkpoints of the log included."""
    coming = make_database(tmp_path / "first.db")
    batches = [[admitted] for admitted in islice(coming, COMMITS_COUNTED)]
    try:
        with counted_syncs() as count, opened(tmp_path / "first.db") as store:
            before = count.syncs
            benchmark.pedantic(lambda: [store.apply(batch) for batch in batches], rounds=1)
            syncs = count.syncs - before
    except AttributeError as error:
        figures.report_missing("fsyncs", str(error))
        pytest.skip(str(error))
    figures.report("fsyncs", syncs / COMMITS_COUNTED, f"{syncs:,} / {COMMITS_COUNTED:,} commits")


def bench_commit_batch_on_a_slow_disk(
    benchmark: BenchmarkFixture, figures: FigureTable, tmp_path: Path
) -> None:
    """Compare batch sizes when each fsync takes a millisecond longer."""
    coming = make_database(tmp_path / "first.db")
    batches = turns(coming)
    try:
        with counted_syncs() as count, opened(tmp_path / "first.db") as store:
            count.added_seconds = ADDED_SYNC_S
            contest = Contest(
                {f"slow/{size}": in_turn(store.apply, batches[size], size) for size in (1, 64, 512)}
            )
            hold(contest, benchmark, rounds=ROUNDS)
    except AttributeError as error:
        for size in (64, 512):
            figures.report_missing(f"commit-batch/{size}/slow", str(error))
        pytest.skip(str(error))
    for size in (64, 512):
        gain = contest.ratio("slow/1", f"slow/{size}")
        medians = contest.medians("slow/1", f"slow/{size}")
        figures.report(f"commit-batch/{size}/slow", gain, medians)
