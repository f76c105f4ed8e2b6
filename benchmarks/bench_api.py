"""Durable creates of an API server: what the API costs, and what committing together gains."""

from __future__ import annotations

import shutil
import statistics
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.api_process import HOST, NOOP, PRODUCT
from benchmarks.figures import FigureTable
from benchmarks.timing import Contest, Contestant, hold
from store.committer import COMMIT_BATCH

ROUNDS: Final = 5
CLIENTS: Final = 64
ADDED_MS: Final = 5
PATH: Final = "/apis/rebind.internal/v1alpha1/namespaces/default/devicebindings"
ROOT: Final = Path(__file__).resolve().parents[1]
SOURCE: Final = Path(__file__).with_name("api_load.c")
OBJECT: Final = (
    '{"apiVersion":"rebind.internal/v1alpha1","kind":"DeviceBinding",'
    '"metadata":{"name":"pod-#########","namespace":"default"},'
    '"spec":{"podUID":"0a1b2c3d-0000-4000-8000-000#########","nodeName":"node-0001",'
    '"containers":[{"name":"main","devices":[{"resourceName":"example.com/gpu","deviceIDs":'
    '["GPU-7a5e10b2-0000-0000-0000-000000000001","GPU-7a5e10b2-0000-0000-0000-000000000002"],'
    '"numaNodes":[0]},{"resourceName":"example.com/nic","deviceIDs":["NIC-0001"],"numaNodes":[0]}'
    "]}]}}"
)
"""About 500 bytes."""


class Loaded:
    """A server and what its client measured.

    Args:
        client: The compiled client.
        folder: Where the object's template is, and the server's database.
        port: Where it listens.
        requests: Creates of one turn.
    """

    def __init__(self, client: Path, folder: Path, port: int, requests: int) -> None:
        self._client = client
        self._folder = folder
        self._port = port
        self._first = 0
        self.requests = requests
        self.rates: list[float] = []
        self.p99_us: list[float] = []

    def contestant(self) -> Contestant:
        """Return the creates of one turn."""
        return Contestant(self._run, operations=self.requests)

    def rate(self) -> float:
        """Return creates a second, the median of the turns."""
        return statistics.median(self.rates)

    def _run(self) -> None:
        command = [
            *(str(self._client), HOST, str(self._port), str(CLIENTS), str(self.requests)),
            *(PATH, str(self._folder / "object.json"), str(self._first)),
        ]
        self._first += self.requests
        finished = subprocess.run(  # noqa: S603 - our own client
            command, check=True, capture_output=True, text=True
        )
        good, bad, seconds, _, p99 = finished.stdout.split()
        if (int(good), int(bad)) != (self.requests, 0):
            reason = f"of {self.requests} creates {bad} were refused"
            raise RuntimeError(reason)
        self.rates.append(self.requests / float(seconds))
        self.p99_us.append(float(p99))


@contextmanager
def _server(
    client: Path, handler: str, requests: int, batch: int, added_ms: float = 0
) -> Iterator[Loaded]:
    with TemporaryDirectory(prefix="rb") as name:
        folder = Path(name)
        (folder / "object.json").write_text(OBJECT)
        command: Sequence[str] = [
            *(sys.executable, "-m", "benchmarks.api_process", handler),
            *("--db", f"sqlite:///{folder}/api.db", "--commit-batch", str(batch)),
            *("--added-ms", str(added_ms)),
        ]
        with subprocess.Popen(  # noqa: S603 - our own server
            command, cwd=ROOT, stdout=subprocess.PIPE, text=True
        ) as running:
            try:
                port = running.stdout.readline() if running.stdout is not None else ""
                yield Loaded(client, folder, int(port), requests)
            finally:
                running.terminate()


def bench_durable_creates(
    benchmark: BenchmarkFixture, figures: FigureTable, tmp_path: Path
) -> None:
    """Compare the API with a handler that only stores, and group commit with single commits."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        for key in ("api/noop", "api/group", "api/group/slow"):
            figures.report_missing(key, "no C compiler for the client that loads it")
        benchmark(lambda: None)
        return
    client = tmp_path / "api_load"
    subprocess.run(  # noqa: S603 - the compiler, on our own source
        [compiler, "-O2", "-D_GNU_SOURCE", "-o", str(client), str(SOURCE)], check=True
    )
    with ExitStack() as stack:
        loaded = {
            name: stack.enter_context(_server(client, handler, requests, batch, added))
            for name, handler, requests, batch, added in (
                ("product", PRODUCT, 6_000, COMMIT_BATCH, 0),
                ("noop", NOOP, 6_000, COMMIT_BATCH, 0),
                ("single", PRODUCT, 3_000, 1, 0),
                ("slow", PRODUCT, 3_000, COMMIT_BATCH, ADDED_MS),
                ("slow single", PRODUCT, 300, 1, ADDED_MS),
            )
        }
        contest = Contest({name: each.contestant() for name, each in loaded.items()})
        contest.round()  # The first turn pays for what is made once.
        for each in loaded.values():
            each.rates.clear()
            each.p99_us.clear()
        contest.times_ns.clear()
        hold(contest, benchmark, rounds=ROUNDS)
    rates = {name: each.rate() for name, each in loaded.items()}
    for key, over, under in (
        ("api/noop", "product", "noop"),
        ("api/group", "product", "single"),
        ("api/group/slow", "slow", "slow single"),
    ):
        note = f"{rates[over]:.0f}/s over {rates[under]:.0f}/s, client in C"
        figures.report(key, rates[over] / rates[under], note)
    figures.report("api/rate", rates["product"], f"{CLIENTS} clients, about {len(OBJECT)} bytes")
    p99 = statistics.median(loaded["product"].p99_us) / 1_000
    figures.report("api/p99", p99, f"{CLIENTS} clients that wait for nothing else")
