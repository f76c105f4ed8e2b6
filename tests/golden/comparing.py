"""Comparing what was recorded with what came out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tests.golden.described import Described

FOR_THE_READER: Final = frozenset({"name", "note", "written_by", "source", "same_state_as", "file"})
_SHOWN_LENGTH_MAX: Final = 200
_CONTEXT: Final = 20


def compare(expect: Described, found: Described) -> list[str]:
    """Return a line for every recorded key whose value differs, and for keys that nothing checks.

    Args:
        expect: The recording.
        found: What came out, under the same keys.
    """
    differences = []
    for key, recorded in expect.items():
        if key in found:
            differences += [f"{key}{line}" for line in _differences(recorded, found[key])]
        elif key not in FOR_THE_READER:
            differences.append(f"{key}: recorded, but not checked")
    return differences


def first_difference(recorded: bytes, found: bytes) -> str:
    """Return where two byte strings part."""
    at = next(
        (
            index
            for index, pair in enumerate(zip(recorded, found, strict=False))
            if len(set(pair)) > 1
        ),
        min(len(recorded), len(found)),
    )
    around = slice(max(0, at - _CONTEXT), at + _CONTEXT)
    return f"at byte {at}: recorded {recorded[around]!r}, here {found[around]!r}"


def _differences(recorded: object, found: object) -> Iterator[str]:
    """Name the innermost values that differ."""
    if isinstance(recorded, dict) and isinstance(found, dict):
        for key in [*recorded, *(key for key in found if key not in recorded)]:
            for line in _differences(recorded.get(key, "nothing"), found.get(key, "nothing")):
                yield f".{key}{line}"
    elif isinstance(recorded, list) and isinstance(found, list) and len(recorded) == len(found):
        for index, (one, other) in enumerate(zip(recorded, found, strict=True)):
            for line in _differences(one, other):
                yield f"[{index}]{line}"
    elif recorded != found:
        yield f": recorded {_short(recorded)}, here {_short(found)}"


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN_LENGTH_MAX else f"{text[:_SHOWN_LENGTH_MAX]}…"
