"""A result of a made-up run, drawn from a seed: its figures are of no real program."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from benchmarks.results.latencies import Latencies
from benchmarks.results.rows import (
    ApiCallCount,
    MachineFacts,
    MachineLoad,
    Measure,
    Noise,
    PlainFsync,
    Result,
    Row,
    Setting,
    Store,
)
from simulator.core.instants import MICROSECOND, MILLISECOND, SECOND, Duration

CHECKPOINT: Final = Setting(persistence="checkpoint", store=Store.FILE, nodes=20)
DATABASE: Final = replace(CHECKPOINT, persistence="database", store=Store.SQLITE, commit_batch=1)
BATCHED: Final = replace(DATABASE, commit_batch=64)
BIND: Final = replace(
    CHECKPOINT,
    persistence="bind-resource",
    store=Store.API,
    commit_batch=64,
    bulk_bind=1,
    qps=5,
    burst=10,
)
FLUSHED: Final = replace(
    BIND, persistence="checkpoint+api", flush_period=Duration(SECOND), bulk_bind=None
)
SETTINGS: Final = (
    CHECKPOINT,
    DATABASE,
    BATCHED,
    BIND,
    replace(BIND, qps=50, burst=100),
    replace(FLUSHED, flush_period=Duration(0)),
    FLUSHED,
)
_CAPACITY: Final = {"checkpoint": 420.0, "database": 700.0, "bind-resource": 260.0}
_SECONDS: Final = 5
_SAMPLES: Final = 200


def example(
    *,
    seed: int = 7,
    settings: Sequence[Setting] = SETTINGS,
    rates: Iterable[int] = (100, 300, 900),
    repetitions: int = 3,
    slower: float = 1.0,
) -> Result:
    """Return a result with a row for each setting, rate and repetition."""
    chance = random.Random(seed)  # noqa: S311 - made-up figures are no secret
    rows = [
        row(setting, rate, chance=chance, repetition=repetition, slower=slower)
        for repetition in range(1, repetitions + 1)
        for rate in rates
        for setting in settings
    ]
    return Result(
        name="example",
        started="2026-11-30T12:00:00Z",
        machine=MachineFacts(
            processor="Example Processor 9", cpus=2, system="Linux 6.12", filesystem="ext4"
        ),
        versions={"rebind": "0.0", "python": "3.11.9", "sqlite": "3.46.0"},
        profile={"kind": "ChurnProfile", "metadata": {"name": "example"}},
        seed=seed,
        noise=Noise(
            fsync=PlainFsync(1_000, Duration(800 * MICROSECOND), Duration(3 * MILLISECOND)),
            before=MachineLoad(0.4, 0.01),
            after=MachineLoad(1.9, 0.02),
        ),
        rows=tuple(rows),
        expected_rows=len(rows),
    )


def row(
    setting: Setting,
    rate: int,
    *,
    chance: random.Random | None = None,
    repetition: int = 1,
    slower: float = 1.0,
) -> Row:
    """Return one row; a setting slows down towards its capacity."""
    chance = chance or random.Random(1)  # noqa: S311 - made-up figures are no secret
    capacity = _CAPACITY.get(setting.persistence, 380.0) / slower
    capacity *= 3 if (setting.commit_batch or 1) > 1 and setting.store is Store.SQLITE else 1
    capacity /= 1 + setting.existing / 2_000 if setting.persistence != "database" else 1
    capacity /= 1 + setting.added_fsync / MILLISECOND
    busy = min(rate / capacity, 0.97)
    offered = rate * _SECONDS
    served = min(offered, round(capacity * _SECONDS * chance.uniform(0.985, 1.0)))
    middle = 1 / capacity / (1 - busy)
    through_api = setting.store is Store.API
    wait = 0.2 if setting.qps == 5 else 0.01
    started = {
        Measure.ADMISSION: middle,
        Measure.START: middle + (wait if through_api else 0.002),
        Measure.RUNNING: middle + 1.0 + (wait if through_api else 0),
        Measure.VISIBLE: middle + 0.005,
    }
    calls = [ApiCallCount("patch", "pods/status", 3 * served)]
    if through_api:
        calls.append(ApiCallCount("create", "pods/resourcebinding", served))
    return Row(
        setting=setting,
        phase=f"churn-{rate}",
        repetition=repetition,
        seconds=float(_SECONDS),
        elapsed=float(_SECONDS),
        offered=offered,
        served=served,
        latencies={
            measure: Latencies(
                round(SECOND * seconds * chance.lognormvariate(0, 0.4)) for _ in range(_SAMPLES)
            )
            for measure, seconds in started.items()
        },
        unreached=dict.fromkeys(started, _SAMPLES * (offered - served) // offered),
        served_each_second=tuple(
            round(served / _SECONDS * chance.uniform(0.9, 1.1)) for _ in range(_SECONDS)
        ),
        fsyncs=served // min(setting.commit_batch or 1, 9),
        bytes_written=served * 4_096,
        bindings=served,
        api_calls=tuple(calls),
        at_risk_max=35 if setting.flush_period else 0,
        at_risk_end=0,
        cpu_client_s=1.5,
        cpu_server_s=0.4 if through_api else None,
        memory_peak=80 << 20,
    )
