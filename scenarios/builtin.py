"""The scenarios that come with Rebind: `scenarios/library/NAME.yaml`, one in each file."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Final

from simulator.errors import ScenarioError

LIBRARY: Final = Path(__file__).parent / "library"
_SUFFIXES: Final = (".yaml", ".yml", ".json")


def builtin_names() -> tuple[str, ...]:
    """Return the names of the built-in scenarios, sorted."""
    return tuple(sorted(path.stem for path in LIBRARY.glob("*.yaml")))


def find_file(name: str) -> Path:
    """Return the file that `NAME|FILE` on the command line means.

    What has a folder or a suffix of a scenario file in it is a file; anything else is the name of a
    built-in scenario.

    Raises:
        ScenarioError: There is no such built-in scenario.
    """
    if "/" in name or name.endswith(_SUFFIXES):
        return Path(name)
    names = builtin_names()
    if name not in names:
        close = difflib.get_close_matches(name[:60], names, n=1)
        meant = f'; did you mean "{close[0]}"?' if close else ";"
        reason = (
            f'there is no built-in scenario "{name[:60]}"{meant} `rebind scenario list` shows all'
        )
        raise ScenarioError(reason)
    return LIBRARY / f"{name}.yaml"
