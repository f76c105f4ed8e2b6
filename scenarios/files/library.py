"""Files that come with Rebind, one document in each, and how the command line names them."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from simulator.errors import InputError

_SUFFIXES: Final = (".yaml", ".yml", ".json")


@dataclass(frozen=True, slots=True)
class Library:
    """A folder of files `NAME.yaml`.

    Attributes:
        noun: What one of them is, e.g. `built-in scenario`.
        shown_by: The command that lists them.
        error: What is raised about a name.
    """

    folder: Path
    noun: str
    shown_by: str
    error: type[InputError]

    def names(self) -> tuple[str, ...]:
        """Return all names, sorted."""
        return tuple(sorted(path.stem for path in self.folder.glob("*.yaml")))

    def find(self, name: str) -> Path:
        """Return the file that `NAME|FILE` on the command line means.

        What has a folder or a suffix in it is a file; anything else is a name of this library.

        Raises:
            InputError: There is no such name.
        """
        if "/" in name or name.endswith(_SUFFIXES):
            return Path(name)
        names = self.names()
        if name not in names:
            close = difflib.get_close_matches(name[:60], names, n=1)
            meant = f'; did you mean "{close[0]}"?' if close else ";"
            reason = f'there is no {self.noun} "{name[:60]}"{meant} `{self.shown_by}` shows all'
            raise self.error(reason)
        return self.folder / f"{name}.yaml"
