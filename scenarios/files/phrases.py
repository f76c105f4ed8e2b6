"""How errors name what was found and what is allowed."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence


def found(value: object) -> str:
    """Say in words what was found in place of something else."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return f"{str(value).lower()}"
    if isinstance(value, int | float):
        return f"the number {value}"
    if isinstance(value, str):
        return f'"{value[:60]}"'
    return "a list" if isinstance(value, list) else "a map"


def some_of(names: Sequence[str], most: int = 6) -> str:
    """Return names in one line, and of a long list how many more there are."""
    more = len(names) - most
    return ", ".join(names) if more <= 0 else f"{', '.join(names[:most])} and {more} more"


def nearest(name: str, allowed: Iterable[str]) -> str:
    """Return the end of a sentence that names the nearest valid name and all that are allowed."""
    names, shown = list(allowed), name[:80]
    close = difflib.get_close_matches(shown, names, n=1) or [
        one for one in names if shown and one.startswith(shown)
    ]
    meant = f'; did you mean "{close[0]}"? Allowed' if close else "; allowed"
    return f"{meant}: {', '.join(names) or 'nothing'}"
