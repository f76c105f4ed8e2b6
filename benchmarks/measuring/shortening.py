"""Another length or number of nodes than a profile's own, for a first look or a test."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.profiles.combinations import Combination
from benchmarks.profiles.loads import Burst, RampLoad
from benchmarks.profiles.profile import FlatGate, Phase, Profile
from simulator.core.instants import Duration

_WARMUP_SHARE = 4
"""A warm-up takes at most this part of a phase whose length was changed."""


def with_length(profile: Profile, length: Duration) -> Profile:
    """Return a profile whose loads, and each step of a ramp, take so long.

    Bursts come at once, whatever the length; phases in which only nodes restart stay as they are.
    What is too short to tell whether something drifts is not asked to be flat.
    """
    phases = tuple(_with_length(phase, length) for phase in profile.phases)
    return replace(profile, phases=phases, takes=None)


def _with_length(phase: Phase, length: Duration) -> Phase:
    load = phase.load
    if load is None or isinstance(load, Burst):
        return phase
    whole = length
    if isinstance(load, RampLoad):
        load = replace(load, step=length)
        whole = Duration(len(load.steps()) * length)
    changed = replace(
        phase,
        load=load,
        duration=whole,
        expected=whole,
        warmup=Duration(min(phase.warmup, whole // _WARMUP_SHARE)),
    )
    if changed.is_sliced:
        return changed
    return replace(
        changed, gates=tuple(gate for gate in phase.gates if not isinstance(gate, FlatGate))
    )


def with_nodes(combinations: tuple[Combination, ...], nodes: int) -> tuple[Combination, ...]:
    """Return combinations with another number of nodes, each once."""
    return tuple(dict.fromkeys(replace(each, nodes=nodes) for each in combinations))
