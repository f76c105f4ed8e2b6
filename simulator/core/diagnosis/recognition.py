"""Which entries of the catalogue a text belongs to.

A kubelet puts its words into others: `Pod was rejected: ` before a status, `Allocate failed due to
…, which is unexpected` around an error. What is inside is looked up, and the outside tells which
kubelets it can come from, too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from simulator.core.behavior import Behavior
from simulator.core.diagnosis import (
    admission_entries,
    container_entries,
    database_entries,
    kubelet_entries,
    node_entries,
    plugin_entries,
    registration_entries,
)
from simulator.core.diagnosis.known import Known
from simulator.core.diagnosis.readings import readings
from simulator.core.diagnosis.surroundings import fits
from simulator.core.diagnosis.texts import always
from simulator.core.refusals import AllocateFailed, refused
from simulator.core.releases import Statement, variants

CATALOGUE: Final[tuple[Known, ...]] = (
    *admission_entries.ENTRIES,
    *container_entries.ENTRIES,
    *plugin_entries.ENTRIES,
    *registration_entries.ENTRIES,
    *kubelet_entries.ENTRIES,
    *node_entries.ENTRIES,
    *database_entries.ENTRIES,
)
"""Every text that is known, in the order in which they are looked for."""

_MARK: Final = "\ue000"


def _wrapping(behavior: Behavior) -> str:
    """Return what a kubelet puts around the error of an admission, with a mark in its place."""
    return refused(AllocateFailed(_MARK), behavior).message.rstrip(".")


def _with_wrapping(wrapping: str) -> Statement:
    return lambda behavior: _wrapping(behavior) == wrapping


_WRAPPED: Final = tuple(
    (
        re.compile("(.*)".join(map(re.escape, text.split(_MARK))), re.IGNORECASE),
        _with_wrapping(text),
    )
    for text in variants(_wrapping)
)
"""How each wording is found, and which kubelets have it."""

UNEXPECTED: Final = Known(
    key="unexpectedAdmissionError",
    rules=("S13.1",),
    place="the kubelet, admitting the pod",
    means=(
        "The kubelet refused the pod because giving it its resources failed; the error inside is "
        "not known here."
    ),
    why=(
        "The kubelet puts these words around any error of its device, CPU or memory manager. The "
        "error inside is none of the device manager's own; a plugin may have made it up."
    ),
    versions="any version",
    advice=(
        "Read the error inside; if it names a plugin or a CPU set, look there.",
        "Delete this pod; the kubelet never tries it again.",
    ),
)


@dataclass(frozen=True, slots=True)
class Recognized:
    """One entry that a text belongs to.

    Attributes:
        start, end: Where its text stands, inside the words around it.
        values: What stood in the blanks of its text.
        says: The kubelets that say all of this, the words around it included.
    """

    known: Known
    start: int
    end: int
    values: Mapping[str, str]
    says: Statement


def recognize(text: str, *, foreign: bool = False) -> tuple[Recognized, ...]:
    """Return the entries that a text belongs to, the outermost first; none when it is not known.

    Args:
        text: As it was pasted; of several ways to read it the one counts that is known best.
        foreign: Whether a reason stands beside it that other components give.
    """
    return max((_recognize(line, foreign=foreign) for line in readings(text)), key=_known_length)


def _known_length(found: tuple[Recognized, ...]) -> int:
    return max((each.end - each.start for each in found), default=0)


def _recognize(line: str, *, foreign: bool) -> tuple[Recognized, ...]:
    wrapped = _inside(line)
    if wrapped is not None:
        match, around = wrapped
        before = line[: match.start()].lower()
        prefixes = (each for each in status_prefixes() if before.endswith(each.lower()))
        prefix = next(prefixes, "")
        return _found(match[1], _both(around, _with_prefix(prefix)) if prefix else around)
    for prefix in status_prefixes():
        if line.lower().startswith(prefix.lower()):
            found = _outside(line[len(prefix) :], _with_prefix(prefix), foreign=foreign)
            if found and found[0].start == 0:
                return found
    return _outside(line, always, foreign=foreign)


def is_wrapped(text: str) -> bool:
    """Tell whether a text has the kubelet's words around the error of an admission (S13.1)."""
    return any(_inside(line) is not None for line in readings(text))


def status_prefixes() -> tuple[str, ...]:
    """Return what any kubelet puts before the message of a refused pod, newest first (S5.9)."""
    return tuple(reversed(variants(lambda behavior: behavior.rejected_status_prefix)))


def _inside(line: str) -> tuple[re.Match[str], Statement] | None:
    """Return where the words around an error stand, and which kubelets say them."""
    for pattern, says in _WRAPPED:
        match = pattern.search(line)
        if match is not None:
            return match, says
    return None


def _outside(line: str, around: Statement, *, foreign: bool) -> tuple[Recognized, ...]:
    """Return what is found where the words around an admission are missing."""
    return tuple(
        each
        for each in _found(line, around)
        if fits(each.known.surroundings, line, each.start, foreign=foreign)
    )


def _found(text: str, around: Statement) -> tuple[Recognized, ...]:
    found = [each for known in CATALOGUE for each in _first(known, text, around)]
    found.sort(key=lambda one: one.start)
    if any(each.known in registration_entries.SAID_TO_PLUGINS for each in found):
        found = [each for each in found if not each.known.general]
    return tuple(each for each in found if not each.known.general or each.start == found[0].start)


def _first(known: Known, text: str, around: Statement) -> list[Recognized]:
    for each in known.texts:
        place = each.find(text)
        if place is not None:
            says = _both(around, each.says)
            return [Recognized(known, place.start, place.end, place.values, says)]
    return []


def _with_prefix(prefix: str) -> Statement:
    return lambda behavior: behavior.rejected_status_prefix == prefix


def _both(one: Statement, other: Statement) -> Statement:
    return lambda behavior: one(behavior) and other(behavior)
