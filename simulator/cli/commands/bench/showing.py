"""A run in the terminal: what it was measured on, its table, a histogram, and what it says."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from textwrap import wrap
from typing import Final

import click

from benchmarks.results.findings import LEADS, findings
from benchmarks.results.merging import Merged, merge
from benchmarks.results.naming import Naming
from benchmarks.results.noise_text import (
    cell_notes,
    fsync_line,
    incomplete_line,
    machine_line,
    noise_line,
)
from benchmarks.results.plotting import last_phase
from benchmarks.results.rows import Measure, Result
from benchmarks.results.sheet import csv_text
from benchmarks.results.text_histogram import text_histogram
from simulator.cli import terminal
from simulator.cli.commands.bench.row_table import row_table
from simulator.cli.output import OutputOptions, emit
from simulator.reports.text import printable

_SIDE_BY_SIDE: Final = 4


def show_result(result: Result, output: OutputOptions) -> None:
    """Write a run to stdout; tables with what one needs to read them, unless without headers."""
    merged = merge(result.rows)
    is_told = output.format in {"table", "wide"} and output.headers
    if output.format == "csv":
        click.echo(csv_text([result]), nl=False)
        return
    if is_told:
        noise, machine = result.noise, result.machine
        _tell([fsync_line(noise), noise_line(noise, machine), machine_line(result)])
        _tell([*filter(None, [incomplete_line(result)]), *_legend(merged)])
    emit(row_table(merged), merged, output)
    if is_told and merged:
        for line in ["", *_histogram(merged), ""]:
            click.echo(printable(line))
        _tell(findings(merged)[:LEADS])


def _tell(lines: Sequence[str]) -> None:
    """Write prose, on a terminal in lines that fit; what goes elsewhere keeps its lines whole."""
    width = terminal.width() if sys.stdout.isatty() else 0
    for line in lines:
        told = printable(line)
        folded = wrap(told, width, break_on_hyphens=False) if width else []
        for part in folded or [told]:
            click.echo(part)


def _legend(merged: Sequence[Merged]) -> list[str]:
    """Return what all rows share, and how to read a cell."""
    if not merged:
        return []
    shared = Naming(one.setting for one in merged).shared()
    lines = [f"all rows: {shared}"] if shared else []
    repetitions = max(len(one.rows) for one in merged)
    if repetitions > 1:
        lines.append(
            f"medians of {repetitions} repetitions; ± is half of what lies between the least and "
            "the most of them"
        )
    return [*lines, *cell_notes(merged), ""]


def _histogram(merged: Sequence[Merged]) -> list[str]:
    """Return the histograms of some rows of the last phase, one of each persistence first."""
    here = last_phase(merged)
    phase = here[0].phase
    firsts = {one.setting.persistence: one for one in reversed(here)}
    ordered = sorted(here, key=lambda one: firsts[one.setting.persistence] is not one)
    chosen = [one for one in here if one in ordered[:_SIDE_BY_SIDE]]
    naming = Naming(one.setting for one in chosen)
    named = [
        (naming.name(one.setting), latencies)
        for one in chosen
        if (latencies := one.latencies(Measure.ADMISSION)) is not None
    ]
    lines = text_histogram(named, terminal.width())
    of = [phase]
    if len(chosen) < len(here):
        common = Naming(one.setting for one in here).common(one.setting for one in chosen)
        of += [*filter(None, [common]), f"{len(chosen)} of {len(here)} settings"]
    return [f"scheduled start to durable admission, {', '.join(of)}:", *lines] if lines else []
