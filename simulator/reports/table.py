"""The verdict tables: rows are expectations, columns combinations, cells what was observed.

Scenarios of one file with the same combinations share a table.

Differences are marked in color and in text: `!=` before a cell that differs from the first
persistence of its version, and what a row differs by in the last column. Texts too long for a cell
stand below the table under a letter.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from simulator.reports.console import laid_out
from simulator.reports.grid import print_grid
from simulator.reports.results import ScenarioResult, Verdict
from simulator.reports.summary import meanings, overview, sentences, totals

WIDTH_MIN: Final = 60
"""Narrowest table; a narrower terminal wraps its lines."""


def table_report(results: Sequence[ScenarioResult], *, width: int, color: bool) -> str:
    """Return the tables of all scenarios, a legend and the totals."""
    return laid_out(
        lambda console: _print(console, results), width=max(width, WIDTH_MIN), color=color
    )


def _print(console: Console, results: Sequence[ScenarioResult]) -> None:
    groups = [
        tuple(group) for _, group in groupby(results, key=lambda one: (one.file, one.columns))
    ]
    for group in groups:
        print_grid(console, group)
        console.print()
    console.print(Text(_legend(results), style="dim"))
    if len(groups) > 1:
        console.print()
        for sentence in sentences(results):
            console.print(sentence)
        console.print()
        console.print(_overview(results))
        console.print()
    console.print(totals(results))


def _legend(results: Sequence[ScenarioResult]) -> str:
    """Explain the marks that these tables hold."""
    rows = [(result, row) for result in results for row in result.rows]
    cells = [cell for _, row in rows for cell in row.cells]
    marks = {
        "BROKEN: not what was expected.": any(cell.verdict is Verdict.BROKEN for cell in cells),
        "( ): only observed, nothing is expected there.": any(
            cell.verdict is Verdict.NOT_MEANT and cell.facts
            for _, row in rows
            if not row.only_shown
            for cell in row.cells
        ),
        "!=: differs from the first persistence of the same version.": any(
            row.differs(result.columns, "persistence") for result, row in rows
        ),
        "[a]: the text below the table.": any(
            cell.problem or any(fact.detail for fact in cell.facts) for cell in cells
        ),
    }
    used = [text for text, is_used in marks.items() if is_used]
    return "\n".join(["A cell shows what was observed.", *used, *meanings(results)])


def _overview(results: Sequence[ScenarioResult]) -> Table:
    head, *lines = overview(results)
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    for title in head:
        table.add_column(title, overflow="fold")
    for line in lines:
        table.add_row(*line)
    return table
