"""Text for people's terminals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

_ALPHABET: Final = 26
_NAMED_MAX: Final = 5


def printable(text: str) -> str:
    """Return `text` with control characters escaped: ids from outside may hold any."""
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else repr(character)[1:-1] for character in text
    )


def letter(index: int) -> str:
    """Return the mark of a note: a, b, ... z, aa, bb, ..."""
    round_, place = divmod(index, _ALPHABET)
    return chr(ord("a") + place) * (round_ + 1)


def named(names: Sequence[str]) -> str:
    """Return names for one line: the first few, and how many more there are."""
    more = len(names) - _NAMED_MAX
    return ", ".join(names[:_NAMED_MAX]) + (f" and {more} more" if more > 0 else "")
