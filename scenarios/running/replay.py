"""Runs scenarios in all their combinations and gathers what happened."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Final

from scenarios.loading.loaded import LoadedScenario
from scenarios.loading.matrix import Combination, Narrowing
from scenarios.running.rows import TableRow, table_rows
from scenarios.running.stage import Stage
from scenarios.sights.view import Run
from simulator.core.behavior import Readmission
from simulator.engine.spec import SimulationSpec
from simulator.reports.results import Cell, Column, Row, RunResult, ScenarioResult

StartRun = Callable[[SimulationSpec], AbstractContextManager[Run]]
"""Builds a simulated cluster, and lets go of what it holds at the end."""

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
        stage = Stage(loaded, run, combination.persistence, rows, column)
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
