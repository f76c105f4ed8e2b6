"""Refuse to run when a foreign folder takes the place of one of our packages (details 10)."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from simulator.cli.failures import EnvironmentProblem
from simulator.shadowing import PACKAGES, foreign_package


def refuse_foreign_packages(names: Iterable[str] = PACKAGES, *, home: Path | None = None) -> None:
    """Check that each package resolves beside `simulator`.

    Args:
        names: Packages to check.
        home: The folder that holds our packages; found from `simulator` itself when None.

    Raises:
        EnvironmentProblem: One resolves elsewhere; the message names the folder and the package.
    """
    if reason := foreign_package(names, home=home):
        raise EnvironmentProblem(reason)
