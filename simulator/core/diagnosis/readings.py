"""What a pasted text may say: without quotes, escapes and line breaks of where it was taken from.

A break is a space in YAML and in prose. A terminal breaks at its last column instead, also inside
words, and leaves no space there; which of the two it was, only the words can tell.
"""

from __future__ import annotations

import textwrap
from typing import Final

TEXT_SIZE_MAX: Final = 64 * 1024
"""Longest text of which more than the beginning is looked at."""

_QUOTES: Final = str.maketrans("\u201c\u201d\u2018\u2019", "\"\"''")
_LABELS: Final = ("Message: ", "message: ")


def readings(text: str) -> tuple[str, ...]:
    """Return what a text may say, each on one line, the likeliest first."""
    lines = text[:TEXT_SIZE_MAX].splitlines()
    first = _plain(" ".join(line.removesuffix("\\") for line in lines))
    if len([line for line in lines if line.strip()]) < 2:  # noqa: PLR2004 - a break needs two
        return (first,)
    others = (_plain(_unwrapped(lines, full)) for full in (True, False))
    return tuple(dict.fromkeys((first, *others)))


def _unwrapped(lines: list[str], first_is_full: bool) -> str:  # noqa: FBT001 - only used above
    """Join the lines of a terminal: a line that is not full has lost a space at its end."""
    head, rest = lines[0], textwrap.dedent("\n".join(lines[1:])).splitlines()
    width = max(map(len, rest[:-1]), default=0) or len(head)
    parts = [head, "" if first_is_full else " "]
    for line in rest:
        parts += [line, "" if len(line) >= width else " "]
    return "".join(parts)


def _plain(text: str) -> str:
    """Undo the quoting of logs and YAML, and collapse blanks."""
    line = " ".join(text.replace('\\"', '"').translate(_QUOTES).replace("''", "'").split())
    for label in _LABELS:
        line = line.removeprefix(label)
    return line
