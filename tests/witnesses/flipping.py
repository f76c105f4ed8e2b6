"""Flips of one switch of one profile, and what a run shows under one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

from scenarios.builtin import find_file
from scenarios.loading.loaded import LoadedScenario, load_scenarios
from scenarios.loading.matrix import Combination, Narrowing
from scenarios.running.replay import play
from scenarios.running.rows import table_rows
from scenarios.schema.variants import Persistence
from simulator.assembly.worlds import simulated
from simulator.core.behavior import Behavior
from simulator.core.instants import Duration
from simulator.core.switches import TRUST_CHECKPOINT, behavior_for, flipped, profiles
from simulator.engine.spec import SimulationSpec
from simulator.engine.virtual.simulation import Simulation

Behaviors = Callable[[str], Behavior]

BEFORE_1_10: Final[dict[str, object]] = {"endpoint_grace_period": Duration(0)}
"""Values of kubelets that are not replayed, for switches that have not changed since (S5.4)."""


@dataclass(frozen=True, slots=True)
class Flip:
    """One switch of one profile with another value.

    Attributes:
        version: Of the profile.
    """

    switch: str
    version: str
    other: object

    @property
    def value(self) -> object:
        """The profile's own value."""
        value: object = getattr(behavior_for(self.version), self.switch)
        return value

    def behaviors(self, text: str) -> Behavior:
        """Return how a version behaves when this profile is flipped."""
        return flipped(self.version, self.switch, self.other)(text)


@cache
def values_of(name: str) -> tuple[object, ...]:
    """Return the values of a switch in all profiles, and that of older kubelets, in order."""
    names = [*profiles().values(), TRUST_CHECKPOINT]
    values = [getattr(behavior_for(version), name) for version in names]
    earlier = [BEFORE_1_10[name]] if name in BEFORE_1_10 else []
    return tuple(dict.fromkeys([*earlier, *values]))


def pairs_of(name: str) -> Iterator[tuple[object, object]]:
    """Yield each value that a profile has with each other value."""
    for value in values_of(name):
        if BEFORE_1_10.get(name) != value:
            for other in values_of(name):
                if other != value:
                    yield value, other


def observe_scenario(
    name: str, version: str, behaviors: Behaviors, persistence: str = "checkpoint"
) -> object:
    """Return all that a built-in scenario shows in a version: its records and its cells."""
    [loaded] = _loaded(name)
    readmission = loaded.combinations(Narrowing())[0].readmission
    run = Combination(version, Persistence(persistence), readmission)
    rows, _ = table_rows(loaded.scenario.spec.expect, [run])

    def start(spec: SimulationSpec) -> AbstractContextManager[Simulation]:
        return simulated(replace(spec, behaviors=behaviors))

    result, cells = play(loaded, run, start, rows, 0)
    return result.records, cells


@cache
def _loaded(name: str) -> list[LoadedScenario]:
    return load_scenarios(find_file(name), {})
