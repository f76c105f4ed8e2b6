"""The store on PostgreSQL: batches of admissions beside each other, and beside SQLite.

A real server of this machine's own, reached by a Unix socket, that waits for its disk as SQLite
does. How the two kinds of database stand to each other is context: a server pays for a way there
and back with each commit, and does what a file cannot.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.admission_batches import ROUNDS, in_turn, make_database, opened, turns
from benchmarks.figures import FigureTable
from benchmarks.postgresql_server import PostgresServer, ServerUnusableError
from benchmarks.timing import Contest, hold

SIZES = (1, 64, 512)
BATCHED = {size: f"postgresql/batch/{size}" for size in SIZES[1:]}
BESIDE_SQLITE = {size: f"postgresql/sqlite/{size}" for size in SIZES}


@pytest.fixture
def server(figures: FigureTable) -> Iterator[PostgresServer]:
    """Return a running server; where there is none to run, the table says so."""
    try:
        made = PostgresServer(durable=True)
    except ServerUnusableError as error:
        for key in (*BATCHED.values(), *BESIDE_SQLITE.values()):
            figures.report_missing(key, str(error))
        pytest.skip(str(error))
    try:
        made.start()
        yield made
    finally:
        made.close()


def bench_postgresql_beside_sqlite(
    benchmark: BenchmarkFixture, figures: FigureTable, tmp_path: Path, server: PostgresServer
) -> None:
    """Apply the same batches to databases of both kinds, filled alike."""
    urls = {
        "postgresql": server.url(server.make_database()),
        "sqlite": f"sqlite:///{tmp_path / 'rebind.db'}",
    }
    coming, _ = [make_database(url) for url in urls.values()]
    batches = turns(coming)
    with opened(urls["postgresql"]) as postgresql, opened(urls["sqlite"]) as sqlite:
        contest = Contest(
            {
                f"{name}/{size}": in_turn(store.apply, batches[size], size)
                for name, store in (("postgresql", postgresql), ("sqlite", sqlite))
                for size in SIZES
            }
        )
        hold(contest, benchmark, rounds=ROUNDS)
    for size, key in BATCHED.items():
        one, many = "postgresql/1", f"postgresql/{size}"
        figures.report(key, contest.ratio(one, many), contest.medians(one, many))
    for size, key in BESIDE_SQLITE.items():
        names = f"postgresql/{size}", f"sqlite/{size}"
        figures.report(key, contest.ratio(*names), contest.medians(*names))
