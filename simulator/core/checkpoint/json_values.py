"""JSON values as the codec sees them: duplicates kept, numbers as written."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, TypeAlias

NESTING_MAX: Final = 10_000
"""Arrays and objects inside each other that Go's reader accepts (maxNestingDepth)."""


@dataclass(frozen=True, slots=True)
class JsonNumber:
    """A number as written; its size and form do not matter until someone wants its value."""

    text: str


JsonObject: TypeAlias = "tuple[tuple[str, JsonValue], ...]"
"""Members in order, duplicates included."""

JsonValue: TypeAlias = "str | JsonNumber | bool | list[JsonValue] | JsonObject | None"
"""A list for an array, a tuple of pairs for an object."""


def too_deep(value: JsonValue, *, inside: int) -> bool:
    """Tell whether `value`, standing inside `inside` others, nests deeper than Go reads."""
    level = [value] if isinstance(value, list | tuple) else []
    while level:
        inside += 1
        if inside > NESTING_MAX:
            return True
        level = [
            child
            for parent in level
            for child in _children(parent)
            if isinstance(child, list | tuple)
        ]
    return False


def _children(value: JsonValue) -> Iterable[JsonValue]:
    if isinstance(value, list):
        return value
    return [child for _, child in value] if isinstance(value, tuple) else ()
