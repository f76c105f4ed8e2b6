"""Prose for a terminal: paragraphs beside their labels, wrapped to its width."""

from __future__ import annotations

import os
import shutil
import textwrap
from collections.abc import Iterable, Iterator
from typing import Final

import click

from simulator.reports.text import printable

WIDTH_MAX: Final = 100
"""Widest text, also where the output is no terminal."""
_WIDTH_MIN: Final = 40
_STDIN: Final = 0
_STDERR: Final = 2
_LABEL_WIDTH: Final = 10
_ITEM_INDENT: Final = 2
_RESULT_WIDTH: Final = 9


def width() -> int:
    """Return how wide prose is to be."""
    columns = shutil.get_terminal_size((0, 0)).columns or _columns_of_others() or WIDTH_MAX
    return max(_WIDTH_MIN, min(WIDTH_MAX, columns))


def _columns_of_others() -> int:
    """Return the width of the terminal that a pager or filter behind stdout shows it on, if any."""
    for descriptor in (_STDERR, _STDIN):
        try:
            return os.get_terminal_size(descriptor).columns
        except OSError:
            continue
    return 0


def show_block(label: str, paragraphs: Iterable[str], *, hang: int = 0) -> None:
    """Print paragraphs beside a label; nothing when there are none.

    Args:
        label: Upper case, at most nine characters.
        paragraphs: Each begins on a new line.
        hang: By how many columns the further lines of a paragraph are indented.
    """
    mark = label
    for paragraph in paragraphs:
        for line in _lines(paragraph, hang):
            click.echo(f"{mark:<{_LABEL_WIDTH}}{line}".rstrip())
            mark = ""


def show_indented(text: str, indent: int = 2) -> None:
    """Print one wrapped paragraph."""
    for line in textwrap.wrap(printable(text), width() - indent, break_on_hyphens=False):
        click.echo(f"{' ' * indent}{line}")


def show_check(result: str, subject: str, seen: str, advice: str) -> None:
    """Print how something stands, and below it what to do."""
    mark = f"{result:<{_RESULT_WIDTH}}"
    for line in textwrap.wrap(
        printable(f"{subject}: {seen}"), width() - _RESULT_WIDTH, break_on_hyphens=False
    ):
        click.echo(f"{mark}{line}")
        mark = " " * _RESULT_WIDTH
    if advice:
        mark = f"{mark}→ "
        for line in textwrap.wrap(printable(advice), width() - len(mark), break_on_hyphens=False):
            click.echo(f"{mark}{line}")
            mark = " " * len(mark)


def show_item(text: str) -> None:
    """Print one wrapped item of a list."""
    lines = textwrap.wrap(printable(text), width() - _ITEM_INDENT, break_on_hyphens=False)
    for number, line in enumerate(lines):
        click.echo(f"{'  ' if number else '- '}{line}")


def show_row(name: str, value: str, name_width: int) -> None:
    """Print a value beside its name, its further lines below its first."""
    mark = f"{name:<{name_width}}   "
    for line in textwrap.wrap(
        printable(value), max(width() - len(mark), _LABEL_WIDTH), break_on_hyphens=False
    ) or [""]:
        click.echo(f"{mark}{line}".rstrip())
        mark = " " * len(mark)


def _lines(paragraph: str, hang: int) -> Iterator[str]:
    yield from textwrap.wrap(
        printable(paragraph),
        width() - _LABEL_WIDTH,
        subsequent_indent=" " * hang,
        break_on_hyphens=False,
    )
