"""Whether the phases of a run pass: the bounds that a profile puts on its rows.

Every repetition counts. A row that does not have what a gate looks at does not pass it, nor one
whose percentile is only a lower bound, however low that is; and where nothing is served, or nobody
knows how late, nothing is flat.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from benchmarks.profiles.profile import FlatGate, Gate, LatencyGate, Profile, RateGate
from benchmarks.results.drift_findings import WORDS, ends_text
from benchmarks.results.quantities import CHANGES, Better, Form, number, text
from benchmarks.results.rows import Measure, Row
from benchmarks.results.slices import Tracked, drift
from simulator.core.instants import format_duration

_UNKNOWN: Final = "not measured"
_NOTHING: Final = "nothing served in its first third"
_NOT_KNOWN: Final = "not known, as pods were never served"
_TAIL: Final = 99.0
"""The percentile that is to stay flat."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one gate says of one row.

    Attributes:
        found: What was measured, in words.
    """

    row: Row
    gate: Gate
    passed: bool
    found: str

    @property
    def wanted(self) -> str:
        """The bound in words."""
        if isinstance(self.gate, LatencyGate):
            return f"below {format_duration(self.gate.below)}"
        if isinstance(self.gate, FlatGate):
            within = float(self.gate.within)
            if CHANGES[self.gate.tracked].better is Better.MORE:
                return f"at least {text(-within, Form.CHANGE)}"
            return f"at most {text(within, Form.CHANGE)}"
        return f"at least {number(self.gate.achieved)}/s"

    @property
    def name(self) -> str:
        """What the bound is of, e.g. `running p99`."""
        if isinstance(self.gate, LatencyGate):
            return f"{self.gate.measure.value} p{self.gate.percentile:g}"
        if isinstance(self.gate, FlatGate):
            return f"the change of {WORDS[self.gate.tracked]}"
        return "achieved"


def judge(profile: Profile, rows: Sequence[Row]) -> Iterator[Verdict]:
    """Iterate over what the gates of a profile say of its rows, in the order of the rows."""
    gates = {phase.name: phase.gates for phase in profile.phases}
    for row in rows:
        for gate in gates.get(row.phase, ()):
            if applies(gate, row):
                yield _verdict(row, gate)


def applies(gate: Gate, row: Row) -> bool:
    """Tell whether a row can have what a gate looks at: not every one has an API server."""
    is_of_server = isinstance(gate, FlatGate) and gate.tracked is Tracked.SERVER_MEMORY
    return not is_of_server or any(one.server_memory is not None for one in row.over_time)


def _verdict(row: Row, gate: Gate) -> Verdict:
    match gate:
        case LatencyGate():
            return _latency_verdict(row, gate)
        case FlatGate():
            return _flat_verdict(row, gate)
        case RateGate():
            achieved = row.achieved_per_second
            return Verdict(row, gate, achieved >= gate.achieved, f"{number(achieved)}/s")


def _latency_verdict(row: Row, gate: LatencyGate) -> Verdict:
    latencies = row.latencies.get(gate.measure)
    if latencies is None or not len(latencies):
        return Verdict(row, gate, passed=False, found=_UNKNOWN)
    latency = latencies.percentile(gate.percentile)
    shown = text(latency, Form.DURATION)
    if row.is_lower_bound(gate.measure, gate.percentile):
        found = f"at least {shown}, as pods never came so far"
        return Verdict(row, gate, passed=False, found=found)
    return Verdict(row, gate, latency < gate.below, shown)


def _flat_verdict(row: Row, gate: FlatGate) -> Verdict:
    found = drift(row.over_time, gate.tracked)
    if found is None:
        return Verdict(row, gate, passed=False, found=_UNKNOWN)
    if gate.tracked is Tracked.RATE and not found.first:
        return Verdict(row, gate, passed=False, found=_NOTHING)
    if gate.tracked is Tracked.P99 and row.is_lower_bound(Measure.ADMISSION, _TAIL):
        return Verdict(row, gate, passed=False, found=_NOT_KNOWN)
    is_loss = CHANGES[gate.tracked].better is Better.MORE
    worse = -found.change if is_loss else found.change
    said = f"{text(found.change, Form.CHANGE)} ({ends_text(gate.tracked, found)})"
    return Verdict(row, gate, worse <= gate.within, said)
