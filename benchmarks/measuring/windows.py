"""A stretch of a phase that becomes one row: what came in it, and what became of that.

A pod belongs to the window in which it was to start, and stays of it until it is served, whenever
that is. So a stall is paid for by every pod that it delays.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from benchmarks.measuring.carried import counted
from benchmarks.measuring.costs import Costs
from benchmarks.measuring.courses import Course
from benchmarks.measuring.span_counts import LostWaits, SpanCounts
from benchmarks.results.rows import Measure, Row, Setting
from simulator.core.instants import MILLISECOND, SECOND, Duration

LATE: Final = Duration(5 * MILLISECOND)
"""A pod that is offered so long after its scheduled start is late: the load generator was behind.
Timers of an event loop are a millisecond or two off by themselves."""


@dataclass(eq=False, slots=True)
class Followed:
    """A pod from its scheduled start until it is served.

    Attributes:
        due_ns: Its scheduled start, on the driver's clock.
        window: To which it belongs; None where it is not measured.
        awaited: What it has not come to yet, of what is measured.
        bound: Devices that it was admitted with.
        bindings: For how many containers and resources.
        is_admitted: Whether its kubelet has admitted it.
        is_told: Whether whoever waits for it was told that it was served, or will not be.
        unshown: Whether it waits for its devices to be visible.
        shown: For which containers and resources they are.
        has_failed: Whether it was refused, or failed.
    """

    due_ns: int
    window: Window | None
    awaited: set[Measure]
    bound: int = 0
    bindings: int = 0
    is_admitted: bool = False
    is_told: bool = False
    unshown: bool = False
    shown: set[tuple[str, str]] = field(default_factory=set)
    has_failed: bool = False


class Window:
    """Collects what becomes of the pods of a stretch of time.

    Args:
        phase: What the row is called.
        start: From the start of the phase.
        end: The same; None while it is not known.

    Attributes:
        begun_ns: When it began, on the driver's clock.
        offered, served, late, skipped, errors, waited: See `benchmarks.results.rows.Row`.
        before, after: Costs at both ends; None until it has begun, or ended.
        at_risk_max, at_risk_end: See `Row`.
        memory_peak: See `Row`.
        pending: Pods that are offered and neither served nor failed.
        course: Collects its slices; None where it has none.
    """

    def __init__(self, phase: str, start: Duration, end: Duration | None) -> None:
        self.phase = phase
        self.start = start
        self.end = end
        self.begun_ns = 0
        self.offered = self.served = self.late = self.skipped = self.errors = self.waited = 0
        self.before: Costs | None = None
        self.after: Costs | None = None
        self.at_risk_max: int | None = None
        self.at_risk_end: int | None = None
        self.memory_peak: int | None = None
        self.pending: dict[int, Followed] = {}
        self.course: Course | None = None
        self._lost = LostWaits()
        self._unreached: Counter[Measure] = Counter()
        self._last_served_ns = 0
        self._served_in: Counter[int] = Counter()
        self._spans: dict[Measure, SpanCounts] = {}

    def offer(self, due_ns: int, now_ns: int) -> None:
        """Count a pod whose turn has come."""
        self.offered += 1
        self.late += now_ns - due_ns > LATE

    def begin(self, followed: Followed) -> None:
        """Take a pod up that is created now."""
        self.pending[id(followed)] = followed

    def skip(self, due_ns: int, now_ns: int) -> None:
        """Count a pod that was not begun at all, with the time that it has waited."""
        self.skipped += 1
        for measure in Measure:
            self._record(measure, now_ns - due_ns)
            self._unreached[measure] += 1
        if self.course is not None:
            self.course.skipped(due_ns - self.begun_ns, now_ns - self.begun_ns)

    def reached(self, followed: Followed, measure: Measure, now_ns: int) -> None:
        """Take note that a pod has come to something."""
        followed.awaited.discard(measure)
        self._record(measure, now_ns - followed.due_ns)
        if measure is Measure.ADMISSION:
            self.served += 1
            self._last_served_ns = now_ns
            self._served_in[max(now_ns - self.begun_ns, 0) // SECOND] += 1
            if self.course is not None:
                self.course.served(followed.due_ns - self.begun_ns, now_ns - self.begun_ns)
        if not followed.awaited:
            self.pending.pop(id(followed), None)

    def failed(self, followed: Followed) -> None:
        """Take note that a pod was refused or has failed; one that was served is so no longer."""
        self.errors += 1
        self.served -= Measure.ADMISSION not in followed.awaited
        self.gone(followed)

    def gone(self, followed: Followed) -> None:
        """Take note that a pod is lost or deleted; what it has not come to, it never will."""
        if self.pending.pop(id(followed), None) is not None:
            self._lost.add(followed.due_ns, followed.awaited)

    @property
    def has_unserved(self) -> bool:
        """Whether pods are still on their way."""
        return bool(self.pending)

    @property
    def unserved(self) -> int:
        """How many pods have no durable admission yet."""
        return self.offered - self.served - self.errors - self.skipped

    def percentile(self, measure: Measure, percent: float) -> Duration | None:
        """Return a percentile of the latencies so far; None when there are none."""
        spans = self._spans.get(measure)
        return None if spans is None else spans.percentile(percent)

    def percentile_by(self, now_ns: int, measure: Measure, percent: float) -> Duration | None:
        """Return the same with the pods that have not come to it: they have waited until now."""
        pending = [each.due_ns for each in self.pending.values() if measure in each.awaited]
        waited = [max(now_ns - due_ns, 0) for due_ns in (*pending, *self._lost.since(measure))]
        return self._spans.get(measure, SpanCounts()).percentile(percent, waited)

    def row(
        self, setting: Setting, *, repetition: int, cut_ns: int, interrupted: bool = False
    ) -> Row:
        """Return the row; pods that were not served count with the time until `cut_ns`."""
        for followed in self.pending.values():
            for measure in followed.awaited:
                self._miss(measure, cut_ns - followed.due_ns)
            if self.course is not None and Measure.ADMISSION in followed.awaited:
                self.course.unserved(followed.due_ns - self.begun_ns, cut_ns - self.begun_ns)
        self._miss_lost(cut_ns)
        is_served = self.served and not (self.unserved or self.skipped)
        last_ns = self._last_served_ns if is_served else cut_ns
        length = self.end - self.start if self.end is not None else last_ns - self.begun_ns
        if interrupted:
            length = min(length, cut_ns - self.begun_ns)
        before, after = self.before or Costs(), self.after or self.before or Costs()
        return Row(
            setting=setting,
            phase=self.phase,
            repetition=repetition,
            seconds=length / SECOND,
            elapsed=max(length, last_ns - self.begun_ns, 0) / SECOND,
            offered=self.offered,
            served=self.served,
            late=self.late,
            skipped=self.skipped,
            errors=self.errors,
            waited=self.waited,
            latencies={
                measure: self._spans[measure].latencies()
                for measure in Measure
                if measure in self._spans
            },
            unreached={each: self._unreached[each] for each in Measure if self._unreached[each]},
            served_each_second=self._each_second(length),
            over_time=() if self.course is None else self.course.slices(),
            counted_s=(after.at_ns - before.at_ns) / SECOND,
            fsyncs=_between(before.fsyncs, after.fsyncs),
            bytes_written=_between(before.written, after.written),
            bindings=after.bound - before.bound,
            api_calls=counted(after.calls, before.calls),
            at_risk_max=self.at_risk_max,
            at_risk_end=self.at_risk_end,
            cpu_client_s=_spent(before.cpu_client_s, after.cpu_client_s),
            cpu_server_s=_spent(before.cpu_server_s, after.cpu_server_s),
            memory_peak=self.memory_peak,
            lost_replies=_between(before.lost, after.lost),
            interrupted=interrupted,
        )

    def _record(self, measure: Measure, span: int) -> None:
        spans = self._spans.get(measure)
        if spans is None:
            spans = self._spans[measure] = SpanCounts()
        spans.add(max(span, 0))

    def _miss(self, measure: Measure, span: int) -> None:
        """Count a pod that has not come to something."""
        self._unreached[measure] += 1
        self._record(measure, span)

    def _miss_lost(self, cut_ns: int) -> None:
        """Count those who never will have come to something."""
        # However long one waits for the others: so they are never below those who have come to it.
        longest = {measure: spans.longest for measure, spans in self._spans.items()}
        for measure in Measure:
            for due_ns in self._lost.since(measure):
                self._miss(measure, max(cut_ns - due_ns, longest.get(measure, 0)))
        # Nothing waits any more for such a pod: it stalls nothing.
        if self.course is not None:
            for due_ns in self._lost.since(Measure.ADMISSION):
                self.course.skipped(due_ns - self.begun_ns, cut_ns - self.begun_ns)

    def _each_second(self, length: int) -> tuple[int, ...]:
        """Return what was served in each second, also where that was nothing."""
        seconds = max(max(self._served_in, default=-1) + 1, length // SECOND)
        return tuple(self._served_in[second] for second in range(seconds))


def _between(before: int | None, after: int | None) -> int | None:
    return None if before is None or after is None else after - before


def _spent(before: float | None, after: float | None) -> float | None:
    return None if before is None or after is None else max(after - before, 0.0)
