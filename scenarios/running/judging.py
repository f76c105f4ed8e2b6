"""When a row of expectations is judged in one run, and with what verdict.

A row holds as soon as all its keys are true together at an instant from its beginning to its
deadline. What could be true too early, because it is true until something happens, is judged once,
at the deadline: calls, `unchanged`, and counted records.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from scenarios.running.rows import TableRow
from scenarios.schema.expect import Expectation
from scenarios.sights.facts import facts
from scenarios.sights.scene import Scene
from scenarios.sights.view import Run
from simulator.core.instants import Instant, after, format_duration
from simulator.core.resources import ResourceName
from simulator.core.transitions import NodeName
from simulator.reports.results import Cell, Fact, Verdict


@dataclass(slots=True)
class StepProgress:
    """How far a step is.

    Attributes:
        first_record: Number of records when it began.
        began, done: When; None for not yet.
    """

    first_record: int = 0
    began: Instant | None = None
    done: Instant | None = None


@dataclass(frozen=True, slots=True)
class Cast:
    """What the rows of a scenario have in common."""

    nodes: tuple[NodeName, ...]
    resources: Mapping[str, ResourceName]
    short: Mapping[str, str]
    known_pods: Mapping[str, str]


class Judge:
    """Judges one row in one run."""

    def __init__(
        self,
        row: TableRow,
        meant: Expectation | None,
        cast: Cast,
        steps: Mapping[str, StepProgress],
    ) -> None:
        self._row = row
        self._meant = meant
        self._cast = cast
        self._step = steps.get(row.example.after or "")
        self._within = (meant or row.example).within
        self._cell: Cell | None = None

    @property
    def open(self) -> bool:
        """Whether the row is not yet judged."""
        return self._cell is None

    def next_at(self) -> Instant | None:
        """Return when the row must be looked at; None while nobody knows."""
        begin = self._begin()
        if begin is None or not self.open:
            return None
        return after(begin, self._within)

    def look(self, run: Run) -> None:
        """Judge the row now, if it is open, has begun, and can be judged."""
        begin = self._begin()
        if begin is None or not self.open or run.now < begin:
            return
        last = run.now >= after(begin, self._within)
        if (self._row.late or self._meant is None) and not last:
            return
        seen = self._facts(run)
        if last or all(fact.holds for fact in seen):
            self._cell = self._judged(run, seen)

    def finish(self, run: Run) -> Cell:
        """Return the verdict at the end of the run."""
        if self._cell is not None:
            return self._cell
        if self._row.example.always:
            return self._judged(run, self._facts(run))
        problem = f'the step "{self._row.example.after}" was never done'
        if self._begin() is not None:
            problem = f"the run ended at {format_duration(run.now)}"
        verdict = Verdict.BROKEN if self._meant is not None else Verdict.NOT_MEANT
        return Cell(verdict, at=run.now, problem=problem)

    def _begin(self) -> Instant | None:
        if self._row.example.at is not None:
            return Instant(self._row.example.at)
        return self._step.done if self._step is not None else None

    def _facts(self, run: Run) -> tuple[Fact, ...]:
        row = self._meant or self._row.example
        scene = Scene(
            run=run,
            since=self._step.first_record if self._step is not None else 0,
            short=self._cast.short,
            node=NodeName(row.node) if row.node else self._cast.nodes[0],
            resources=self._cast.resources,
            known_pods=self._cast.known_pods,
        )
        seen = facts(row, self._row.keys, scene)
        if self._meant is not None:
            return seen
        return tuple(replace(fact, expected=None, holds=True) for fact in seen)

    def _judged(self, run: Run, seen: tuple[Fact, ...]) -> Cell:
        if self._meant is None:
            return Cell(Verdict.NOT_MEANT, seen, run.now)
        if seen and all(fact.expected is None for fact in seen) and self._meant.show:
            return Cell(Verdict.NOT_MEANT, seen, run.now)
        holds = all(fact.holds for fact in seen)
        return Cell(Verdict.HELD if holds else Verdict.BROKEN, seen, run.now)
