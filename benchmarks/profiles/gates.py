"""Whether the phases of a run pass: the bounds that a profile puts on its rows.

Every repetition counts, and a row that does not have what a gate looks at does not pass it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchmarks.profiles.profile import Gate, LatencyGate, Profile
from benchmarks.results.quantities import Form, number, text
from benchmarks.results.rows import Row
from simulator.core.instants import format_duration


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
        return f"at least {number(self.gate.achieved)}/s"

    @property
    def name(self) -> str:
        """What the bound is of, e.g. `running p99`."""
        if isinstance(self.gate, LatencyGate):
            return f"{self.gate.measure.value} p{self.gate.percentile:g}"
        return "achieved"


def judge(profile: Profile, rows: Sequence[Row]) -> Iterator[Verdict]:
    """Iterate over what the gates of a profile say of its rows, in the order of the rows."""
    gates = {phase.name: phase.gates for phase in profile.phases}
    for row in rows:
        for gate in gates.get(row.phase, ()):
            yield _verdict(row, gate)


def _verdict(row: Row, gate: Gate) -> Verdict:
    if not isinstance(gate, LatencyGate):
        achieved = row.achieved_per_second
        return Verdict(row, gate, achieved >= gate.achieved, f"{number(achieved)}/s")
    latencies = row.latencies.get(gate.measure)
    if latencies is None or not len(latencies):
        return Verdict(row, gate, passed=False, found="not measured")
    latency = latencies.percentile(gate.percentile)
    return Verdict(row, gate, latency < gate.below, text(latency, Form.DURATION))
