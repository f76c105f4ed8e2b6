"""Two plain sentences about a result: what differs, and what cannot differ.

They are made from what was observed, so they cannot say more than the runs have shown.
"""

from __future__ import annotations

from collections.abc import Sequence

from simulator.reports.results import Row, ScenarioResult, Verdict

_NAMED_MAX = 3


def sentences(result: ScenarioResult) -> tuple[str, str]:
    """Return what differs between the persistences, and what cannot."""
    rows = [row for row in result.rows if any(cell.facts or cell.problem for cell in row.cells)]
    by_persistence = [row for row in rows if row.differs(result.columns, "persistence")]
    same = [row for row in rows if row not in by_persistence]
    names = list(dict.fromkeys(column.persistence for column in result.columns))
    return (
        _what_differs(rows, by_persistence, names),
        _what_cannot(result, same, names),
    )


def _what_differs(rows: Sequence[Row], differing: Sequence[Row], names: Sequence[str]) -> str:
    if len(names) == 1:
        return f"Only the persistence {names[0]} was run, so there is nothing to compare it with."
    if not differing:
        which = "the one outcome" if len(rows) == 1 else f"any of the {len(rows)} outcomes"
        return f"{_listed(names)} do not differ in {which}."
    verb = "differs" if len(differing) == 1 else "differ"
    return (
        f"{len(differing)} of {_outcomes(len(rows))} {verb} between {_listed(names)}: "
        f"{_titles(differing)}."
    )


def _what_cannot(result: ScenarioResult, same: Sequence[Row], names: Sequence[str]) -> str:
    if not same:
        return "Nothing was left to the kubelet's decision alone."
    if len(names) == 1:
        start = "What is seen follows from the decision of the kubelet"
    else:
        some = len(same) < len(result.rows)
        other = "outcome" if len(same) == 1 else _outcomes(len(same))
        which = f"The other {other}" if some else "They"
        start = (
            f"{which} cannot differ: there the kubelet of one version takes the same decision, "
            "wherever its records are kept"
        )
    by_version = [row for row in same if row.differs(result.columns, "version")]
    if len({column.version for column in result.columns}) == 1:
        return f"{start}."
    if not by_version:
        return f"{start}, and so do the other versions."
    verb = "changes" if len(by_version) == 1 else "change"
    return f"{start}; {_titles(by_version)} {verb} with the version."


def _listed(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"


def _titles(rows: Sequence[Row]) -> str:
    titles = [f'"{row.title}"' for row in rows[:_NAMED_MAX]]
    more = len(rows) - _NAMED_MAX
    return ", ".join([*titles, f"{more} more"] if more > 0 else titles)


def _outcomes(number: int) -> str:
    return f"{number} outcome{'' if number == 1 else 's'}"


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
        f"{len(results)} scenario{'s' if len(results) != 1 else ''}",
        f"{runs} run{'s' if runs != 1 else ''}",
        f"{held} expectations held",
        f"{broken} broken",
    ]
    if seen:
        parts.append(f"{seen} only observed")
    if skipped:
        parts.append(f"{skipped} skipped: no combination selects them")
    return ", ".join(parts)
