"""A run of a preset: a row for each of its combinations."""

from __future__ import annotations

import sys

import click

from benchmarks.presets import PRESETS, RunRow, run
from simulator.cli.failures import EnvironmentProblem
from simulator.cli.output import Column, OutputOptions, Table, emit
from simulator.core.instants import MILLISECOND, format_duration

_NOT_KNOWN = "-"


def _achieved(row: RunRow) -> float:
    return row.result.served / row.result.elapsed


def _unserved(row: RunRow) -> int:
    return row.result.offered - row.result.served


def _latency(row: RunRow, percent: float) -> str:
    """Return a percentile; when pods were not served, it is what they had waited at least."""
    milliseconds = float(f"{row.result.latencies.percentile_ms(percent):.3g}")
    text = format_duration(round(milliseconds * MILLISECOND))
    return f">={text}" if _unserved(row) else text


RUN_TABLE: Table[RunRow] = Table(
    kind="BenchmarkRun",
    columns=(
        Column("PERSISTENCE", lambda row: row.combination.persistence),
        Column("COMMIT-BATCH", lambda row: row.combination.commit_batch or _NOT_KNOWN),
        Column("ADDED-FSYNC", lambda row: f"{row.combination.added_fsync_ms}ms"),
        Column("OFFERED/S", lambda row: round(row.result.offered / row.load.seconds)),
        Column("ACHIEVED/S", lambda row: round(_achieved(row))),
        Column("P50", lambda row: _latency(row, 50)),
        Column("P99", lambda row: _latency(row, 99)),
        Column("UNSERVED", _unserved),
        Column("FSYNCS", lambda row: row.syncs),
        Column("KIB", lambda row: _NOT_KNOWN if row.written is None else row.written // 1024),
        Column("DURABILITY", lambda row: row.durability.value),
        Column("NODES", lambda row: row.load.nodes, wide=True),
        Column("PODS", lambda row: row.result.served, wide=True),
    ),
    name=lambda row: (
        f"run/{row.combination.persistence}-{row.combination.commit_batch or 'file'}"
        f"-{row.combination.added_fsync_ms}ms"
    ),
    document=lambda row: {
        "persistence": row.combination.persistence,
        "commitBatch": row.combination.commit_batch,
        "addedFsync": f"{row.combination.added_fsync_ms}ms",
        "nodes": row.load.nodes,
        "offeredPerSecond": row.result.offered / row.load.seconds,
        "achievedPerSecond": _achieved(row),
        "p50Milliseconds": row.result.latencies.percentile_ms(50),
        "p99Milliseconds": row.result.latencies.percentile_ms(99),
        "served": row.result.served,
        "unserved": _unserved(row),
        "fsyncs": row.syncs,
        "bytesWritten": row.written,
        "durability": row.durability.value,
    },
    nothing="nothing was measured",
)


def run_and_show(
    preset: str, output: OutputOptions, *, seconds: float | None, nodes: int | None
) -> None:
    """Run a preset and write its rows to stdout, after Ctrl-C those that there are.

    Raises:
        EnvironmentProblem: fsyncs cannot be counted here.
    """
    rows: list[RunRow] = []
    chosen = PRESETS[preset]
    try:
        for row in run(chosen, seconds=seconds, nodes=nodes):
            rows.append(row)
            _show_progress(len(rows), len(chosen.combinations))
    except AttributeError as error:
        reason = f"the SQLite of this Python does not let its fsyncs be counted: {error}"
        raise EnvironmentProblem(reason) from error
    except KeyboardInterrupt:
        emit(RUN_TABLE, rows, output)
        raise
    emit(RUN_TABLE, rows, output)


def _show_progress(done: int, total: int) -> None:
    if sys.stderr.isatty():
        click.echo(f"{done} of {total} runs done", err=True)
