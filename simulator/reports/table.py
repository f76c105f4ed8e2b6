"""The verdict table: rows are expectations, columns combinations, cells what was observed.

Differences are marked in color and in text: `!=` before a cell that differs from the first
persistence of its version, and what a row differs by in the last column. Texts too long for a cell
stand below the table under a letter.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from simulator.reports.results import Cell, Column, Row, ScenarioResult, Verdict
from simulator.reports.summary import overview, sentences, totals
from simulator.reports.text import printable

WIDTH_MIN: Final = 60
"""Narrowest table; a narrower terminal wraps its lines."""

_DIFFERS_WIDTH: Final = 11
_ALPHABET: Final = 26
_LEGEND: Final = (
    "A cell shows what was observed. BROKEN: not what was expected.  ( ): only observed, "
    "nothing is expected there.  !=: differs from the first persistence of the same version.  "
    "[a]: see below the table."
)
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


_WIDE: Final = _Layout(title=24, cell=13, gap=2)
_NARROW: Final = _Layout(title=22, cell=10, gap=1)


def table_report(results: Sequence[ScenarioResult], *, width: int, color: bool) -> str:
    """Return the tables of all scenarios, a legend and the totals."""
    text = io.StringIO()
    console = Console(
        file=text,
        width=max(width, WIDTH_MIN),
        force_terminal=color,
        no_color=not color,
        color_system="standard" if color else None,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
    )
    for result in results:
        _Grid(result, console.width).print(console)
        console.print()
    console.print(Text(_LEGEND, style="dim"))
    if len(results) > 1:
        console.print()
        console.print(_overview(results))
        console.print()
    console.print(totals(results))
    return "".join(f"{line.rstrip()}\n" for line in text.getvalue().splitlines())


def _overview(results: Sequence[ScenarioResult]) -> Table:
    head, *lines = overview(results)
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    for title in head:
        table.add_column(title)
    for line in lines:
        table.add_row(*line)
    return table


class _Grid:
    """The table of one scenario, in as many blocks of columns as the width asks for."""

    def __init__(self, result: ScenarioResult, width: int) -> None:
        self._result = result
        self._letters: dict[str, str] = {}
        fits = _NARROW.columns(width) >= len(result.columns) > _WIDE.columns(width)
        self._layout = _NARROW if fits and self._words_fit(_NARROW) else _WIDE
        self._fit = max(1, self._layout.columns(width))

    def print(self, console: Console) -> None:
        result = self._result
        console.print(Text(result.name, style="bold"))
        for line in (result.description, f"source: {result.source}" if result.source else ""):
            if line:
                console.print(printable(line))
        console.print()
        for sentence in sentences(result):
            console.print(sentence)
        for columns in self._blocks():
            console.print()
            console.print(self._table(columns))
        for text, letter in self._letters.items():
            console.print(Padding(Text(f"[{letter}] {text}"), (0, 0, 0, 0)))

    def _words_fit(self, layout: _Layout) -> bool:
        """Tell whether no word of a title or a cell must be cut."""
        rows = self._result.rows
        facts = [fact for row in rows for cell in row.cells for fact in cell.facts]
        return _longest_word(row.title for row in rows) <= layout.title and (
            _longest_word(fact.observed for fact in facts) <= layout.cell
        )

    def _blocks(self) -> Iterator[Sequence[int]]:
        """Split the columns where versions change, as many to a block as fit."""
        columns = self._result.columns
        block: list[int] = []
        for _, group in groupby(range(len(columns)), key=lambda index: columns[index].version):
            indices = list(group)
            if block and len(block) + len(indices) > self._fit:
                yield block
                block = []
            block += indices
        yield block

    def _table(self, columns: Sequence[int]) -> Table:
        layout = self._layout
        table = Table(box=None, padding=(0, layout.gap, 0, 0), pad_edge=False, header_style="bold")
        headings = [_heading(self._result.columns[index]) for index in columns]
        lines = max(len(heading) for heading in headings)
        table.add_column("\n" * (lines - 1) + "EXPECTATION", width=layout.title, overflow="fold")
        for heading in headings:
            text = "\n".join([*heading, *[""] * (lines - len(heading))])
            table.add_column(text, width=layout.cell, overflow="fold")
        table.add_column("\n" * (lines - 1) + "DIFFERS BY", width=_DIFFERS_WIDTH)
        for number, row in enumerate(self._result.rows):
            cells = [self._cell(row, index) for index in columns]
            differs = self._differs(row)
            if number:
                table.add_row()
            table.add_row(printable(row.title), *cells, differs)
        return table

    def _differs(self, row: Row) -> Text:
        by = [
            name
            for name in ("persistence", "version", "readmission")
            if row.differs(self._result.columns, name)
        ]
        return Text("\n".join(by) or "-", style=_STYLES.get(by[0], "") if by else "dim")

    def _cell(self, row: Row, index: int) -> Text:
        cell = row.cells[index]
        lines = self._lines(cell)
        if not lines:
            return Text("-", style="dim")
        other = self._differs_from(row, index)
        if other:
            lines[0] = f"!= {lines[0]}"
        style = ""
        if cell.verdict is Verdict.BROKEN:
            lines.insert(0, "BROKEN")
            style = _STYLES["broken"]
        elif cell.verdict is Verdict.NOT_MEANT:
            lines = [f"({line})" for line in lines]
            style = "dim"
        elif other or row.differs(self._result.columns, "persistence"):
            style = _STYLES["persistence"]
        elif row.differs(self._result.columns, "version"):
            style = _STYLES["version"]
        return Text("\n".join(lines), style=style)

    def _lines(self, cell: Cell) -> list[str]:
        if cell.problem:
            return [f"[{self._letter(cell.problem)}]"]
        lines = []
        for fact in cell.facts:
            lines += [part for part in printable(fact.observed).split(", ") if part]
        letters = [f"[{self._letter(fact.detail)}]" for fact in cell.facts if fact.detail]
        return [*lines, " ".join(letters)] if letters else lines

    def _letter(self, text: str) -> str:
        shown = printable(text)
        if shown not in self._letters:
            round_, place = divmod(len(self._letters), _ALPHABET)
            self._letters[shown] = chr(ord("a") + place) * (round_ + 1)
        return self._letters[shown]

    def _differs_from(self, row: Row, index: int) -> bool:
        """Tell whether a cell differs from the first one that differs only in persistence."""
        columns = self._result.columns
        column = columns[index]
        first = next(
            number
            for number, other in enumerate(columns)
            if (other.version, other.readmission) == (column.version, column.readmission)
        )
        return row.cells[index].text() != row.cells[first].text()


def _heading(column: Column) -> list[str]:
    parts = (column.version, *column.persistence.split(), column.readmission)
    return [part for part in parts if part]


def _longest_word(texts: Iterable[str]) -> int:
    return max((len(word) for text in texts for word in text.split()), default=0)
