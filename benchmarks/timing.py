"""Measures things in turns, so that a busy moment of the machine falls on all of them.

Absolute times of a shared machine mean little. Contestants are run within one round in random
order, and what is compared is the medians over the rounds.
"""

from __future__ import annotations

import gc
import random
import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_benchmark.fixture import BenchmarkFixture


def _nothing() -> None:
    """Do nothing."""


@dataclass(frozen=True, slots=True)
class Contestant:
    """One of the things that are compared.

    Attributes:
        run: What is timed, called `repeat` times in a row in each turn.
        before, after: Called around each `run`, outside its time.
        repeat: Calls in one turn.
        operations: How many operations one call makes; times are for one operation.
    """

    run: Callable[[], object]
    before: Callable[[], object] = _nothing
    after: Callable[[], object] = _nothing
    repeat: int = 1
    operations: int = 1


@dataclass(slots=True)
class Contest:
    """Contestants and the times that they took so far, in nanoseconds for one operation."""

    contestants: Mapping[str, Contestant]
    seed: int = 0
    times_ns: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    _order: random.Random = field(init=False)

    def __post_init__(self) -> None:
        """Seed the order of turns."""
        self._order = random.Random(self.seed)  # noqa: S311 - the order of turns is no secret

    def round(self) -> None:
        """Give each contestant one turn, in random order, with the garbage collector at rest."""
        names = list(self.contestants)
        self._order.shuffle(names)
        collecting = gc.isenabled()
        gc.collect()
        gc.disable()
        try:
            for name in names:
                self._turn(name)
        finally:
            if collecting:
                gc.enable()

    def _turn(self, name: str) -> None:
        contestant, times = self.contestants[name], self.times_ns[name]
        for _ in range(contestant.repeat):
            contestant.before()
            started = time.perf_counter_ns()
            contestant.run()
            took = time.perf_counter_ns() - started
            contestant.after()
            times.append(took / contestant.operations)

    def median_ns(self, name: str) -> float:
        """Return the median time of one operation."""
        return median(self.times_ns[name])

    def ratio(self, slower: str, faster: str) -> float:
        """Return how many times the median of `faster` fits into that of `slower`."""
        return self.median_ns(slower) / self.median_ns(faster)

    def medians(self, *names: str) -> str:
        """Return the medians in ms, for people."""
        return " / ".join([f"{self.median_ns(name) / 1e6:.3g} ms" for name in names])


def hold(contest: Contest, benchmark: BenchmarkFixture, *, rounds: int) -> None:
    """Run the rounds under pytest-benchmark, which keeps the medians in its report."""
    benchmark.pedantic(contest.round, rounds=rounds)
    benchmark.extra_info["median_ns"] = {
        name: contest.median_ns(name) for name in contest.contestants
    }
