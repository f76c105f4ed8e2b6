"""A replay as one HTML page: what was found, the verdict tables, and a timeline of every run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby

from markupsafe import Markup

from simulator.core.instants import format_duration
from simulator.core.plurals import counted
from simulator.reports.pages.page import embedded, page
from simulator.reports.pages.timeline_data import Texts, document, timeline_data
from simulator.reports.results import Cell, Column, Row, ScenarioResult, Verdict
from simulator.reports.summary import meanings, overview, sentences, totals
from simulator.reports.text import letter, printable
from simulator.reports.timelines.timeline import timeline
from simulator.reports.transcript import VERDICT_WORDS

_CHANGING = ("persistence", "version", "readmission")


@dataclass(frozen=True, slots=True)
class CellView:
    """One expectation in one run.

    Attributes:
        id: Of the table's cell.
        place: Id of its place below the run's timeline.
        verdict: `held`, `broken` or `seen`; empty when nothing was looked at.
        lines: What was observed, each short.
        expected: What should have been, when it was not.
        note: Letter of a text too long for the cell; empty when there is none.
        stands_out: Whether it differs from the first persistence of the same version.
        full: All that was observed in one line.
    """

    id: str
    place: str
    title: str
    verdict: str
    at: str
    lines: tuple[str, ...]
    expected: tuple[str, ...]
    note: str
    stands_out: bool
    full: str


@dataclass(frozen=True, slots=True)
class RowView:
    """One expectation in all runs."""

    title: str
    cells: tuple[CellView, ...]
    differs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RunView:
    """One run, below the table."""

    id: str
    label: str
    column: Column
    seed: int
    end: str
    records: str
    broken: int
    expectations: tuple[CellView, ...]


@dataclass(frozen=True, slots=True)
class ScenarioView:
    """One scenario.

    Attributes:
        versions: Heading of the table: each version and how many columns it has.
        notes: Letter and text of what does not fit into cells.
        data: The timelines for the page's script.
    """

    id: str
    name: str
    description: str
    source: str
    counts: tuple[str, ...]
    sentences: tuple[str, ...]
    versions: tuple[tuple[str, int], ...]
    rows: tuple[RowView, ...]
    runs: tuple[RunView, ...]
    notes: tuple[tuple[str, str], ...]
    data: Markup

    @property
    def telling(self) -> int:
        """Number of the run to look at first: one with a broken expectation, if there is one."""
        return next((number for number, run in enumerate(self.runs) if run.broken), 0)


@dataclass(frozen=True, slots=True)
class ReplayView:
    """The whole page."""

    heading: str
    sentences: tuple[str, ...]
    totals: str
    meanings: tuple[str, ...]
    overview_head: tuple[str, ...]
    scenarios: tuple[ScenarioView, ...]
    broken: int


def replay_page(results: Sequence[ScenarioResult]) -> str:
    """Return the page of all results."""
    one = results[0].name if len(results) == 1 else ""
    head, *lines = overview(results)
    view = ReplayView(
        heading=one or counted(len(results), "scenario"),
        sentences=sentences(results),
        totals=totals(results),
        meanings=meanings(results),
        overview_head=head,
        scenarios=tuple(
            _Scenario(result, f"s{number}").view(counts)
            for number, (result, counts) in enumerate(zip(results, lines, strict=True), 1)
        ),
        broken=sum(result.broken for result in results),
    )
    return page("replay.html.jinja", title=f"{view.heading} - Rebind replay", view=view)


@dataclass(slots=True)
class _Scenario:
    result: ScenarioResult
    id: str
    notes: dict[str, str] = field(default_factory=dict)

    def view(self, counts: tuple[str, ...]) -> ScenarioView:
        result = self.result
        rows = tuple(self._row(number, row) for number, row in enumerate(result.rows))
        texts = Texts()
        data = [timeline_data(timeline(result, run), texts) for run in range(len(result.runs))]
        return ScenarioView(
            id=self.id,
            name=result.name,
            description=result.description,
            source=result.source,
            counts=counts,
            sentences=sentences([result]),
            versions=tuple(
                (version, len(list(columns)))
                for version, columns in groupby(column.version for column in result.columns)
            ),
            rows=rows,
            runs=tuple(self._run(number, rows) for number in range(len(result.runs))),
            notes=tuple((mark, text) for text, mark in self.notes.items()),
            data=embedded(document(texts, data)),
        )

    def _row(self, number: int, row: Row) -> RowView:
        columns = self.result.columns
        return RowView(
            title=row.title,
            cells=tuple(self._cell(number, row, index) for index in range(len(columns))),
            differs=tuple(by for by in _CHANGING if row.differs(columns, by)),
        )

    def _cell(self, number: int, row: Row, index: int) -> CellView:
        cell = row.cells[index]
        note = cell.problem or ": ".join(fact.detail for fact in cell.facts if fact.detail)
        return CellView(
            id=f"{self.id}e{number + 1}r{index + 1}",
            place=f"{self.id}r{index + 1}e{number + 1}",
            title=row.title,
            verdict=VERDICT_WORDS[cell.verdict] if cell.facts or cell.problem else "",
            at=format_duration(cell.at),
            lines=_lines(cell),
            expected=tuple(
                f"{fact.key} {fact.expected}"
                for fact in cell.facts
                if not fact.holds and fact.expected is not None
            ),
            note=self.notes.setdefault(printable(note), letter(len(self.notes))) if note else "",
            stands_out=row.stands_out(self.result.columns, index),
            full=", ".join([*_lines(cell), *([note] if note else [])]),
        )

    def _run(self, number: int, rows: Sequence[RowView]) -> RunView:
        run = self.result.runs[number]
        cells = [row.cells[number] for row in self.result.rows]
        end = max((stamped.at for stamped in run.records), default=0)
        return RunView(
            id=f"{self.id}r{number + 1}",
            label=run.column.label,
            column=run.column,
            seed=run.seed,
            end=format_duration(end),
            records=counted(len(run.records), "record"),
            broken=sum(cell.verdict is Verdict.BROKEN for cell in cells),
            expectations=tuple(row.cells[number] for row in rows if row.cells[number].verdict),
        )


def _lines(cell: Cell) -> tuple[str, ...]:
    observed = [fact.observed for fact in cell.facts if not cell.problem]
    return tuple(part for text in observed for part in text.split(", ") if part)
