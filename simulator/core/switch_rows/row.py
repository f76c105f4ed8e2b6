"""One row of the switch table: a behavior, its first value, and the releases that changed it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from simulator.core.kubelet_version import KubeletVersion, parse_version

UNNAMED: Final = "details 1 [?]"
"""Source of a change of which only the recordings tell."""


@dataclass(frozen=True, slots=True)
class Change:
    """From `since` on, and from each of `backports` on within its minor version, `value` holds."""

    value: object
    since: KubeletVersion
    backports: tuple[KubeletVersion, ...]
    source: str


@dataclass(frozen=True, slots=True)
class Switch:
    """One row of the table.

    Attributes:
        name: The field of `Behavior`.
        meaning: What the value says, for an operator.
        source: Who describes the old behavior.
        first: The value of 1.10.
        changes: In order of release; the last one that is in a version counts.
        is_duration: Whether the values are spans of time.
    """

    name: str
    meaning: str
    source: str
    first: object
    changes: tuple[Change, ...] = ()
    is_duration: bool = False

    def value(self, version: KubeletVersion) -> object:
        """Return the switch's value in a release."""
        value = self.first
        for change in self.changes:
            if version.is_at_least(change.since, change.backports):
                value = change.value
        return value


def change(since: str, source: str, *, value: object, ports: tuple[str, ...] = ()) -> Change:
    """Return a change from release `since` on, and from the patches `ports` on."""
    backports = tuple(parse_version(port) for port in ports)
    return Change(value, parse_version(since), backports, source)
