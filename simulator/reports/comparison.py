"""Two kubelet versions side by side: which switches differ, and what comes out differently."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from simulator.core.behavior import Behavior
from simulator.core.kubelet_version import parse_version
from simulator.core.switch_rows.row import Switch
from simulator.core.switches import AREAS, NEWEST, TRUST_CHECKPOINT
from simulator.reports.switch_words import NEVER, SwitchChange, all_changes

_MESSAGES: Final = frozenset({"message", "event"})
"""Keys of facts that are texts for people."""


@dataclass(frozen=True, slots=True)
class DifferentFact:
    """One thing that was observed differently; an empty text stands for nothing.

    Attributes:
        key: The expectation's key, e.g. `phase`; `problem` for a row that could not be judged.
    """

    key: str
    first: str
    second: str


@dataclass(frozen=True, slots=True)
class DifferentRow:
    """A row of which something was observed differently.

    Attributes:
        title: E.g. `after reboot within 5s: pod trainer`.
    """

    title: str
    facts: tuple[DifferentFact, ...]

    @property
    def only_words(self) -> bool:
        """Whether nothing differs but the words of a message."""
        return all(fact.key in _MESSAGES and fact.first and fact.second for fact in self.facts)


@dataclass(frozen=True, slots=True)
class ComparedScenario:
    """One scenario under two versions.

    Attributes:
        rows: Those that differ.
        row_count: How many there are.
        records_differ: Whether anything differs in what happened, the version's name apart.
        causes: Switches each of which alone makes a row of these come out otherwise, taken over
            into the first version or, for rows that need several, set back in the second; None
            when that was not looked for.
    """

    name: str
    description: str
    rows: tuple[DifferentRow, ...]
    row_count: int
    records_differ: bool
    causes: tuple[Switch, ...] | None = None

    @property
    def outcomes(self) -> tuple[DifferentRow, ...]:
        """The rows that differ in more than words."""
        return tuple(row for row in self.rows if not row.only_words)


@dataclass(frozen=True, slots=True)
class DifferentSwitch:
    """A switch that two versions have differently.

    Attributes:
        first, second: The values.
        changes: What lies between the two, in order of release.
    """

    area: str
    switch: Switch
    first: object
    second: object
    changes: tuple[SwitchChange, ...]


@dataclass(frozen=True, slots=True)
class VersionComparison:
    """All that two versions have differently.

    Attributes:
        switch_count: Number of switches that there are.
        scenarios: The built-in scenarios.
        own: The scenarios made of the user's own node; empty without one.
    """

    first: Behavior
    second: Behavior
    switches: tuple[DifferentSwitch, ...]
    switch_count: int
    scenarios: tuple[ComparedScenario, ...]
    own: tuple[ComparedScenario, ...] = ()


def different_switches(first: Behavior, second: Behavior) -> tuple[DifferentSwitch, ...]:
    """Return the switches that differ, in the order of the table."""
    return tuple(_different_switches(first, second))


def _different_switches(first: Behavior, second: Behavior) -> Iterator[DifferentSwitch]:
    by_switch: dict[str, list[SwitchChange]] = {}
    for change in all_changes():
        by_switch.setdefault(change.switch.name, []).append(change)
    for area, switches in AREAS.items():
        for switch in switches:
            one, other = getattr(first, switch.name), getattr(second, switch.name)
            if one != other:
                between = tuple(
                    change
                    for change in by_switch[switch.name]
                    if _has(first, change) is not _has(second, change)
                )
                yield DifferentSwitch(area, switch, one, other, between)


def _has(behavior: Behavior, change: SwitchChange) -> bool:
    """Tell whether a version has a change, be it undone by a later one."""
    unreleased = behavior.version == TRUST_CHECKPOINT
    if change.release == NEVER:
        return unreleased
    version = NEWEST if unreleased else parse_version(behavior.version)
    backports = tuple(parse_version(port) for port in change.backports)
    return version.is_at_least(parse_version(change.release), backports)
