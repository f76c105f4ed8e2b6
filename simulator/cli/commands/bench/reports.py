"""`rebind bench report`: findings and figures of runs as a page, documents or tables."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import click

from benchmarks.results.documents import result_document
from benchmarks.results.findings import findings
from benchmarks.results.merging import merge
from benchmarks.results.rows import Result
from benchmarks.results.sheet import csv_text, slices_csv
from simulator.cli.commands.bench.row_table import row_document
from simulator.cli.commands.bench.showing import show_result
from simulator.cli.html import benchmark_html
from simulator.cli.output import JsonValue, OutputOptions
from simulator.cli.output_files import write_whole
from simulator.config import API_VERSION

TABLES: Final = ("table", "wide")
REPORT_FORMATS: Final = ("html", "json", "csv", *TABLES)


def write_report(
    results: Sequence[Result], output: str, out: Path | None, *, over_time: bool
) -> None:
    """Write runs in a form to a file, or without one to stdout.

    Args:
        results: The runs.
        output: The form.
        out: The file.
        over_time: Whether CSV has the slices of long phases in place of the rows.

    Raises:
        EnvironmentProblem: A page is wanted, and Jinja2 is not installed.
        OSError: The file cannot be written.
    """
    if output in TABLES:
        for result in results:
            show_result(result, OutputOptions(output))
        return
    text = slices_csv(results) if over_time else _text(results, output)
    if out is None:
        click.echo(text, nl=False)
    else:
        write_whole(out, text.encode())


def _text(results: Sequence[Result], output: str) -> str:
    if output == "html":
        return benchmark_html(results)
    if output == "csv":
        return csv_text(results)
    return json.dumps(_document(results), indent=2, ensure_ascii=False) + "\n"


def _document(results: Sequence[Result]) -> dict[str, JsonValue]:
    return {
        "apiVersion": API_VERSION,
        "kind": "BenchmarkReport",
        "items": [_run(result) for result in results],
    }


def _run(result: Result) -> dict[str, JsonValue]:
    """Return a run with its findings and what its repetitions give, before all of its file."""
    merged = merge(result.rows)
    return {
        "findings": findings(merged),
        "merged": [row_document(one) for one in merged],
        "complete": result.is_complete,
        "run": result_document(result),
    }
