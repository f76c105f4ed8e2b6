"""What a replay found, as values: the material of every report.

A scenario's result is a grid: columns are combinations of version, persistence and readmission,
rows are expectations, and a cell holds what was observed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from simulator.core.instants import Instant
from simulator.core.records import Stamped


class Verdict(Enum):
    """Whether an expectation held in a run."""

    HELD = "held"
    BROKEN = "broken"
    NOT_MEANT = "not meant"
    """The row is not meant for this combination, or is only observed there."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that was observed.

    Attributes:
        key: The expectation's key, e.g. `phase`.
        observed: Text for a cell, e.g. `Running`.
        expected: Text of what was expected; None when the row says nothing about it.
        holds: Whether it is what was expected; true when nothing was.
        detail: A text too long for a cell, such as a message; empty when there is none.
        meaning: What `observed` means, for a legend; empty when it speaks for itself.
    """

    key: str
    observed: str
    expected: str | None = None
    holds: bool = True
    detail: str = ""
    meaning: str = ""


@dataclass(frozen=True, slots=True)
class Cell:
    """One expectation in one run.

    Attributes:
        facts: What was observed, in the order of the schema.
        at: When it was judged.
        problem: Why it could not be judged, e.g. that a step was never done.
    """

    verdict: Verdict
    facts: tuple[Fact, ...] = ()
    at: Instant = Instant(0)
    problem: str = ""

    def text(self) -> str:
        """Return everything that was observed, as compared between runs."""
        facts = ", ".join(f"{fact.observed} {fact.detail}".strip() for fact in self.facts)
        return self.problem or facts


@dataclass(frozen=True, slots=True)
class Column:
    """One combination.

    Attributes:
        persistence: The strategy with its options.
        readmission: Empty when it is the version's own.
    """

    version: str
    persistence: str
    readmission: str = ""

    @property
    def label(self) -> str:
        """The combination in one line."""
        return " ".join(part for part in (self.version, self.persistence, self.readmission) if part)


@dataclass(frozen=True, slots=True)
class Row:
    """One expectation, or several that speak of the same thing for different combinations.

    Attributes:
        title: E.g. `after reboot within 5s: pod trainer`.
        cells: One for each column.
    """

    title: str
    cells: tuple[Cell, ...]

    @property
    def only_shown(self) -> bool:
        """Whether nothing is expected of it in any column."""
        return all(cell.verdict is Verdict.NOT_MEANT for cell in self.cells)

    def differs(self, columns: Sequence[Column], by: str) -> bool:
        """Tell whether columns that differ in nothing but `by` have different cells.

        Args:
            columns: Those of the cells.
            by: `version`, `persistence` or `readmission`.
        """
        groups: dict[tuple[str, ...], set[str]] = {}
        for column, cell in zip(columns, self.cells, strict=True):
            others = tuple(
                getattr(column, name)
                for name in ("version", "persistence", "readmission")
                if name != by
            )
            groups.setdefault(others, set()).add(cell.text())
        return any(len(texts) > 1 for texts in groups.values())

    def stands_out(self, columns: Sequence[Column], index: int) -> bool:
        """Tell whether a cell differs from the first one that differs only in persistence."""
        column = columns[index]
        first = next(
            number
            for number, other in enumerate(columns)
            if (other.version, other.readmission) == (column.version, column.readmission)
        )
        return self.cells[index].text() != self.cells[first].text()


@dataclass(frozen=True, slots=True)
class RunResult:
    """One run: its combination and all that happened."""

    column: Column
    seed: int
    records: tuple[Stamped, ...]


@dataclass(frozen=True, slots=True)
class ScenarioResult:
    """One scenario, all its runs.

    Attributes:
        file: The file it stands in, as the user gave it.
        source: Where the case comes from; empty when not said.
        runs: One for each column.
        skipped: Rows of the scenario that none of these combinations selects.
    """

    name: str
    file: str
    description: str
    source: str
    runs: tuple[RunResult, ...]
    rows: tuple[Row, ...]
    skipped: int = 0

    @property
    def columns(self) -> tuple[Column, ...]:
        """The combinations."""
        return tuple(run.column for run in self.runs)

    @property
    def broken(self) -> int:
        """Number of expectations that did not hold."""
        return sum(cell.verdict is Verdict.BROKEN for row in self.rows for cell in row.cells)

    @property
    def held(self) -> int:
        """Number of expectations that held."""
        return sum(cell.verdict is Verdict.HELD for row in self.rows for cell in row.cells)
