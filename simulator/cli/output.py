"""What goes to stdout: tables and documents, in the form that `-o` asks for.

A command describes its rows once, as a `Table`, and `emit` writes them as `table`, `wide`, `json`,
`yaml`, `name` or `csv`. stdout is data only; what is not data, such as "nothing to show", goes to
stderr (conventions §2).
"""

from __future__ import annotations

import csv
import difflib
import functools
import io
import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Final, Generic, TypeAlias, TypeVar

import click
import yaml
from rich.cells import cell_len, chop_cells

from simulator.cli import terminal
from simulator.config import API_VERSION
from simulator.reports.text import printable

T = TypeVar("T")
JsonValue: TypeAlias = (
    "str | int | float | bool | Sequence[JsonValue] | Mapping[str, JsonValue] | None"
)

FORMATS: Final = ("table", "wide", "json", "yaml", "name", "csv")
_GAP: Final = 3
_NOTHING: Final = "-"
_FOLDED_MIN: Final = 7
"""Narrowest column that is folded; a patch version fits."""
_LAST_MIN: Final = 24
"""What is left to the last column, which may be a sentence, before others give way too."""
_BREAKS: Final = (
    re.compile(r"(?<=[/,])(?=[^/,])|(?<=[a-z])(?=[A-Z])"),
    re.compile(r"(?<=[:.-])(?=[^:.-])"),
)
"""Where names are cut, the better places first: `example.com/gpu`, `gpu-0,gpu-1`, `AdmissionError`;
then a domain, a UUID."""


@dataclass(frozen=True, slots=True)
class Column(Generic[T]):
    """One column of a table.

    Attributes:
        header: Upper case, e.g. `NODE`.
        value: The cell of a row; numbers stay numbers, so that they sort as such.
        wide: Whether the column is shown only with `-o wide` (and in `csv`).
        short: The cell in `-o table`, where a shorter text does; None for the same.
        if_any: Whether `-o table` leaves the column out while every cell is `-`.
    """

    header: str
    value: Callable[[T], str | int | float]
    wide: bool = False
    short: Callable[[T], str | int | float] | None = None
    if_any: bool = False


@dataclass(frozen=True, slots=True)
class Table(Generic[T]):
    """How rows of one kind are shown.

    Attributes:
        kind: The kind of one row in `json` and `yaml`, e.g. `Device`.
        columns: In order.
        name: What `-o name` prints for a row, e.g. `device/n0/gpu-1`.
        document: A row as a document with camelCase keys.
        nothing: What stderr says when there are no rows, e.g. `no devices`.
    """

    kind: str
    columns: tuple[Column[T], ...]
    name: Callable[[T], str]
    document: Callable[[T], Mapping[str, JsonValue]]
    nothing: str


@dataclass(frozen=True, slots=True)
class OutputOptions:
    """What `output_options` reads from the command line.

    Attributes:
        format: One of the command's formats.
        headers: Whether tables have their line of headers.
        sort_by: Header of the column to sort by; None for the command's own order.
    """

    format: str
    headers: bool = True
    sort_by: str | None = None


