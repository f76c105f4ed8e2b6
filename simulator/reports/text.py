"""Text for people's terminals."""

from __future__ import annotations


def counted(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun, in the plural where that is right: `1 pod`, `2 pods`."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def printable(text: str) -> str:
    """Return `text` with control characters escaped: ids from outside may hold any."""
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else repr(character)[1:-1] for character in text
    )
