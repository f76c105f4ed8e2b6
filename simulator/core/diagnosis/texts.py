"""Patterns of texts: a text filled with blanks becomes a pattern that finds it and reads them.

A blank is put where a name or a number would stand, so that the words are those of the place that
makes the text, and none are repeated here. Upper and lower case are the same: tools change it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Self

from typing_extensions import override

from simulator.core.behavior import Behavior
from simulator.core.releases import Statement, variants

_OPEN: Final = "\ue000"
_CLOSE: Final = "\ue001"
_BLANK: Final = re.compile(f"{_OPEN}([a-z]+){_CLOSE}")
_NAME: Final = r"[A-Za-z0-9](?:[-A-Za-z0-9_./]*[A-Za-z0-9])?"
_REST: Final = r".+"
_SHAPES: Final[Mapping[str, str]] = {
    "available": r"-?\d+",
    "capacity": r"-?\d+",
    "container": r"[A-Za-z0-9][-A-Za-z0-9]*",
    "dump": r".*?",
    "got": r"-?\d+",
    "limit": r"\d+",
    "message": _REST,
    "name": r'[^"]*',
    "number": r"\d+",
    "recorded": r"-?\d+",
    "requested": r"-?\d+",
    "resource": _NAME,
    "size": r"\d+",
    "uid": r"[^\s\",;]+",
    "used": r"-?\d+",
    "version": r'[^"]*',
    "word": r"\w+",
}
"""What may stand in a blank, by its name."""


def blank(name: str) -> str:
    """Return a blank for a name or a text."""
    return f"{_OPEN}{name}{_CLOSE}"


class NumberBlank(int):
    """A blank where a number stands; a number so large that nothing ever suffices."""

    blank_name: str

    def __new__(cls, name: str, value: int = 10**9) -> Self:
        """Make a blank of this name that counts as `value`."""
        made = super().__new__(cls, value)
        made.blank_name = name
        return made

    @override
    def __format__(self, _: str) -> str:
        return blank(self.blank_name)


@dataclass(frozen=True, slots=True)
class Found:
    """A pattern's place in a text.

    Attributes:
        start, end: Where it begins and where it ends.
        values: What stood in the blanks.
    """

    start: int
    end: int
    values: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Said:
    """A text and who says it.

    Attributes:
        pattern: Finds the text, with a group for each blank.
        says: The kubelets that use these words.
    """

    pattern: re.Pattern[str]
    says: Statement

    def find(self, text: str) -> Found | None:
        """Return where the text stands in another one, if it does."""
        match = self.pattern.search(text)
        if match is None:
            return None
        return Found(match.start(), match.end(), match.groupdict())


def always(_: Behavior) -> bool:
    """Hold for every kubelet."""
    return True


def said(text: str, says: Statement = always) -> Said:
    """Return the pattern of a text with blanks."""
    parts = _BLANK.split(text.strip())
    seen: set[str] = set()
    regex = ""
    for index, part in enumerate(parts):
        if index % 2 == 0:
            regex += re.escape(part)
        elif part in seen:
            regex += f"(?P={part})"
        else:
            seen.add(part)
            regex += f"(?P<{part}>{_SHAPES[part]})"
    return Said(re.compile(regex, re.IGNORECASE), says)


def said_by_version(
    text_of: Callable[[Behavior], str], says: Statement = always
) -> tuple[Said, ...]:
    """Return the patterns of a text whose words depend on the version, one for each wording."""

    def wording(text: str) -> Statement:
        return lambda behavior: says(behavior) and text_of(behavior) == text

    return tuple(said(text, wording(text)) for text in variants(text_of))


def phrase(regex: str, says: Statement = always) -> Said:
    """Return the pattern of words that others than Rebind's own code say."""
    return Said(re.compile(regex, re.IGNORECASE), says)
