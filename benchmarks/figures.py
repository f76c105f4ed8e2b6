"""The table that `make bench` prints: figure, bar, measured, met or not."""

from __future__ import annotations

import os
import platform
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from rich.cells import cell_len

from benchmarks.bars import BARS, BARS_BY_KEY, Bar, Sense
from benchmarks.measuring.machine import processor

_DIGITS_BELOW = 100


@dataclass(frozen=True, slots=True)
class Figure:
    """A measurement.

    Attributes:
        value: In the unit of its bar.
        note: What it was made from, e.g. the two medians.
    """

    value: float
    note: str = ""


@dataclass(slots=True)
class FigureTable:
    """What was measured in this run, by the key of its bar."""

    figures: dict[str, Figure] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)

    def report(self, key: str, value: float, note: str = "") -> None:
        """Note a measurement; a key without a bar is a mistake.

        Raises:
            KeyError: There is no such bar.
        """
        self.figures[BARS_BY_KEY[key].key] = Figure(value, note)

    def report_missing(self, key: str, reason: str) -> None:
        """Note that a figure cannot be measured on this machine, and why."""
        self.missing[BARS_BY_KEY[key].key] = reason

    def unmet(self) -> list[str]:
        """Return the keys of the figures that miss their bar."""
        return [
            bar.key
            for bar in BARS
            if bar.key in self.figures and not bar.is_met(self.figures[bar.key].value)
        ]

    def rows(self) -> list[tuple[str, ...]]:
        """Return the table, its header first; rows that this run did not try are left out."""
        rows: list[tuple[str, ...]] = [("FIGURE", "BAR", "MEASURED", "MET", "FROM")]
        for bar in BARS:
            if bar.key in self.figures:
                rows.append(_row(bar, self.figures[bar.key]))
            elif bar.key in self.missing:
                rows.append((bar.what, _limit(bar), "-", "not measured", self.missing[bar.key]))
        return rows

    def lines(self) -> list[str]:
        """Return the table for a terminal."""
        rows = self.rows()
        widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
        return [
            "  ".join(
                cell + " " * (width - cell_len(cell))
                for cell, width in zip(row, widths, strict=True)
            ).rstrip()
            for row in rows
        ]


def machine() -> Mapping[str, str]:
    """Return what the figures were measured on, and when."""
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "processor": processor(),
        "cpus": str(os.cpu_count()),
        "load": f"{os.getloadavg()[0]:.1f}",
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "system": f"{platform.system()} {platform.release().partition('-')[0]}",
    }


def is_busy() -> bool:
    """Whether more wanted to run than there are CPUs; this process alone wants one."""
    return os.getloadavg()[0] > (os.cpu_count() or 1)


def _row(bar: Bar, figure: Figure) -> tuple[str, str, str, str, str]:
    return bar.what, _limit(bar), _number(figure.value, bar), _met(bar, figure), figure.note


def _limit(bar: Bar) -> str:
    if bar.sense is Sense.CONTEXT:
        return "context"
    return f"{bar.sense.value} {bar.limit:g} {bar.unit}".rstrip()


def _number(value: float, bar: Bar) -> str:
    text = f"{value:.3g}" if value < _DIGITS_BELOW else f"{value:.0f}"
    return f"{text} {bar.unit}".rstrip()


def _met(bar: Bar, figure: Figure) -> str:
    if bar.sense is Sense.CONTEXT:
        return ""
    return "met" if bar.is_met(figure.value) else "NOT MET"
