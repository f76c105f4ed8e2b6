"""Collects the figures of a run and prints their table at its end."""

from __future__ import annotations

import pytest

from benchmarks.figures import FigureTable, is_busy, machine

_TABLE = pytest.StashKey[FigureTable]()


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
    if is_busy():
        terminalreporter.write_line("others used this machine too: measure again when it is quiet")
