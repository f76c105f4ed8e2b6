"""Collects the figures of a run and prints their table at its end."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.figure_page import as_markdown
from benchmarks.figures import FigureTable, is_busy, machine

_TABLE = pytest.StashKey[FigureTable]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Take the name of a file for the table."""
    parser.addoption("--table", type=Path, help="write the table of figures, as Markdown")


def pytest_configure(config: pytest.Config) -> None:
    """Begin with an empty table."""
    config.stash[_TABLE] = FigureTable()


@pytest.fixture(scope="session")
def figures(request: pytest.FixtureRequest) -> FigureTable:
    """Return the table of this run."""
    return request.config.stash[_TABLE]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the table, the machine, and which bars were missed."""
    table = terminalreporter.config.stash[_TABLE]
    terminalreporter.section("figures")
    for line in table.lines():
        terminalreporter.write_line(line)
    described = ", ".join(f"{name} {value}" for name, value in machine().items())
    terminalreporter.write_line(f"\nmeasured on: {described}")
    terminalreporter.write_line(f"bars missed: {', '.join(table.unmet()) or 'none'}")
    busy = is_busy()
    if busy:
        terminalreporter.write_line("others used this machine too: measure again when it is quiet")
    path: Path | None = terminalreporter.config.getoption("table")
    if path is not None:
        text = as_markdown(table.rows(), machine=machine(), missed=table.unmet(), busy=busy)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        terminalreporter.write_line(
            f"written to {path}; `make bench-page` puts it in BENCHMARKS.md"
        )
