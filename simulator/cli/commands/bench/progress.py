"""The progress line of a run, on stderr where that is a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import click
from rich.cells import set_cell_size

from benchmarks.results.progress import Progress, progress_line
from simulator.cli import terminal
from simulator.reports.text import printable

_PERIOD: Final = 2.0
"""Seconds between two lines."""
_CLEAR: Final = "\r\x1b[K"


class ProgressLine:
    """One line that is written over; a run may tell its progress as often as it likes."""

    def __init__(self) -> None:
        self._is_shown = sys.stderr.isatty()
        self._next = 0.0

    def show(self, progress: Progress) -> None:
        """Show where the run is, every few seconds."""
        now = time.monotonic()
        if not self._is_shown or now < self._next:
            return
        self._next = now + _PERIOD
        line = printable(progress_line(progress))
        width = terminal.error_width() - 1
        click.echo(f"{_CLEAR}{set_cell_size(line, width).rstrip()}", nl=False, err=True)

    def clear(self) -> None:
        """Leave nothing behind."""
        if self._is_shown and self._next:
            click.echo(_CLEAR, nl=False, err=True)


@contextmanager
def progress_shown() -> Iterator[ProgressLine]:
    """Give a line that is gone at the end."""
    line = ProgressLine()
    try:
        yield line
    finally:
        line.clear()
