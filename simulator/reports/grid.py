"""One verdict table: rows are expectations, columns combinations, cells what was observed.

Differences are marked in color and in text: `!=` before a cell that differs from the first
persistence of its version, and what a row differs by in the last column. Texts too long for a cell
stand below the table under a letter.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from simulator.reports.results import Cell, Column, Row, ScenarioResult, Verdict
from simulator.reports.summary import sentences
from simulator.reports.text import letter, printable

_DIFFERS_WIDTH: Final = 11
_JOINTS: Final = re.compile(r"(?<=[-=:,])(?=[^-=:,])|(?<=[^+])(?=\+)|(?<=[a-z])(?=[A-Z])")
"""Where names are cut: `bind-`, `resource`; `checkpoint`, `+api`; `per`, `Container=`, `true`."""
_STYLES: Final = {"persistence": "bold magenta", "version": "cyan", "broken": "bold red"}


@dataclass(frozen=True, slots=True)
class _Layout:
    """Widths of the column of titles, of a cell, and of the gap after each."""

    title: int
    cell: int
    gap: int

    def columns(self, width: int) -> int:
        """Return how many columns of cells fit into `width`."""
        return (width - self.title - self.gap - _DIFFERS_WIDTH) // (self.cell + self.gap)


_LAYOUTS: Final = (
    _Layout(title=24, cell=13, gap=2),
    _Layout(title=24, cell=13, gap=1),
    _Layout(title=22, cell=10, gap=1),
)
"""From the one that reads best to the one that takes the least room."""


def print_grid(console: Console, results: Sequence[ScenarioResult]) -> None:
    """Print the table of scenarios that have the same combinations, two sentences above it."""
    for result in results:
        name = Text(f"{result.name}: " if result.description else result.name, style="bold")
        console.print(name.append(printable(result.description), style="not bold"))
        if result.source:
            console.print(printable(f"source: {result.source}"))
    console.print()
    for sentence in sentences(results):
        console.print(sentence)
    _Grid(results, console.width).print(console)


class _Grid:
    """One table, in as many blocks of columns as the width asks for."""

    def __init__(self, results: Sequence[ScenarioResult], width: int) -> None:
        self._results = results
        self._columns = columns = results[0].columns
        self._letters: dict[str, str] = {}
        self._width = width
        groups = groupby(columns, key=lambda column: column.version)
        group = max(len(list(of_version)) for _, of_version in groups)
        fitting = [
            layout
            for layout in _LAYOUTS
            if layout.columns(width) >= group and self._words_fit(layout)
        ]
        self._layout = min(fitting or _LAYOUTS, key=lambda layout: len(self._blocks(layout)))

    def print(self, console: Console) -> None:
        for columns in self._blocks(self._layout):
            console.print()
            console.print(self._table(columns))
        if self._letters:
            console.print()
        for text, mark in self._letters.items():
            console.print(Text(f"[{mark}] {text}"))

    def _words_fit(self, layout: _Layout) -> bool:
        """Tell whether no word of a title or a cell must be cut."""
        rows = [row for result in self._results for row in result.rows]
        facts = [fact for row in rows for cell in row.cells for fact in cell.facts]
        return _longest_word(row.title for row in rows) <= layout.title and (
            _longest_word(fact.observed for fact in facts) <= layout.cell
        )

    def _blocks(self, layout: _Layout) -> list[list[int]]:
        """Split the columns where versions change, as many to a block as fit."""
        columns, fit = self._columns, layout.columns(self._width)
        blocks: list[list[int]] = [[]]
        for _, group in groupby(range(len(columns)), key=lambda index: columns[index].version):
            indices = list(group)
            if blocks[-1] and len(blocks[-1]) + len(indices) > fit:
                blocks.append([])
            blocks[-1] += indices
        return blocks

    def _table(self, columns: Sequence[int]) -> Table:
        layout = self._layout
        table = Table(box=None, padding=(0, layout.gap, 0, 0), pad_edge=False, header_style="bold")
        headings = [_heading(self._columns[index], layout.cell) for index in columns]
        lines = max(len(heading) for heading in headings)
        table.add_column("\n" * (lines - 1) + "EXPECTATION", width=layout.title, overflow="fold")
        for heading in headings:
            text = "\n".join([*heading, *[""] * (lines - len(heading))])
            table.add_column(text, width=layout.cell, overflow="fold")
        table.add_column("\n" * (lines - 1) + "DIFFERS BY", width=_DIFFERS_WIDTH)
        for result in self._results:
            if len(self._results) > 1:
                self._separate(table)
                table.add_row(Text(f"{result.name}:", style="bold"))
            for row in result.rows:
                if row is not result.rows[0] or len(self._results) == 1:
                    self._separate(table)
                cells = [self._cell(row, index) for index in columns]
                table.add_row(printable(row.title), *cells, self._differs(row))
        return table

    @staticmethod
    def _separate(table: Table) -> None:
        if table.row_count:
            table.add_row()

    def _differs(self, row: Row) -> Text:
        by = [
            name
            for name in ("persistence", "version", "readmission")
            if row.differs(self._columns, name)
        ]
        return Text("\n".join(by) or "-", style=_STYLES.get(by[0], "") if by else "dim")

    def _cell(self, row: Row, index: int) -> Text:
        cell = row.cells[index]
        lines = self._lines(cell)
        if not lines:
            return Text("-", style="dim")
        other = row.stands_out(self._columns, index)
        if other:
            lines[0] = f"!= {lines[0]}"
        style = ""
        if cell.verdict is Verdict.BROKEN:
            lines.insert(0, "BROKEN")
            style = _STYLES["broken"]
        elif cell.verdict is Verdict.NOT_MEANT and not row.only_shown:
            lines = [f"({line})" for line in lines]
            style = "dim"
        elif other or row.differs(self._columns, "persistence"):
            style = _STYLES["persistence"]
        elif row.differs(self._columns, "version"):
            style = _STYLES["version"]
        return Text("\n".join(lines), style=style)

    def _lines(self, cell: Cell) -> list[str]:
        if cell.problem:
            return [f"[{self._letter(cell.problem)}]"]
        lines = []
        for fact in cell.facts:
            lines += [part for part in printable(fact.observed).split(", ") if part]
        note = ": ".join(fact.detail for fact in cell.facts if fact.detail)
        return [*lines, f"[{self._letter(note)}]"] if note else lines

    def _letter(self, text: str) -> str:
        shown = printable(text)
        return self._letters.setdefault(shown, letter(len(self._letters)))


def _heading(column: Column, width: int) -> list[str]:
    """Return what stands above a column, in lines that are cut where names have their joints."""
    parts = (column.version, *column.persistence.split(), column.readmission)
    return [line for part in parts if part for line in _cut(part, width)]


def _cut(word: str, width: int) -> list[str]:
    lines = [""]
    for piece in _JOINTS.split(word):
        if len(lines[-1] + piece) <= width or not lines[-1]:
            lines[-1] += piece
        else:
            lines.append(piece)
    return lines


def _longest_word(texts: Iterable[str]) -> int:
    return max((len(word) for text in texts for word in text.split()), default=0)
