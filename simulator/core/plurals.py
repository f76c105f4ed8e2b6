"""Numbers with their nouns, for every text that counts."""

from __future__ import annotations


def counted(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun: `1 pod`, `2 pods`; `many` if that is not `one` and s."""
    return f"{number} {one if number == 1 else many or one + 's'}"
