"""The course of a long phase in slices of its time, and whether it drifts.

What drifts is told by medians over the slices of the first third and of the last: a stall in a few
of them, however long, does not look like a drift, and is told by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import median
from typing import Final

from benchmarks.results.fields import DOCUMENT, Amount, Count, DurationText
from simulator.core.instants import Duration

_THIRD: Final = 3
SLICES_MIN: Final = 9
"""Of fewer slices nobody can tell whether something drifts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    """What happened in a slice of a long phase, and what was taken up at its end.

    Attributes:
        end: Seconds from the start of the phase, its warm-up apart, to the end of the slice.
        seconds: Its length.
        served: Pods whose bindings became durable in it.
        p50, p99, longest: Latencies to the durable admission of the pods that were to come in it,
            percentiles to 1 %; None where none was.
        stall: Longest time in which nothing was served although a pod waited; of the slice in
            which it ended.
        memory: Bytes of main memory of the process with the nodes.
        server_memory: The same of the API server; None where none is measured.
        stored: Bytes on disk of what is kept: checkpoints and databases, with their logs; of a
            database server, the tables and indexes.
    """

    __pydantic_config__ = DOCUMENT

    end: Amount
    seconds: Amount
    served: Count
    p50: DurationText | None = None
    p99: DurationText | None = None
    longest: DurationText | None = None
    stall: DurationText = Duration(0)
    memory: Count | None = None
    server_memory: Count | None = None
    stored: Count | None = None


class Tracked(StrEnum):
    """What should stay flat in a long phase."""

    RATE = "rate"
    P99 = "p99"
    MEMORY = "memory"
    SERVER_MEMORY = "serverMemory"
    STORED = "stored"


FLAT_WITHIN: Final[Mapping[Tracked, float]] = {
    Tracked.RATE: 0.05,
    Tracked.P99: 0.25,
    Tracked.MEMORY: 0.1,
    Tracked.SERVER_MEMORY: 0.1,
    Tracked.STORED: 0.1,
}
"""By what share of the first third the last one may differ, and count as flat all the same.

Ten seconds of pods say their rate to a few percent and their p99 to some ten; memory and files
grow in steps."""


def _rate(one: Slice) -> float | None:
    return one.served / one.seconds if one.seconds else None


_OF: Final[Mapping[Tracked, Callable[[Slice], float | None]]] = {
    Tracked.RATE: _rate,
    Tracked.P99: lambda one: one.p99,
    Tracked.MEMORY: lambda one: one.memory,
    Tracked.SERVER_MEMORY: lambda one: one.server_memory,
    Tracked.STORED: lambda one: one.stored,
}


def tracked_of(one: Slice, tracked: Tracked) -> float | None:
    """Return what a slice has; None where it is not known."""
    return _OF[tracked](one)


@dataclass(frozen=True, slots=True)
class Drift:
    """How something went from the first third of a phase to the last; both are medians."""

    first: float
    last: float

    @property
    def change(self) -> float:
        """The change as a share of the first third."""
        if not self.first:
            return float("inf") if self.last else 0.0
        return self.last / self.first - 1

    def is_flat(self, within: float) -> bool:
        """Tell whether the change is no more than a share of the first third."""
        return abs(self.change) <= within


def drift(slices: Sequence[Slice], tracked: Tracked) -> Drift | None:
    """Return how something went; None where it is not known, or of too few slices."""
    if len(slices) < SLICES_MIN:
        return None
    third = len(slices) // _THIRD
    ends = []
    for part in (slices[:third], slices[-third:]):
        known = [value for one in part if (value := tracked_of(one, tracked)) is not None]
        if not known:
            return None
        ends.append(median(known))
    return Drift(*ends)


def longest_stall(slices: Sequence[Slice]) -> Duration | None:
    """Return the longest time in which nothing was served although a pod waited."""
    return max((one.stall for one in slices), default=None)
