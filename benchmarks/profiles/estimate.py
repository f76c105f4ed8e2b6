"""How long a run takes, before it is begun.

A file may say what was measured (`takes`); runs with more combinations take proportionally longer.
Otherwise the phases say it: on the real clock their own time, what is left after them, and the
making of the nodes. In virtual time every pod costs something, and every second of every node, as
measured on two busy virtual CPUs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from benchmarks.profiles.combinations import Combination
from benchmarks.profiles.loads import Burst
from benchmarks.profiles.phase_length import mean_rate
from benchmarks.profiles.profile import Phase, Profile
from benchmarks.results.rows import TimeSource
from simulator.core.instants import MICROSECOND, MILLISECOND, SECOND, Duration

_SETUP: Final = 2 * SECOND
"""Making the nodes of a combination, and clearing up."""
_PER_EXISTING: Final = MILLISECOND // 2
_REST: Final = 3 * SECOND
"""What is left after a phase is most often over sooner than it may be."""
_PER_VIRTUAL_POD: Final = 3 * MILLISECOND // 2
_PER_VIRTUAL_NODE_SECOND: Final = 10 * MICROSECOND


def estimated(profile: Profile, combinations: Sequence[Combination]) -> Duration:
    """Return about how long the combinations of a profile take, all repetitions included."""
    usual = len(profile.combinations())
    if profile.takes is not None and usual:
        return Duration(profile.takes * len(combinations) // usual)
    once = sum(_combination(profile, one) for one in combinations)
    return Duration(once * profile.repetitions)


def _combination(profile: Profile, one: Combination) -> int:
    existing = one.nodes * one.existing * _PER_EXISTING
    if one.clock is TimeSource.VIRTUAL:
        phases = sum(_virtual(phase, one.nodes) for phase in profile.phases)
    else:
        phases = sum(_real(phase) for phase in profile.phases)
    return _SETUP + existing + phases


def _real(phase: Phase) -> int:
    down = phase.reboots.downtime if phase.reboots is not None else 0
    return phase.pause + phase.expected + down + min(phase.drain, _REST)


def _virtual(phase: Phase, nodes: int) -> int:
    load = phase.load
    rate = mean_rate(load) if load is not None else None
    pods = load.pods if isinstance(load, Burst) else (rate or 0) * phase.expected / SECOND
    node_seconds = nodes * (phase.pause + phase.expected + phase.drain) / SECOND
    return round(pods * _PER_VIRTUAL_POD + node_seconds * _PER_VIRTUAL_NODE_SECOND)
