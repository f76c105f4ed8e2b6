"""Which kubelets restart, which nodes reboot, fail or lose the API server, and when.

All of it is fixed by profile and seed.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from benchmarks.profiles.profile import ApiOutages, Chaos, Phase, Profile
from simulator.core.instants import Duration
from simulator.engine.streams import RandomStreams


class DisturbanceKind(StrEnum):
    """What befalls a node."""

    RESTART_KUBELET = "restartKubelet"
    REBOOT_NODE = "rebootNode"
    FAIL_NODE = "failNode"
    API_OUTAGE = "apiOutage"


@dataclass(frozen=True, slots=True, order=True)
class Disturbance:
    """What befalls one node.

    Attributes:
        at: From the start of the phase.
        node: Its number, from 0.
        down: How long the machine is off, or without the API server; 0 for a kubelet.
    """

    at: Duration
    node: int
    kind: DisturbanceKind
    down: Duration = Duration(0)


def disturbances(
    profile: Profile, phase: Phase, *, nodes: int | None = None, seed: int | None = None
) -> tuple[Disturbance, ...]:
    """Return what befalls the nodes in a phase, in order.

    Args:
        profile: With the number of nodes.
        phase: Of that profile.
        nodes: Number of nodes in place of the profile's own.
        seed: In place of the profile's own.
    """
    count = profile.nodes.count if nodes is None else nodes
    streams = RandomStreams(profile.seed if seed is None else seed)
    found: list[Disturbance] = []
    restarts, reboots, chaos = phase.restarts, phase.reboots, phase.chaos
    if restarts is not None:
        chance = streams.stream(f"restarts/{phase.name}")
        found += (
            Disturbance(at, node, DisturbanceKind.RESTART_KUBELET)
            for node, at in _some(restarts.nodes, restarts.spread, count, chance)
        )
    if reboots is not None:
        chance = streams.stream(f"reboots/{phase.name}")
        found += (
            Disturbance(at, node, DisturbanceKind.REBOOT_NODE, reboots.downtime)
            for node, at in _some(reboots.nodes, reboots.spread, count, chance)
        )
    if chaos is not None:
        found += _failures(chaos, phase.duration, count, streams.stream(f"chaos/{phase.name}"))
    if phase.outages is not None:
        chance = streams.stream(f"outages/{phase.name}")
        found += _outages(phase.outages, phase.duration, count, chance)
    return tuple(sorted(found))


def _outages(
    outages: ApiOutages, duration: Duration, count: int, chance: random.Random
) -> Iterator[Disturbance]:
    begins = range(0, duration, outages.every) if outages.every is not None else range(1)
    for begin in begins:
        for node, at in _some(outages.nodes, outages.spread, count, chance):
            cut_off = Duration(begin + at)
            yield Disturbance(cut_off, node, DisturbanceKind.API_OUTAGE, outages.duration)


def _some(
    share: Fraction, spread: Duration, count: int, chance: random.Random
) -> Iterator[tuple[int, Duration]]:
    """Iterate over some nodes, each with a random instant."""
    for node in chance.sample(range(count), _number(share, count)):
        yield node, Duration(chance.randrange(max(spread, 1)))


def _number(share: Fraction, count: int) -> int:
    return min(max(math.ceil(share * count), 1), count)


def _failures(
    chaos: Chaos, duration: Duration, count: int, chance: random.Random
) -> Iterator[Disturbance]:
    """Iterate over failures period by period; a node that is down does not fail."""
    up_again = [0] * count
    for begin in range(0, duration, chaos.every):
        standing = [node for node in range(count) if up_again[node] <= begin]
        failing = min(_number(chaos.nodes, count), len(standing))
        for node in chance.sample(standing, failing):
            at = Duration(begin + chance.randrange(chaos.every))
            if at < duration:
                up_again[node] = at + chaos.down
                yield Disturbance(at, node, DisturbanceKind.FAIL_NODE, chaos.down)
