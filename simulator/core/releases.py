"""Which releases a statement about the behavior holds for, read off the switch table.

A statement is a function of `Behavior`. It is tried on every release at which some row changes, so
what is said about versions cannot differ from what the versions do.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cache
from typing import Final, TypeVar

from typing_extensions import override

from simulator.core.behavior import Behavior
from simulator.core.kubelet_version import KubeletVersion
from simulator.core.switches import NEWEST, OLDEST, behavior_for, changed_releases

V = TypeVar("V", bound=Hashable)

Statement = Callable[[Behavior], bool]
"""Something that holds for a kubelet version, or does not."""


@dataclass(frozen=True, slots=True)
class Span:
    """Releases without a gap.

    Attributes:
        first: The first of them.
        next: The first release after them; None when the newest known one is among them.
    """

    first: KubeletVersion
    next: KubeletVersion | None

    @override
    def __str__(self) -> str:
        """Return e.g. `1.10 to 1.25.9`, `1.25.10 to 1.25.x`, `1.27.0`, `1.28 and later`."""
        first, after = self.first, self.next
        if after is None:
            return f"{_beginning(first)} and later"
        if after.patch == 0:
            last = after.minor - 1
            if first.minor == last:
                return f"1.{last}" if first.patch == 0 else f"{first} to 1.{last}.x"
            return f"{_beginning(first)} to 1.{last}"
        last_text = f"1.{after.minor}.{after.patch - 1}"
        if first.minor != after.minor:
            return f"{_beginning(first)} to {last_text}"
        return last_text if first.patch == after.patch - 1 else f"{first} to {last_text}"


def _beginning(version: KubeletVersion) -> str:
    return f"1.{version.minor}" if version.patch == 0 else str(version)


@cache
def turning_points() -> tuple[tuple[KubeletVersion, Behavior], ...]:
    """Return the first release of every minor version and all at which a row changes, in order."""
    named = changed_releases()
    newest = max((version.minor for version in named), default=NEWEST.minor)
    firsts = [
        KubeletVersion(minor, 0) for minor in range(OLDEST.minor, max(newest, NEWEST.minor) + 1)
    ]
    return tuple(
        (version, behavior_for(str(version)))
        for version in sorted({*firsts, *named})
        if version >= OLDEST
    )


def spans(holds: Statement) -> tuple[Span, ...]:
    """Return the releases for which a statement holds, in order; none when it never does."""
    found: list[Span] = []
    first: KubeletVersion | None = None
    for version, behavior in turning_points():
        if holds(behavior):
            first = first or version
        elif first is not None:
            found.append(Span(first, version))
            first = None
    if first is not None:
        found.append(Span(first, None))
    return tuple(found)


EVERY: Final = f"every kubelet since {_beginning(OLDEST)}"
NONE: Final = "no kubelet"


def spans_text(found: tuple[Span, ...]) -> str:
    """Return spans as one phrase, e.g. `1.25.10 to 1.25.13, 1.27.2 to 1.27.5`."""
    if found == (Span(OLDEST, None),):
        return EVERY
    return ", ".join(map(str, found)) or NONE


def variants(value: Callable[[Behavior], V]) -> tuple[V, ...]:
    """Return every value that any release has, in order of release."""
    return tuple(dict.fromkeys(value(behavior) for _, behavior in turning_points()))
