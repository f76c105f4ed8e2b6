"""Group commit under more load than single commits could ever serve."""

from __future__ import annotations

import random
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice, takewhile
from pathlib import Path
from statistics import median

from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.admission_batches import make_database, opened
from benchmarks.figures import FigureTable
from benchmarks.profiles.loads import PoissonLoad
from benchmarks.profiles.schedule import open_instants
from simulator.core.instants import SECOND
from simulator.core.transitions import PodAdmitted
from store.committer import Committer

ROUNDS = 3
FLOOD = 1_000
SECONDS = 1.5
TIMES = 3
GROUP = 512


@contextmanager
def committing(url: str, commit_batch: int) -> Iterator[Committer]:
    """Open a database with its committer."""
    with opened(url) as store:
        committer = Committer(store, commit_batch=commit_batch)
        try:
            yield committer
        finally:
            committer.close()


def saturation_rate(url: str, admissions: Sequence[PodAdmitted]) -> float:
    """Return commits per second when each has one admission and there is always one waiting."""
    with committing(url, 1) as committer:
        started = time.perf_counter()
        futures = [committer.commit([admitted]) for admitted in admissions]
        for future in futures:
            future.result()
        return len(admissions) / (time.perf_counter() - started)


def delivered_share(url: str, admissions: Iterator[PodAdmitted], rate: float) -> float:
    """Return the achieved rate over the offered one."""
    chance = random.Random(1)  # noqa: S311 - a schedule is no secret
    instants = open_instants(PoissonLoad(rate), chance)
    schedule = list(takewhile(lambda at: at < SECONDS * SECOND, instants))
    waiting = deque(zip(schedule, list(islice(admissions, len(schedule))), strict=True))
    with committing(url, GROUP) as committer:
        futures = []
        started = time.perf_counter_ns()
        while waiting:
            now = time.perf_counter_ns() - started
            while waiting and waiting[0][0] <= now:
                futures.append(committer.commit([waiting.popleft()[1]]))
            if waiting:
                time.sleep(max(waiting[0][0] - (time.perf_counter_ns() - started), 0) / 1e9)
        for future in futures:
            future.result()
        took_ns = time.perf_counter_ns() - started
    return schedule[-1] / took_ns


def bench_open_loop(benchmark: BenchmarkFixture, figures: FigureTable, tmp_path: Path) -> None:
    """Find the unbatched rate, then offer three times as much to group commit, in turns."""
    rates: list[float] = []
    shares: list[float] = []

    def one_round() -> None:
        url = f"sqlite:///{tmp_path}/{len(rates)}.db"
        coming = make_database(url)
        rates.append(saturation_rate(url, list(islice(coming, FLOOD))))
        shares.append(delivered_share(url, coming, TIMES * rates[-1]))

    benchmark.pedantic(one_round, rounds=ROUNDS)
    figures.report(
        "open-loop",
        100 * median(shares),
        f"{TIMES * median(rates):,.0f} offered per second, {ROUNDS} rounds",
    )
