"""The switch table in words: names, values and changes as users see them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from itertools import pairwise
from typing import Final

from simulator.core.behavior import Behavior
from simulator.core.instants import Duration, format_duration
from simulator.core.kubelet_version import KubeletVersion
from simulator.core.switch_rows.row import Change, Switch
from simulator.core.switches import (
    AREAS,
    OLDEST,
    TRUST_CHECKPOINT,
    TRUST_CHECKPOINT_SOURCE,
    behavior_for,
)

NEVER: Final = "never"
"""In place of a release: what was proposed and not released."""

Value = str | int | bool | list[str]
"""A switch's value in a document."""


@dataclass(frozen=True, slots=True)
class SwitchChange:
    """One change of one switch.

    Attributes:
        area: What the switch is about.
        release: Since when, e.g. `1.28.0`; or `never`.
        before: The value until then; None for the first one.
        value: The value since then.
        backports: Patches of older minor versions that have it too, newest first.
        source: Who says so.
    """

    area: str
    switch: Switch
    release: str
    before: object
    value: object
    backports: tuple[str, ...]
    source: str

    @property
    def name(self) -> str:
        """The switch's name."""
        return switch_name(self.switch)

    @property
    def words(self) -> str:
        """The change in a few words."""
        now = value_text(self.switch, self.value)
        return now if self.before is None else f"{value_text(self.switch, self.before)} → {now}"


def switch_name(switch: Switch) -> str:
    """Return the name of a switch in files and tables, e.g. `runningCheck`."""
    first, *rest = switch.name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def switch_value(switch: Switch, value: object) -> Value:
    """Return a value for a document."""
    if switch.is_duration and isinstance(value, int):
        return format_duration(Duration(value))
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, frozenset):
        return sorted(str(one.value if isinstance(one, Enum) else one) for one in value)
    if isinstance(value, str | int):
        return value
    reason = f"the switch {switch.name} holds {type(value).__name__}, which has no words"
    raise TypeError(reason)


def value_text(switch: Switch, value: object) -> str:
    """Return a value for a cell."""
    plain = switch_value(switch, value)
    if isinstance(plain, bool):
        return "yes" if plain else "no"
    if isinstance(plain, list):
        return "+".join(plain) or "none"
    return str(plain).strip()


def all_changes() -> list[SwitchChange]:
    """Return all changes by release, then in the order of the table.

    A switch that never changed has one for its value in the oldest version.
    """
    never = _unreleased()
    unreleased = {change.switch.name for change in never}
    found: list[tuple[KubeletVersion, SwitchChange]] = []
    for area, switches in AREAS.items():
        for switch in switches:
            values = [switch.first, *(change.value for change in switch.changes)]
            for (before, _), change in zip(pairwise(values), switch.changes, strict=True):
                found.append((change.since, _changed(area, switch, before, change)))
            if not switch.changes and switch.name not in unreleased:
                first = SwitchChange(
                    area, switch, str(OLDEST), None, switch.first, (), switch.source
                )
                found.append((OLDEST, first))
    return [*(change for _, change in sorted(found, key=lambda pair: pair[0])), *never]


def _changed(area: str, switch: Switch, before: object, change: Change) -> SwitchChange:
    backports = tuple(str(port) for port in sorted(change.backports, reverse=True))
    return SwitchChange(
        area, switch, str(change.since), before, change.value, backports, change.source
    )


def _unreleased() -> list[SwitchChange]:
    """Return what the profile that is no release does otherwise than the newest one."""
    profile = behavior_for(TRUST_CHECKPOINT)
    found = []
    for area, switches in AREAS.items():
        for switch in switches:
            before, value = getattr(Behavior(), switch.name), getattr(profile, switch.name)
            if before != value:
                source = f"{TRUST_CHECKPOINT_SOURCE}; profile {TRUST_CHECKPOINT}"
                found.append(SwitchChange(area, switch, NEVER, before, value, (), source))
    return found
