"""Rows of the verdict table: expectations of the same thing for different combinations are one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from scenarios.loading.matrix import Combination, selects
from scenarios.schema.expect import KEYS, Expectation
from simulator.core.instants import format_duration

_LATE_KEYS: Final = frozenset({"plugin_calls", "calls", "unchanged", "same_devices"})


@dataclass(frozen=True, slots=True)
class TableRow:
    """One row of the table.

    Attributes:
        title: E.g. `after reboot within 5s: pod trainer`.
        keys: Fields that any of its expectations speaks of; all are observed in every column.
        meant: For each combination the expectation that is meant for it, if any.
        example: An expectation of the row, for what is only observed.
        late: Whether the row is judged once, at the deadline (`scenarios.running.judging`).
    """

    title: str
    keys: tuple[str, ...]
    meant: tuple[Expectation | None, ...]
    example: Expectation
    late: bool


def table_rows(
    expectations: Sequence[Expectation], runs: Sequence[Combination]
) -> tuple[list[TableRow], int]:
    """Return the rows of a table, and how many expectations none of the runs selects."""
    rows: list[TableRow] = []
    skipped = 0
    for expectation in expectations:
        meant = tuple(expectation if selects(expectation, run) else None for run in runs)
        if not any(meant):
            skipped += 1
            continue
        fresh = _row(expectation, meant)
        for index, row in enumerate(rows):
            if _same_thing(row, fresh):
                rows[index] = _merged(row, fresh)
                break
        else:
            rows.append(fresh)
    return rows, skipped


def _row(expectation: Expectation, meant: tuple[Expectation | None, ...]) -> TableRow:
    keys = _keys(expectation)
    counted = expectation.record is not None and expectation.record.count is not None
    late = counted or bool(expectation.show) or not _LATE_KEYS.isdisjoint(keys)
    return TableRow(_title(expectation), keys, meant, expectation, late)


def _keys(expectation: Expectation) -> tuple[str, ...]:
    subject = expectation.subject()
    fields = KEYS.get(subject, (subject,))
    return tuple(
        field
        for field in fields
        if getattr(expectation, field) is not None or field in expectation.shown()
    )


def _same_thing(row: TableRow, fresh: TableRow) -> bool:
    """Tell whether two rows speak of the same thing, and of different combinations."""
    if row.title != fresh.title or _match(row.example) != _match(fresh.example):
        return False
    return not any(one and other for one, other in zip(row.meant, fresh.meant, strict=True))


def _match(expectation: Expectation) -> object:
    """Return what a row looks for in the records, without what it expects of it."""
    if expectation.record is not None:
        return expectation.record.type, expectation.record.where
    if expectation.event is not None:
        return expectation.event.reason, expectation.event.pod
    return None


def _merged(row: TableRow, fresh: TableRow) -> TableRow:
    subject = row.example.subject()
    both = {*row.keys, *fresh.keys}
    keys = tuple(field for field in KEYS.get(subject, (subject,)) if field in both)
    meant = tuple(one or other for one, other in zip(row.meant, fresh.meant, strict=True))
    return TableRow(row.title, keys, meant, row.example, row.late or fresh.late)


def _title(expectation: Expectation) -> str:
    if expectation.always:
        when = "always"
    elif expectation.at is not None:
        when = f"at {format_duration(expectation.at)}"
    else:
        when = f"after {expectation.after}"
    if expectation.within:
        when += f" within {format_duration(expectation.within)}"
    return f"{when}: {_subject(expectation)}"


def _subject(expectation: Expectation) -> str:
    match expectation.subject():
        case "pod":
            return f"pod {expectation.pod}"
        case "plugin":
            return f"plugin {expectation.plugin}"
        case "node":
            of_node = f"of {expectation.node}" if expectation.node else ""
            names = [expectation.alias(field) for field in _keys(expectation)]
            return " ".join([", ".join(names), of_node]).strip()
        case "record" if expectation.record is not None:
            return f"record {expectation.record.type}"
        case "event" if expectation.event is not None:
            pod = f" of {expectation.event.pod}" if expectation.event.pod else ""
            return f"event {expectation.event.reason}{pod}"
        case subject:
            return subject
