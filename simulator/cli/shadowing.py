"""Refuse to run when a foreign folder takes the place of one of our packages (details 10).

Names such as `store` and `plugins` are common. A foreign folder with an `__init__.py` that stands
earlier on the import path would be imported in place of ours, and the failure would be obscure.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import simulator
from simulator.cli.failures import EnvironmentProblem

PACKAGES: Final = ("simulator", "store", "migrations", "plugins", "scenarios", "benchmarks")


def refuse_foreign_packages(names: Iterable[str] = PACKAGES, *, home: Path | None = None) -> None:
    """Check that each package resolves beside `simulator`.

    Args:
        names: Packages to check.
        home: The folder that holds our packages; found from `simulator` itself when None.

    Raises:
        EnvironmentProblem: One resolves elsewhere; the message names the folder and the package.
    """
    home = home or Path(simulator.__file__).resolve().parent.parent
    for name in names:
        spec = find_spec(name)
        if spec is None or spec.origin is None:
            reason = f"Rebind's package `{name}` is missing from {home}; install Rebind again"
            raise EnvironmentProblem(reason)
        found = Path(spec.origin).resolve().parent
        if found != home / name:
            reason = (
                f"the folder {found} shadows Rebind's package `{name}` ({home / name}); "
                "rename it, or take it off the import path"
            )
            raise EnvironmentProblem(reason)
