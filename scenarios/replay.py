"""Runs scenarios: performs steps when they are due, judges rows, and gathers what happened."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Final

from scenarios.agenda import Agenda
from scenarios.fields import DURATION_MAX
from scenarios.judging import Cast, Judge, StepProgress
from scenarios.loading import LoadedScenario
from scenarios.matrix import Combination, Narrowing
from scenarios.rows import TableRow, table_rows
from scenarios.view import Run
from simulator.core.behavior import Readmission
from simulator.core.instants import HOUR, Instant, after, format_duration
from simulator.core.transitions import NodeName
from simulator.engine.spec import SimulationSpec
from simulator.errors import ScenarioError
from simulator.reports.results import Cell, Column, Row, RunResult, ScenarioResult

StartRun = Callable[[SimulationSpec], AbstractContextManager[Run]]
"""Builds a simulated cluster, and lets go of what it holds at the end."""

STALL: Final = HOUR
"""A step that is not done so long after all should have been by their own words is given up."""
SOURCE_ANNOTATION: Final = "rebind.internal/source"


def replay(
    loaded: LoadedScenario,
    narrowing: Narrowing,
    start: StartRun,
    *,
    seed: int | None = None,
    progress: Callable[[Combination], None] = lambda _: None,
) -> ScenarioResult:
    """Run a scenario in all its combinations.

    Args:
        loaded: The scenario.
        narrowing: What the command line puts in place of its matrix.
        start: Builds the cluster of one run.
        seed: In place of the scenario's own.
        progress: Told of each run before it begins.
    """
    runs = loaded.combinations(narrowing)
    rows, skipped = table_rows(loaded.scenario.spec.expect, runs)
    results: list[RunResult] = []
    cells: list[list[Cell]] = [[] for _ in rows]
    for index, combination in enumerate(runs):
        progress(combination)
        result, judged = play(loaded, combination, start, rows, index, seed=seed)
        results.append(result)
        for of_row, cell in zip(cells, judged, strict=True):
            of_row.append(cell)
    return ScenarioResult(
        name=loaded.name,
        file=loaded.path,
        description=loaded.scenario.spec.description,
        source=loaded.scenario.metadata.annotations.get(SOURCE_ANNOTATION, ""),
        runs=tuple(results),
        rows=tuple(Row(row.title, tuple(of_row)) for row, of_row in zip(rows, cells, strict=True)),
        skipped=skipped,
    )


def play(  # noqa: PLR0913 - a run, how it is started, and what of it is judged
    loaded: LoadedScenario,
    combination: Combination,
    start: StartRun,
    rows: Sequence[TableRow],
    column: int,
    *,
    seed: int | None = None,
) -> tuple[RunResult, list[Cell]]:
    """Run a scenario in one combination.

    Args:
        loaded: The scenario.
        combination: What to run.
        start: Builds the cluster of the run.
        rows: What to judge.
        column: Which of a row's expectations is meant for this run.
        seed: In place of the scenario's own.

    Returns:
        What happened, and a cell for each row.
    """
    spec = loaded.simulation(combination, seed=seed)
    with start(spec) as run:
        stage = _Stage(loaded, run, rows, column)
        stage.play()
        cells = [judge.finish(run) for judge in stage.judges]
        return RunResult(_column(combination), spec.seed, tuple(run.records)), cells


def _column(combination: Combination) -> Column:
    own = combination.readmission is Readmission.UPSTREAM
    return Column(
        combination.version,
        combination.persistence.label,
        "" if own else combination.readmission.value,
    )


class _Stage:
    """One run: which steps are due, which rows are open."""

    def __init__(
        self, loaded: LoadedScenario, run: Run, rows: Sequence[TableRow], column: int
    ) -> None:
        self._steps = loaded.scenario.spec.steps
        self._actions = loaded.actions
        self._run = run
        self._fault = loaded.step_fault
        self._expected_end = Instant(0)
        self._agenda = Agenda(self._steps)
        self._progress = {step.name: StepProgress() for step in self._steps}
        self._under_way: dict[str, StepProgress] = {}
        cast = _cast(loaded)
        self.judges = [Judge(row, row.meant[column], cast, self._progress) for row in rows]

    def play(self) -> None:
        """Let the run go on until all steps are done and all rows are judged."""
        while True:
            self._settle()
            at = self._next_at()
            if at is None:
                return
            self._run.run_until(at)

    def _settle(self) -> None:
        """Do all that is due at the present instant: events, then rows, then steps."""
        while True:
            self._run.run_until(self._run.now)
            self._complete()
            for judge in self.judges:
                judge.look(self._run)
            due = self._agenda.take_due(self._run.now)
            for index in due:
                self._perform(index)
            if not due:
                return

    def _complete(self) -> None:
        """Take note of the steps that are done."""
        for name, progress in list(self._under_way.items()):
            progress.done = self._run.completed_at(name)
            if progress.done is not None:
                del self._under_way[name]
                self._agenda.complete(name, progress.done)

    def _perform(self, index: int) -> None:
        step = self._steps[index]
        progress = self._under_way[step.name] = self._progress[step.name]
        progress.began = self._run.now
        progress.first_record = len(self._run.records)
        end = after(self._run.now, step.action.span)
        self._check_time(index, end)
        self._expected_end = max(self._expected_end, end)
        try:
            self._run.perform(self._actions[index], step.name)
        except ScenarioError as error:
            reason = f'the step "{step.name}" cannot be done: {error.reason}'
            raise self._fault(index, reason) from error

    def _check_time(self, index: int, at: Instant) -> None:
        if at > DURATION_MAX:
            longest = format_duration(DURATION_MAX)
            reason = (
                f'the step "{self._steps[index].name}" would go on until {format_duration(at)} '
                f"of virtual time; a run lasts {longest} at most"
            )
            raise self._fault(index, reason)

    def _next_at(self) -> Instant | None:
        """Return the next instant at which something is due; None when the run is over."""
        wanted = self._planned()
        if not wanted and not self._under_way:
            return None
        event = self._run.next_at()
        if event is None or (not wanted and not self._is_close(event)):
            return min(wanted, default=None)
        return min([*wanted, event])

    def _planned(self) -> list[Instant]:
        """Return when rows and steps are due, whatever becomes of the steps under way."""
        rows = [at for judge in self.judges if (at := judge.next_at()) is not None]
        first = self._agenda.first()
        if first is None:
            return rows
        at, index = first
        self._check_time(index, at)
        return [*rows, at]

    def _is_close(self, at: Instant) -> bool:
        """Tell whether `at` is not too long after the steps under way should have been done."""
        return at <= after(self._expected_end, STALL)


def _cast(loaded: LoadedScenario) -> Cast:
    plugins = loaded.scenario.spec.plugins
    nodes = tuple(NodeName(node.name) for node in loaded.scenario.spec.nodes)
    names = dict.fromkeys(plugin.resource_name for plugin in plugins)
    last_parts = [name.rpartition("/")[2] for name in names]
    return Cast(
        nodes=nodes,
        resources={plugin.name: plugin.resource_name for plugin in plugins},
        known_pods={str(pod.uid): pod.name for node in loaded.nodes for pod in node.pods},
        short={
            name: part
            for name, part in zip(names, last_parts, strict=True)
            if last_parts.count(part) == 1
        },
    )
