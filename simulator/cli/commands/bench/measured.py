"""A run while it is measured: progress, its file after each row, and what is printed at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeAlias

import click

from benchmarks.results.documents import result_text
from benchmarks.results.progress import Progress
from benchmarks.results.rows import Result
from simulator.cli.commands.bench.progress import progress_shown
from simulator.cli.commands.bench.showing import show_result
from simulator.cli.output import OutputOptions
from simulator.cli.output_files import write_whole
from simulator.reports.text import printable

Measuring: TypeAlias = Callable[[Callable[[Progress], None]], Iterable[Result]]
"""Measures, tells its progress, and gives what there is after each row; after Ctrl-C it may give
what was measured of the row in hand, before the interrupt goes on."""


def show_measured(measuring: Measuring, file: Path | None, output: OutputOptions) -> None:
    """Measure, keep what was measured, and print it; after Ctrl-C what there is until then.

    Args:
        measuring: Gives the growing result.
        file: Has every row as soon as it is measured; it is whole at every moment.
        output: How the result is printed.

    Raises:
        KeyboardInterrupt: The run was cut; what there is has been printed.
        OSError: The file cannot be written.
    """
    result: Result | None = None
    try:
        with progress_shown() as line:
            for result in measuring(line.show):
                if file is not None:
                    write_whole(file, result_text(result).encode())
    except KeyboardInterrupt:
        _show(result, file, output)
        raise
    _show(result, file, output)


def _show(result: Result | None, file: Path | None, output: OutputOptions) -> None:
    if result is None:
        click.echo("nothing was measured", err=True)
        return
    show_result(result, output)
    if file is not None:
        click.echo(f"written to {printable(str(file))}", err=True)
