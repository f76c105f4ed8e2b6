"""HTML output: it needs Jinja2, which only the extra `report` installs."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from types import ModuleType
from typing import Final

from simulator.cli.failures import EnvironmentProblem
from simulator.reports.results import ScenarioResult

_LIBRARIES: Final = ("jinja2", "markupsafe")


def require_html() -> None:
    """Refuse HTML output where it cannot be made.

    Raises:
        EnvironmentProblem: Jinja2 is not installed.
    """
    _module("simulator.reports.page")


def replay_html(results: Sequence[ScenarioResult]) -> str:
    """Return the page of a replay.

    Raises:
        EnvironmentProblem: Jinja2 is not installed.
    """
    text: str = _module("simulator.reports.replay_page").replay_page(results)
    return text


def _module(name: str) -> ModuleType:
    """Import a module that needs the extra `report`."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name not in _LIBRARIES:
            raise
        reason = "-o html needs Jinja2, which is not installed: pip install 'rebind[report]'"
        raise EnvironmentProblem(reason) from error
