"""What `-w` prints: the present objects, and then a line for each change of one."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Generic, TypeVar

import click

from simulator.cli.object_tables import DELETED, Object
from simulator.cli.output import (
    JsonValue,
    OutputOptions,
    Table,
    aligned,
    emit,
    emit_plain,
    grid,
    shown_columns,
)
from simulator.protocol import control_services as methods
from simulator.protocol import rebind_control_pb2 as control
from simulator.wire.control_client import ControlClient

T = TypeVar("T")


class _Lines(Generic[T]):
    """Rows that come one after the other, in the columns of the first ones."""

    def __init__(self, table: Table[T], output: OutputOptions) -> None:
        self._table = table
        self._output = output
        self._widths: list[int] = []

    def write(self, rows: Sequence[T]) -> None:
        """Write rows; the line of headers stands above the first ones."""
        output = self._output
        if not rows:
            return
        if output.format in {"name", "csv"}:
            emit(self._table, rows, output)
        else:
            columns = shown_columns(self._table, (), wide=output.format == "wide")
            lines = grid(columns, rows, headers=output.headers)
            text, self._widths = aligned(lines, self._widths)
            click.echo("\n".join(text))
        self._output = replace(output, headers=False)


def show_objects(
    client: ControlClient,
    request: control.GetRequest,
    table: Table[T],
    rows_of: Callable[[Sequence[Object]], list[T]],
    output: OutputOptions,
) -> None:
    """Print the present objects of a kind."""
    found = [_object(each) for each in client.call(methods.GET, request).objects]
    if output.format in {"json", "yaml"}:
        one = bool(request.name) and len(found) == 1
        listed: Object = {"apiVersion": "v1", "kind": "List", "items": found}
        emit_plain(found[0] if one else listed, output)
    else:
        emit(table, rows_of(found), output)


def watch_objects(
    client: ControlClient,
    request: control.GetRequest,
    table: Table[T],
    rows_of: Callable[[Sequence[Object]], list[T]],
    output: OutputOptions,
) -> None:
    """Print the present objects of a kind, and each change of one until the server ends it."""
    first: list[Object] | None = []
    lines = _Lines(table, replace(output, sort_by=None))
    for event in client.stream(methods.WATCH, request):
        found = _object(event.object) if event.object else {}
        if output.format in {"json", "yaml"}:
            if found:
                click.echo(json.dumps({"type": event.type, "object": found}, ensure_ascii=False))
        elif event.type == "BOOKMARK":
            lines.write(rows_of(first or []))
            first = None
        elif first is not None:
            first.append(found)
        else:
            gone = {DELETED: True} if event.type == "DELETED" else {}
            lines.write(rows_of([{**found, **gone}]))


def _object(content: bytes) -> Object:
    document: JsonValue = json.loads(content)
    return document if isinstance(document, dict) else {}
