"""Runs scenarios under two kubelet versions and compares what is observed.

Every row of expectations is looked at in both versions at the same instant, its deadline, whichever
versions it is meant for. A scenario may come out alike in all its rows and yet differ in its
records: how the kubelet got there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from scenarios.loading.loaded import LoadedScenario
from scenarios.loading.matrix import Combination, Narrowing
from scenarios.running.replay import StartRun, play
from scenarios.running.rows import table_rows
from scenarios.schema.variants import Persistence
from simulator.core.records import KubeletStarted, Stamped
from simulator.core.switch_rows.row import Switch
from simulator.core.switches import SWITCHES, behavior_for, flipped
from simulator.errors import ScenarioError
from simulator.reports.comparison import ComparedScenario, DifferentFact, DifferentRow
from simulator.reports.results import Cell, Verdict

_WHOLE_RUN: Final = "the whole run"


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
        found.append(_Comparison(one, versions, persistence, start).compared())
    return found


def with_causes(
    compared: Sequence[ComparedScenario],
    loaded: Sequence[LoadedScenario],
    versions: tuple[str, str],
    persistence: Persistence,
    start: StartRun,
) -> list[ComparedScenario]:
    """Find which switches make compared scenarios come out differently.

    The first version is run with one switch after the other as the second has it, and, where that
    does not tell, the second with one after the other as the first has it.
    """
    return [
        replace(one, causes=_Comparison(scenario, versions, persistence, start).causes(one))
        if one.rows
        else one
        for one, scenario in zip(compared, loaded, strict=True)
    ]


class _Comparison:
    """One scenario in two versions."""

    def __init__(
        self,
        loaded: LoadedScenario,
        versions: tuple[str, str],
        persistence: Persistence,
        start: StartRun,
    ) -> None:
        own = loaded.combinations(Narrowing())
        self._loaded = loaded
        self._versions = versions
        self._start = start
        self._runs = [Combination(version, persistence, own[0].readmission) for version in versions]
        rows, _ = table_rows(loaded.scenario.spec.expect, (*own, *self._runs))
        self._rows = [replace(row, meant=row.meant[len(own) :], late=True) for row in rows]

    def compared(self) -> ComparedScenario:
        """Run both versions and return what differs."""
        first, second = (self._play(index, self._start) for index in range(len(self._runs)))
        different = self._different(first, second)
        return ComparedScenario(
            name=self._loaded.name,
            description=self._loaded.scenario.spec.description,
            rows=different,
            row_count=len(self._rows),
            records_differ=bool(different) or first.records != second.records,
        )

    def causes(self, compared: ComparedScenario) -> tuple[Switch, ...]:
        """Return the switches that change one of the rows that differ.

        Each alone as the second version has it; and where none alone changes a row, as when a fix
        shows only together with a later one, each alone set back in the second version.
        """
        titles = {row.title for row in compared.rows}
        forth = self._changed_by_switch(0, titles)
        unexplained = titles.difference(*forth.values())
        back = self._changed_by_switch(1, unexplained) if unexplained else {}
        return tuple(switch for switch in SWITCHES if forth.get(switch) or back.get(switch))

    def _changed_by_switch(self, index: int, titles: set[str]) -> dict[Switch, set[str]]:
        """Return which of some rows change when a version has one switch as the other has it."""
        own = self._play(index, self._start)
        behaviors = [behavior_for(version) for version in self._versions]
        here, there = behaviors[index], behaviors[1 - index]
        found = {}
        for switch in SWITCHES:
            value: object = getattr(there, switch.name)
            if value != getattr(here, switch.name):
                other = self._play(index, self._flipped(index, switch, value))
                changed = {row.title for row in self._different(own, other)}
                found[switch] = titles if _WHOLE_RUN in changed else titles & changed
        return found

    def _flipped(self, index: int, switch: Switch, value: object) -> StartRun:
        """Return how to start a run in which a version has another value of a switch."""
        behaviors = flipped(self._versions[index], switch.name, value)
        return lambda spec: self._start(replace(spec, behaviors=behaviors))

    def _play(self, column: int, start: StartRun) -> _Outcome:
        try:
            result, cells = play(self._loaded, self._runs[column], start, self._rows, column)
        except ScenarioError as error:
            return _Outcome([Cell(Verdict.NOT_MEANT) for _ in self._rows], problem=error.reason)
        return _Outcome(cells, _nameless(result.records))

    def _different(self, first: _Outcome, second: _Outcome) -> tuple[DifferentRow, ...]:
        if first.problem != second.problem:
            whole = DifferentFact("problem", first.problem, second.problem)
            return (DifferentRow(_WHOLE_RUN, (whole,)),)
        return tuple(
            DifferentRow(row.title, facts)
            for row, one, other in zip(self._rows, first.cells, second.cells, strict=True)
            if (facts := _different_facts(one, other))
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
