"""Two plain sentences about results: what the persistence changes, and what it does not.

They are made from what was observed, so they say no more than the runs have shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from simulator.core.plurals import counted
from simulator.reports.results import Row, ScenarioResult, Verdict

_NAMED_MAX = 6


@dataclass(frozen=True, slots=True)
class _Outcome:
    """A row of a scenario, and what it is called: the row's title, or its scenario's name."""

    result: ScenarioResult
    row: Row
    name: str
    place: str

    def differs(self, by: str) -> bool:
        return self.row.differs(self.result.columns, by)


def meanings(results: Sequence[ScenarioResult]) -> tuple[str, ...]:
    """Return what the cells say that does not speak for itself, and what it means, by name."""
    return tuple(
        sorted(
            {
                f"{fact.observed}: {fact.meaning}"
                for result in results
                for row in result.rows
                for cell in row.cells
                for fact in cell.facts
                if fact.meaning
            }
        )
    )


def sentences(results: Sequence[ScenarioResult]) -> tuple[str, ...]:
    """Return what differs between the persistences, and what does not."""
    outcomes = [
        _Outcome(result, row, result.name, "in ")
        if len(results) > 1
        else _Outcome(result, row, f'"{row.title}"', "")
        for result in results
        for row in result.rows
        if any(cell.facts or cell.problem for cell in row.cells)
    ]
    names = list(dict.fromkeys(one.persistence for result in results for one in result.columns))
    differing = [outcome for outcome in outcomes if outcome.differs("persistence")]
    same = [outcome for outcome in outcomes if outcome not in differing]
    if not outcomes:
        return ("No expectation is meant for what was run, so there is nothing to compare.",)
    if len(names) == 1:
        only = f"Only the persistence {names[0]} was run, so there is nothing to compare it with."
        by_version = _what_differs_by_version(same, "")
        return (only, f"{by_version[0].upper()}{by_version[1:]}.") if by_version else (only,)
    return _what_differs(len(outcomes), differing, names), _what_is_alike(differing, same)


def _what_differs(count: int, differing: Sequence[_Outcome], names: Sequence[str]) -> str:
    if not differing:
        which = "the one outcome" if count == 1 else f"any of the {count} outcomes"
        return f"{_listed(names).capitalize()} do not differ in {which}."
    verb = "differs" if len(differing) == 1 else "differ"
    return (
        f"{len(differing)} of {counted(count, 'outcome')} {verb} between {_listed(names)}: "
        f"{_named(differing)}."
    )


def _what_is_alike(differing: Sequence[_Outcome], same: Sequence[_Outcome]) -> str:
    if not same:
        return "No outcome is the same wherever the kubelet keeps its records."
    alike = "the kubelet of one version decides the same, wherever its records are kept"
    if differing:
        other = "outcome is" if len(same) == 1 else f"{counted(len(same), 'outcome')} are"
        start = f"The other {other} alike: there {alike}"
    else:
        start = f"T{alike[1:]}"
    by_version = _what_differs_by_version(same, " of them")
    return f"{start}; {by_version}." if by_version else f"{start}."


def _what_differs_by_version(outcomes: Sequence[_Outcome], whose: str) -> str:
    """Return a clause, empty when there is nothing to say."""
    by_version = [outcome for outcome in outcomes if outcome.differs("version")]
    if not by_version:
        return ""
    verb = "changes" if len(by_version) == 1 else "change"
    count = "one" if len(by_version) == 1 else str(len(by_version))
    noun = whose or (" outcome" if len(by_version) == 1 else " outcomes")
    return f"{count}{noun} {verb} with the version: {_named(by_version)}"


def _listed(names: Sequence[str]) -> str:
    return " and ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)


def _named(outcomes: Sequence[_Outcome]) -> str:
    """Name outcomes by their rows, or by their scenarios when there are several."""
    names = list(dict.fromkeys(outcome.name for outcome in outcomes))
    more = len(names) - _NAMED_MAX
    shown = [*names[:_NAMED_MAX], f"{more} more"] if more > 0 else names
    return f"{outcomes[0].place}{_listed(shown)}"


def overview(results: Sequence[ScenarioResult]) -> list[tuple[str, ...]]:
    """Return a line for each scenario: its name and how its outcomes compare."""
    lines: list[tuple[str, ...]] = [
        ("SCENARIO", "RUNS", "HELD", "BROKEN", "DIFFER BY PERSISTENCE", "BY VERSION")
    ]
    for result in results:
        counts = [
            f"{sum(row.differs(result.columns, by) for row in result.rows)} of {len(result.rows)}"
            for by in ("persistence", "version")
        ]
        numbers = (str(len(result.runs)), str(result.held), str(result.broken))
        lines.append((result.name, *numbers, *counts))
    return lines


def totals(results: Sequence[ScenarioResult]) -> str:
    """Return one line that counts scenarios, runs and expectations."""
    runs = sum(len(result.runs) for result in results)
    broken = sum(result.broken for result in results)
    held = sum(result.held for result in results)
    skipped = sum(result.skipped for result in results)
    seen = sum(
        cell.verdict is Verdict.NOT_MEANT
        for result in results
        for row in result.rows
        for cell in row.cells
        if cell.facts
    )
    parts = [
        counted(len(results), "scenario"),
        counted(runs, "run"),
        f"{counted(held, 'expectation')} held",
        f"{broken} broken",
    ]
    if seen:
        parts.append(f"{seen} only observed")
    if skipped:
        parts.append(f"{skipped} skipped: no combination selects them")
    return ", ".join(parts)
