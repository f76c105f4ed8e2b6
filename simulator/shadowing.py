"""Find a foreign folder that takes the place of one of our packages (details 10).

Names such as `store` and `plugins` are common. A foreign folder with an `__init__.py` that stands
earlier on the import path would be imported in place of ours, and the failure would be obscure.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import simulator

PACKAGES: Final = ("simulator", "store", "migrations", "plugins", "scenarios", "benchmarks")


def foreign_package(names: Iterable[str] = PACKAGES, *, home: Path | None = None) -> str:
    """Return which folder stands in the place of which package; empty when none does.

    Args:
        names: Packages to check.
        home: The folder that holds our packages; found from `simulator` itself when None.
    """
    home = home or Path(simulator.__file__).resolve().parent.parent
    for name in names:
        spec = find_spec(name)
        if spec is None or spec.origin is None:
            return f"Rebind's package `{name}` is missing from {home}; install Rebind again"
        found = Path(spec.origin).resolve().parent
        if found != home / name:
            return (
                f"the folder {found} shadows Rebind's package `{name}` ({home / name}); "
                "rename it, or take it off the import path"
            )
    return ""
