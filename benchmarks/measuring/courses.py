"""The course of a long phase: what happens in each slice of its time, and what it takes up then.

Nothing grows while it goes on, however many pods come: all counts are there from the start.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Final

from benchmarks.measuring.footprints import Footprint
from benchmarks.measuring.span_counts import SpanCounts
from benchmarks.results.slices import Slice
from simulator.core.instants import SECOND, Duration

SLICES_MAX: Final = 60
"""So many slices a phase has, however long it is."""
SHORTEST: Final = Duration(SECOND)
"""Of a slice."""
_BITS: Final = 8
"""With which latencies are kept: 1 % is enough, and sixty times less."""
_READ_WITHIN_S: Final = 10.0
_MEDIAN, _TAIL = 50.0, 99.0


class Course:
    """Collects the slices of a window; instants are nanoseconds from its start.

    Args:
        length: Of the window.
        look: Begins to read what is taken up; None where nothing is.

    Attributes:
        each: Length of a slice.
        ended: How many slices are over.
    """

    def __init__(self, length: Duration, look: Callable[[], Future[Footprint]] | None) -> None:
        self.each = Duration(max(length // SLICES_MAX, SHORTEST))
        self.ended = 0
        self._look = look
        self._looks: list[Future[Footprint]] = []
        self._parts = [_Part() for _ in range(length // self.each)]
        self._last_ns = 0

    @property
    def is_over(self) -> bool:
        """Whether all slices are over."""
        return self.ended >= len(self._parts)

    def end_slice(self) -> None:
        """End the present slice now."""
        self.ended += 1
        if self._look is not None:
            self._looks.append(self._look())

    def served(self, due_ns: int, now_ns: int) -> None:
        """Take note that a pod was served that was to come at `due_ns`."""
        self.unserved(due_ns, now_ns)
        part = self._part(now_ns)
        if part is not None:
            part.served += 1
        self._last_ns = now_ns

    def unserved(self, due_ns: int, now_ns: int) -> None:
        """Take note that a pod has waited until now."""
        self.skipped(due_ns, now_ns)
        part = self._part(now_ns) or self._parts[-1]
        part.stall = max(part.stall, now_ns - max(due_ns, self._last_ns))

    def skipped(self, due_ns: int, now_ns: int) -> None:
        """Take note that a pod was not begun until now, which holds no other up."""
        part = self._part(due_ns)
        if part is not None:
            part.latencies.add(max(now_ns - due_ns, 0))

    def slices(self) -> tuple[Slice, ...]:
        """Return those that are over."""
        return tuple(self._slice(number) for number in range(self.ended))

    def _part(self, at_ns: int) -> _Part | None:
        number = max(at_ns, 0) // self.each
        return self._parts[number] if number < len(self._parts) else None

    def _slice(self, number: int) -> Slice:
        part, footprint = self._parts[number], self._footprint(number)
        latencies = part.latencies
        return Slice(
            end=self.each * (number + 1) / SECOND,
            seconds=self.each / SECOND,
            served=part.served,
            p50=latencies.percentile(_MEDIAN),
            p99=latencies.percentile(_TAIL),
            longest=latencies.longest if latencies.count else None,
            stall=Duration(part.stall),
            memory=footprint.memory,
            server_memory=footprint.server_memory,
            stored=footprint.stored,
        )

    def _footprint(self, number: int) -> Footprint:
        try:
            return self._looks[number].result(_READ_WITHIN_S) if self._looks else Footprint()
        except TimeoutError:  # Of a server that hangs, nothing is known.
            return Footprint()


@dataclass(slots=True)
class _Part:
    latencies: SpanCounts = field(default_factory=lambda: SpanCounts(_BITS))
    served: int = 0
    stall: int = 0
