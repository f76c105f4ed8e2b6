"""Text for people's terminals."""

from __future__ import annotations


def printable(text: str) -> str:
    """Return `text` with control characters escaped: ids from outside may hold any."""
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else repr(character)[1:-1] for character in text
    )
