"""Runs scenarios under two kubelet versions and compares what is observed.

Every row of expectations is looked at in both versions at the same instant, its deadline, whichever
versions it is meant for. A scenario may come out alike in all its rows and yet differ in its
records: how the kubelet got there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from scenarios.loading import LoadedScenario
from scenarios.matrix import Combination, Narrowing
from scenarios.replay import StartRun, play
from scenarios.rows import TableRow, table_rows
from scenarios.variants import Persistence
from simulator.core.records import KubeletStarted, Stamped
from simulator.errors import ScenarioError
from simulator.reports.comparison import ComparedScenario, DifferentFact, DifferentRow
from simulator.reports.results import Cell, Verdict


def compare_scenarios(
    loaded: Iterable[LoadedScenario],
    versions: tuple[str, str],
    persistence: Persistence,
    start: StartRun,
    progress: Callable[[], None] = lambda: None,
) -> list[ComparedScenario]:
    """Run each scenario under both versions; `progress` is called before each scenario."""
    found = []
    for one in loaded:
        progress()
        found.append(_compare(one, versions, persistence, start))
    return found


def _compare(
    loaded: LoadedScenario, versions: tuple[str, str], persistence: Persistence, start: StartRun
) -> ComparedScenario:
    own = loaded.combinations(Narrowing())
    runs = [Combination(version, persistence, own[0].readmission) for version in versions]
    rows, _ = table_rows(loaded.scenario.spec.expect, (*own, *runs))
    rows = [replace(row, meant=row.meant[len(own) :], late=True) for row in rows]
    outcomes = [_play(loaded, run, start, rows, index) for index, run in enumerate(runs)]
    first, second = outcomes
    different = [
        DifferentRow(row.title, facts)
        for row, one, other in zip(rows, first.cells, second.cells, strict=True)
        if (facts := _different_facts(one, other))
    ]
    if first.problem != second.problem:
        whole = DifferentFact("problem", first.problem, second.problem)
        different = [DifferentRow("the whole run", (whole,))]
    return ComparedScenario(
        name=loaded.name,
        description=loaded.scenario.spec.description,
        rows=tuple(different),
        row_count=len(rows),
        records_differ=bool(different) or first.records != second.records,
    )


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What a run has shown.

    Attributes:
        cells: One for each row; those of a run that broke off are empty.
        records: What happened, without the name of the version.
        problem: Why it broke off: a step that cannot be done, since the version did otherwise.
    """

    cells: Sequence[Cell]
    records: Sequence[Stamped] = ()
    problem: str = ""


def _play(
    loaded: LoadedScenario,
    run: Combination,
    start: StartRun,
    rows: Sequence[TableRow],
    column: int,
) -> _Outcome:
    try:
        result, cells = play(loaded, run, start, rows, column)
    except ScenarioError as error:
        return _Outcome([Cell(Verdict.NOT_MEANT) for _ in rows], problem=error.reason)
    return _Outcome(cells, _nameless(result.records))


def _different_facts(one: Cell, other: Cell) -> tuple[DifferentFact, ...]:
    """Return the facts of a row that differ; a row that holds nothing more says nothing."""
    if one.problem or other.problem:
        if one.problem == other.problem:
            return ()
        return (DifferentFact("problem", one.text(), other.text()),)
    first, second = _texts(one), _texts(other)
    keys = dict.fromkeys([*first, *second])
    return tuple(
        DifferentFact(key, first.get(key, ""), second.get(key, ""))
        for key in keys
        if first.get(key, "") != second.get(key, "")
    )


def _texts(cell: Cell) -> dict[str, str]:
    """Return what was observed by key; several facts of one key stand together."""
    texts: dict[str, list[str]] = {}
    for fact in cell.facts:
        texts.setdefault(fact.key, []).append(fact.detail or fact.observed)
    return {key: ", ".join(text for text in of_key if text) for key, of_key in texts.items()}


def _nameless(records: Sequence[Stamped]) -> list[Stamped]:
    """Return what happened without the name of the version."""
    return [
        replace(one, record=replace(one.record, version=""))
        if isinstance(one.record, KubeletStarted)
        else one
        for one in records
    ]
