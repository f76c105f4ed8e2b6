"""The store's write path: batches of admissions beside bare sqlite3, and beside each other."""

from __future__ import annotations

from collections import deque
from itertools import islice
from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.admission_batches import BATCHES, ROUNDS, in_turn, make_database, opened, turns
from benchmarks.figures import FigureTable
from benchmarks.recorded_sql import BareDatabase, Statement, copy_database, record
from benchmarks.sync_counter import counted_syncs
from benchmarks.timing import Contest, hold

ADDED_SYNC_S = 0.001
COMMITS_COUNTED = 2_000


def _url(path: Path) -> str:
    return f"sqlite:///{path}"


def bench_store_beside_sqlite3(
    benchmark: BenchmarkFixture, figures: FigureTable, tmp_path: Path
) -> None:
    """Apply batches and run their recorded SQL, each on its own copy of one database."""
    coming = make_database(_url(tmp_path / "first.db"))
    batches = turns(coming)
    recorded: dict[int, deque[list[Statement]]] = {}
    with opened(_url(copy_database(tmp_path / "first.db", tmp_path / "recorded.db"))) as recording:
        for size, group in batches.items():
            recorded[size] = deque(record(recording, batch) for batch in group)
    bare = BareDatabase(copy_database(tmp_path / "first.db", tmp_path / "bare.db"))
    with opened(_url(copy_database(tmp_path / "first.db", tmp_path / "store.db"))) as store:
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
    coming = make_database(_url(tmp_path / "first.db"))
    batches = [[admitted] for admitted in islice(coming, COMMITS_COUNTED)]
    try:
        with counted_syncs() as count, opened(_url(tmp_path / "first.db")) as store:
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
    coming = make_database(_url(tmp_path / "first.db"))
    batches = turns(coming)
    try:
        with counted_syncs() as count, opened(_url(tmp_path / "first.db")) as store:
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
