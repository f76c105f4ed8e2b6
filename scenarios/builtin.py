"""The scenarios that come with Rebind: `scenarios/library/NAME.yaml`, one in each file."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from scenarios.files.library import Library
from simulator.errors import ScenarioError

_LIBRARY: Final = Library(
    Path(__file__).parent / "library", "built-in scenario", "rebind scenario list", ScenarioError
)


def builtin_names() -> tuple[str, ...]:
    """Return the names of the built-in scenarios, sorted."""
    return _LIBRARY.names()


def find_file(name: str) -> Path:
    """Return the file that `NAME|FILE` on the command line means.

    Raises:
        ScenarioError: There is no such built-in scenario.
    """
    return _LIBRARY.find(name)
