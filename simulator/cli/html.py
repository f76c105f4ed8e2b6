"""`-o html`: pages need Jinja2, which only the extra `report` installs."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from types import ModuleType
from typing import Final

import click

from benchmarks.results.rows import Result
from simulator.cli.failures import EnvironmentProblem
from simulator.core.transitions import NodeBooted
from simulator.ports import Change, Holding, StoreReader
from simulator.reports.results import ScenarioResult

_LIBRARIES: Final = ("jinja2", "markupsafe")


def require_html() -> None:
    """Refuse HTML output where it cannot be made.

    Raises:
        EnvironmentProblem: Jinja2 is not installed.
    """
    _module("simulator.reports.pages.page")


def replay_html(results: Sequence[ScenarioResult]) -> str:
    """Return the page of a replay.

    Raises:
        EnvironmentProblem: Jinja2 is not installed.
    """
    text: str = _module("simulator.reports.pages.replay_page").replay_page(results)
    return text


def benchmark_html(results: Sequence[Result]) -> str:
    """Return the page of benchmark runs.

    Raises:
        EnvironmentProblem: Jinja2 is not installed.
    """
    text: str = _module("benchmarks.results.page").benchmark_page(results)
    return text


def emit_holdings(
    heading: str, nothing: str, holdings: Sequence[Holding], changes: Sequence[Change]
) -> None:
    """Write the page that shows who held what over time to stdout.

    Args:
        heading: What was asked.
        nothing: What the page says when nothing is known.
        holdings: In order.
        changes: What the history says of them.

    Raises:
        EnvironmentProblem: Jinja2 is not installed.
    """
    module = _module("simulator.reports.pages.holdings_page")
    click.echo(module.holdings_page(heading, nothing, holdings, changes), nl=False)


def changes_of(store: StoreReader, holdings: Sequence[Holding]) -> list[Change]:
    """Return the changes that began or ended the holdings, and the boots of their nodes."""
    revisions = {holding.since_revision for holding in holdings}
    revisions |= {
        holding.until_revision for holding in holdings if holding.until_revision is not None
    }
    found = [
        change
        for node in dict.fromkeys(holding.node for holding in holdings)
        for change in store.history(node=node)
        if change.revision in revisions or change.kind == NodeBooted.__name__
    ]
    return sorted(found, key=lambda change: change.revision)


def _module(name: str) -> ModuleType:
    """Import a module that needs the extra `report`."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name not in _LIBRARIES:
            raise
        reason = "-o html needs Jinja2, which is not installed: pip install 'rebind[report]'"
        raise EnvironmentProblem(reason) from error
