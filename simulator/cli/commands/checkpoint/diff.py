"""What `rebind checkpoint diff` prints."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from simulator.cli.checkpoint_texts import (
    NOTHING,
    devices_text,
    listed,
    response_texts,
)
from simulator.cli.output import Column, OutputOptions, Table, emit
from simulator.core.checkpoint.differences import Differences, EntryDifference
from simulator.core.checkpoint.values import CheckpointEntry


@dataclass(frozen=True, slots=True)
class _Row:
    """One difference; `before` or `after` is empty where that file says nothing."""

    what: str
    before: str
    after: str
    pod: str = NOTHING
    container: str = NOTHING
    resource: str = NOTHING

    @property
    def change(self) -> str:
        if not self.before:
            return "added"
        return "changed" if self.after else "removed"


_TABLE: Final[Table[_Row]] = Table(
    kind="CheckpointDifference",
    columns=(
        Column("CHANGE", lambda row: row.change),
        Column("WHAT", lambda row: row.what),
        Column("POD", lambda row: row.pod),
        Column("CONTAINER", lambda row: row.container),
        Column("RESOURCE", lambda row: row.resource),
        Column("BEFORE", lambda row: row.before or NOTHING),
        Column("AFTER", lambda row: row.after or NOTHING),
    ),
    name=lambda row: f"{row.what}/{row.pod}/{row.container}/{row.resource}",
    document=lambda row: {
        "change": row.change,
        "what": row.what,
        "pod": row.pod,
        "container": row.container,
        "resource": row.resource,
        "before": row.before,
        "after": row.after,
    },
    nothing="no differences",
)


def show_differences(found: Differences, output: OutputOptions) -> None:
    """Print one row for each difference."""
    emit(_TABLE, list(_rows(found)), output)


def _rows(found: Differences) -> Iterator[_Row]:
    if found.formats is not None:
        yield _Row("format", found.formats[0].value, found.formats[1].value)
    for difference in found.entries:
        yield from _entry_rows(difference)
    for each in found.registered:
        before, after = (
            "" if ids is None else listed(ids, short=False) for ids in (each.before, each.after)
        )
        yield _Row("registered", before, after, resource=each.resource)


def _entry_rows(difference: EntryDifference) -> Iterator[_Row]:
    """Tell devices and response apart, unless only one file has the entry."""

    def row(what: str, text: Callable[[CheckpointEntry], str]) -> _Row:
        before, after = (
            "" if entry is None else text(entry) for entry in (difference.before, difference.after)
        )
        return _Row(what, before, after, difference.pod, difference.container, difference.resource)

    if difference.before is None or difference.after is None:
        yield row("entry", _devices)
    if difference.devices_differ:
        yield row("devices", _devices)
    if difference.response_differs:
        yield row("response", _response)


def _devices(entry: CheckpointEntry) -> str:
    return devices_text(entry.devices, short=False)


def _response(entry: CheckpointEntry) -> str:
    texts = response_texts(entry.response, short=False)
    return " ".join(f"{name}={text}" for name, text in texts.items() if text != NOTHING) or NOTHING
