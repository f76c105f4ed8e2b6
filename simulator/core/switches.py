"""The switch table: what differs between kubelet versions, since which release, and who says so.

The rows stand in `simulator.core.switch_rows`; `behavior_for` reads a version's column. Versions
with the same column share a profile, named by the first release that has it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from types import MappingProxyType
from typing import Final

from simulator.core.behavior import Behavior
from simulator.core.kubelet_version import KubeletVersion, parse_version
from simulator.core.switch_rows import allocation, checkpoint, kubelet, plugins, topology
from simulator.core.switch_rows.row import Switch
from simulator.errors import ConfigError

OLDEST: Final = KubeletVersion(10, 0)
"""The oldest kubelet that is replayed; of older ones only checkpoint files are read."""

NEWEST: Final = KubeletVersion(36, 2)
"""The newest kubelet whose behavior was checked in its source."""

TRUST_CHECKPOINT: Final = "trust-checkpoint"
"""The profile of an idea that was never released (S5.16)."""

TRUST_CHECKPOINT_SOURCE: Final = "PR 137919, closed unmerged"

AREAS: Final[Mapping[str, tuple[Switch, ...]]] = MappingProxyType(
    {
        "checkpoint": checkpoint.ROWS,
        "allocation": allocation.ROWS,
        "topology": topology.ROWS,
        "plugins and node": plugins.ROWS,
        "pods": kubelet.PODS,
        "PodResources": kubelet.POD_RESOURCES,
        "API client": kubelet.API_CLIENT,
    }
)
"""What a switch is about, to its rows."""

SWITCHES: Final[tuple[Switch, ...]] = tuple(row for rows in AREAS.values() for row in rows)


def behavior_for(text: str) -> Behavior:
    """Return the behavior of a kubelet version.

    A version newer than those that were checked behaves like the newest one, except for what is
    known to have changed since; `Behavior.note` says so.

    Args:
        text: See `parse_version`; or `trust-checkpoint`, the one profile that is no release.

    Raises:
        ConfigError: Not a kubelet version, or older than 1.10.
    """
    if text == TRUST_CHECKPOINT:
        return replace(
            _behavior(NEWEST),
            version=TRUST_CHECKPOINT,
            trusts_checkpoint=True,
            note=f"no release behaves like this: it is {TRUST_CHECKPOINT_SOURCE}",
        )
    version = parse_version(text)
    if version < OLDEST:
        message = (
            f"kubelet {version} is older than 1.10, the oldest that can be replayed; "
            "of older ones only checkpoint files can be read"
        )
        raise ConfigError(message)
    return _behavior(version)


def flipped(version: str, switch: str, value: object) -> Callable[[str], Behavior]:
    """Return how versions behave when one of them has another value of a switch.

    Args:
        version: The one, as it will be asked for.
        switch: Name of the field of `Behavior`.
        value: Any value that the switch has somewhere.
    """

    def behaviors(text: str) -> Behavior:
        behavior = behavior_for(text)
        if text != version:
            return behavior
        changes = {switch: value}
        return replace(behavior, **changes)  # type: ignore[arg-type]  # a value of the table

    return behaviors


def switch_values(behavior: Behavior) -> dict[str, object]:
    """Return the values of all switches, by name in the order of the table."""
    return {switch.name: getattr(behavior, switch.name) for switch in SWITCHES}


def profile_of(behavior: Behavior) -> str:
    """Return the name of a behavior's profile: the first release that has all its values.

    `trust-checkpoint` is its own profile.
    """
    return profiles().get(_key(behavior), behavior.version)


@cache
def changed_releases() -> tuple[KubeletVersion, ...]:
    """Return the releases at which a switch changes, back-ports included, in order."""
    changes = [change for switch in SWITCHES for change in switch.changes]
    return tuple(sorted({one for change in changes for one in (change.since, *change.backports)}))


@cache
def profiles() -> Mapping[tuple[object, ...], str]:
    """Return the profiles: the values of all switches, to the first release that has them."""
    found: dict[tuple[object, ...], str] = {}
    for release in (OLDEST, *changed_releases()):
        found.setdefault(_key(_column(release)), str(release))
    return MappingProxyType(found)


def _key(behavior: Behavior) -> tuple[object, ...]:
    return tuple(switch_values(behavior).values())


@cache
def _behavior(version: KubeletVersion) -> Behavior:
    column = _column(version)
    if version <= NEWEST or version == KubeletVersion(NEWEST.minor):
        return column
    newest, own = profile_of(_column(NEWEST)), profile_of(column)
    since = "" if own == newest else f" with what was merged since (profile {own})"
    note = (
        f"kubelet {version} is newer than {NEWEST}, the newest known; it behaves like that{since}"
    )
    return replace(column, note=note)


def _column(version: KubeletVersion) -> Behavior:
    behavior = Behavior(version=str(version))
    for switch in SWITCHES:
        # The rows are named like the fields, so a frozen value is filled before anyone sees it.
        object.__setattr__(behavior, switch.name, switch.value(version))
    return behavior