def output_options(
    *formats: str, default: str = "table", tabular: bool = True
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add `-o`, `--no-headers` and `--sort-by` to a command, which gets them as `output`.

    Args:
        formats: The formats that the command offers; all of `FORMATS` when none is named.
        default: The format without `-o`.
        tabular: Whether tables are among them, so that `--no-headers` and `--sort-by` have a sense.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def with_output(
            *args: object,
            output: str,
            no_headers: bool = False,
            sort_by: str | None = None,
            **options: object,
        ) -> None:
            chosen = OutputOptions(format=output, headers=not no_headers, sort_by=sort_by)
            command(*args, output=chosen, **options)

        choice = click.Choice(formats or FORMATS)
        if tabular:
            click.option("--sort-by", metavar="HEADER", help="Sort by this column.")(with_output)
            click.option("--no-headers", is_flag=True, help="Leave the line of headers out.")(
                with_output
            )
        click.option(
            "-o",
            "--output",
            type=choice,
            default=default,
            show_default=True,
            help="Form of what is printed.",
        )(with_output)
        return with_output

    return decorate


def emit(table: Table[T], rows: Sequence[T], output: OutputOptions) -> None:
    """Write rows to stdout; when there are none, say so on stderr.

    Raises:
        click.UsageError: `--sort-by` names no column.
    """
    rows = _sorted(table, rows, output.sort_by)
    if output.format in {"json", "yaml"}:
        items: list[JsonValue] = [{"kind": table.kind, **table.document(row)} for row in rows]
        emit_document(f"{table.kind}List", {"items": items}, output)
        return
    if not rows:
        click.echo(printable(table.nothing), err=True)
        return
    if output.format == "name":
        lines = [printable(table.name(row)) for row in rows]
    else:
        columns = shown_columns(table, rows, wide=output.format != "table")
        cells = grid(columns, rows, headers=output.headers)
        lines = _csv_lines(cells) if output.format == "csv" else aligned(cells)[0]
    click.echo("\n".join(lines))


def grid(
    columns: Sequence[Column[T]], rows: Sequence[T], *, headers: bool
) -> list[list[str | int | float]]:
    """Return the cells of rows, below their headers if those are wanted."""
    cells: list[list[str | int | float]] = []
    if headers:
        cells.append([column.header for column in columns])
    return cells + [[column.value(row) for column in columns] for row in rows]


def shown_columns(table: Table[T], rows: Sequence[T], *, wide: bool) -> Sequence[Column[T]]:
    """Return the columns that are shown, all if `wide`."""
    if wide:
        return table.columns
    short = [replace(column, value=column.short or column.value) for column in table.columns]
    return [
        column
        for column in short
        if not column.wide
        and not (column.if_any and all(column.value(row) == _NOTHING for row in rows))
    ]


def emit_document(kind: str, body: Mapping[str, JsonValue], output: OutputOptions) -> None:
    """Write one document of the given kind to stdout, as `yaml` if asked for, else as `json`."""
    emit_plain({"apiVersion": API_VERSION, "kind": kind, **body}, output)


def emit_plain(document: Mapping[str, JsonValue], output: OutputOptions) -> None:
    """Write a document as it is to stdout, as `yaml` if asked for, else as `json`."""
    if output.format == "yaml":
        plain = json.loads(json.dumps(document))
        click.echo(yaml.safe_dump(plain, sort_keys=False, allow_unicode=True), nl=False)
    else:
        click.echo(json.dumps(document, indent=2, ensure_ascii=False))


def _sorted(table: Table[T], rows: Sequence[T], sort_by: str | None) -> Sequence[T]:
    if sort_by is None:
        return rows
    wanted = sort_by.upper()
    columns = {column.header: column for column in table.columns}
    if wanted not in columns:
        near = difflib.get_close_matches(wanted, columns, n=1)
        hint = f"did you mean {near[0]}?" if near else f"columns are {', '.join(columns)}"
        reason = f"--sort-by {sort_by} names no column; {hint}"
        raise click.UsageError(reason, click.get_current_context())
    value = columns[wanted].value
    # A column may hold numbers in some rows and text such as `-` in others: numbers come first.
    return sorted(
        rows, key=lambda row: (isinstance(cell := value(row), str), cell if cell != "" else "")
    )


def aligned(
    lines: Sequence[Sequence[str | int | float]], least: Sequence[int] = (), *, indent: int = 0
) -> tuple[list[str], list[int]]:
    """Return the cells in columns; on a terminal, cells fold where the columns are too wide.

    Args:
        lines: The cells.
        least: Widths that the columns have at least, as those of lines before.
        indent: Spaces before every line.

    Returns:
        The lines, and the widths of the columns.
    """
    texts = [[printable(str(cell)) or "<none>" for cell in line] for line in lines]
    wanted = [max(map(cell_len, column)) for column in zip(*texts, strict=True)]
    if least:
        wanted = [max(pair) for pair in zip(wanted, least, strict=True)]
    floors = [max(map(_longest_piece, column)) for column in zip(*texts, strict=True)]
    widths, gap = _widths(wanted, floors, indent)
    found = []
    for line in texts:
        folded = [_folded(cell, width) for cell, width in zip(line, widths, strict=True)]
        for parts in zip_longest(*folded, fillvalue=""):
            padded = [
                part + " " * (width - cell_len(part))
                for part, width in zip(parts, widths, strict=True)
            ]
            found.append(f"{' ' * indent}{(' ' * gap).join(padded)}".rstrip())
    return found, widths


def _widths(wanted: list[int], floors: Sequence[int], indent: int) -> tuple[list[int], int]:
    """Return the widths of columns and of the gaps between them.

    What goes to no terminal keeps its lines whole, since programs read them. On a terminal that is
    too narrow the gaps give way, then the last column, then the widest ones, down to their longest
    piece; words are cut only where nothing else is left.
    """
    if not sys.stdout.isatty():
        return wanted, _GAP
    room, gaps = terminal.width() - indent, len(wanted) - 1
    widths, gap = wanted, _GAP
    while sum(widths) + gap * gaps > room and gap > 1:
        gap -= 1
        widths = _narrowed(wanted, floors, room - gap * gaps)
    return _narrowed(widths, [_FOLDED_MIN] * len(widths), room - gap * gaps), gap


def _narrowed(wanted: Sequence[int], floors: Sequence[int], room: int) -> list[int]:
    """Return widths that fit into some room, if none has to be narrower than its floor for it."""
    widths = list(wanted)
    widths[-1] = min(widths[-1], max(room - sum(widths[:-1]), _LAST_MIN, floors[-1]))
    while sum(widths) > room:
        above = [at for at, width in enumerate(widths) if width > floors[at]]
        if not above:
            break
        widths[max(reversed(above), key=widths.__getitem__)] -= 1
    return widths


def _longest_piece(cell: str) -> int:
    pieces: list[str] = cell.split(" ")
    for places in _BREAKS:
        pieces = [part for piece in pieces for part in places.split(piece)]
    return max(map(cell_len, pieces))


def _folded(cell: str, width: int) -> list[str]:
    """Return a cell in lines: between words if that does, else also within names, or anywhere."""
    lines = [""]
    for word in cell.split(" "):
        line = f"{lines[-1]} {word}" if lines[-1] else word
        if cell_len(line) <= width:
            lines[-1] = line
        elif cell_len(word) <= width:
            lines.append(word)
        else:
            lines += _cut(word, width)
    return [line for line in lines if line] or [""]


def _cut(word: str, width: int, breaks: Sequence[re.Pattern[str]] = _BREAKS) -> list[str]:
    """Return a word in lines, cut in the best places that do."""
    if not breaks:
        return chop_cells(word, width)
    lines = [""]
    for piece in breaks[0].split(word):
        if cell_len(lines[-1] + piece) <= width:
            lines[-1] += piece
        else:
            lines += _cut(piece, width, breaks[1:])
    return lines


def _csv_lines(lines: Sequence[Sequence[str | int | float]]) -> list[str]:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(
        [[printable(cell) if isinstance(cell, str) else cell for cell in line] for line in lines]
    )
    return text.getvalue().splitlines()
