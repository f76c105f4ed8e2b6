"""The figures of a row, each with its name, its unit and what is better.

Tables, CSV, reports and comparisons all take their figures from here.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from benchmarks.results.fields import percentile_name
from benchmarks.results.latencies import PERCENTILES
from benchmarks.results.rows import Measure, Row
from benchmarks.results.slices import Tracked, drift, longest_stall
from simulator.core.instants import Duration, format_duration

_DIGITS: Final = 3
_WHOLE_FROM: Final = 100
_STEP: Final = 1_024
_UNITS: Final = ("B", "KiB", "MiB", "GiB", "TiB")
_WORDS: Final = re.compile(r"(?=[A-Z])")
_KEY_WORDS: Final = {100.0: "Max", 99.9: "P99_9"}


class Form(Enum):
    """How a figure is written."""

    NUMBER = auto()
    DURATION = auto()
    BYTES = auto()
    CPU_SECONDS = auto()
    CHANGE = auto()


class Better(Enum):
    """Which way a figure is better, for comparisons."""

    MORE = auto()
    LESS = auto()


@dataclass(frozen=True, slots=True)
class Quantity:
    """One figure of a row.

    Attributes:
        key: In documents and CSV, with its unit at the end, e.g. `admissionP99Ms`.
        header: In tables, e.g. `P99`.
        about: What it is, for people.
        of: Its value; None where it is not known.
        is_bound: Whether a row's value is only a lower bound.
    """

    key: str
    header: str
    about: str
    form: Form
    better: Better
    of: Callable[[Row], float | None]
    is_bound: Callable[[Row], bool] = lambda _: False


def text(value: float, form: Form) -> str:
    """Return a figure with three significant digits, and with its unit if it has one."""
    if form is Form.DURATION:
        return format_duration(Duration(round(float(f"{value:.{_DIGITS}g}"))))
    if form is Form.BYTES:
        return _bytes(value)
    if form is Form.CPU_SECONDS:
        return f"{number(value)}s"
    if form is Form.CHANGE:
        return f"{value:+.1%}"
    return number(value)


def number(value: float) -> str:
    """Return a number: whole from 100 on, else with three significant digits."""
    return f"{value:.0f}" if abs(value) >= _WHOLE_FROM else f"{value:.{_DIGITS}g}"


def ratio_text(ratio: float) -> str:
    """Return a ratio with three significant digits and its sign, `×1.00`."""
    return f"×{ratio:#.{_DIGITS}g}".removesuffix(".")


def percentile_of(measure: Measure, percent: float) -> Callable[[Row], float | None]:
    """Return the figure that is a percentile of a measure, in nanoseconds."""

    def of(row: Row) -> float | None:
        latencies = row.latencies.get(measure)
        return None if not latencies else latencies.percentile(percent)

    return of


def per_binding(of: Callable[[Row], int | None]) -> Callable[[Row], float | None]:
    """Return a count for each binding that became durable."""

    def each(row: Row) -> float | None:
        count = of(row)
        return None if count is None or not row.bindings else count / row.bindings

    return each


def _bytes(value: float) -> str:
    unit = 0
    while abs(value) >= _STEP and unit < len(_UNITS) - 1:
        value, unit = value / _STEP, unit + 1
    return f"{number(value)}{_UNITS[unit]}"


def _latency(measure: Measure, percent: float) -> Quantity:
    name = percentile_name(percent)
    before = "" if measure is Measure.ADMISSION else f"{measure.upper()}-"
    which = "longest" if name == "max" else name
    return Quantity(
        key=f"{measure.value}{_KEY_WORDS.get(percent, name.upper())}Ns",
        header=f"{before}{name.upper()}",
        about=f"{which} from the scheduled start to {_ENDS[measure]}",
        form=Form.DURATION,
        better=Better.LESS,
        of=percentile_of(measure, percent),
        is_bound=lambda row: row.is_lower_bound(measure, percent),
    )


_ENDS: Final = {
    Measure.ADMISSION: "the durable admission",
    Measure.START: "the start of the first container",
    Measure.RUNNING: "Running in the API",
    Measure.VISIBLE: "the device ids being visible to a reader",
}

OFFERED: Final = Quantity(
    "offeredPerSecond",
    "OFFERED/S",
    "pods offered per second",
    Form.NUMBER,
    Better.MORE,
    lambda row: row.offered_per_second,
)
ACHIEVED: Final = Quantity(
    "achievedPerSecond",
    "ACHIEVED/S",
    "pods served per second",
    Form.NUMBER,
    Better.MORE,
    lambda row: row.achieved_per_second,
)
LATENCIES: Final = {
    (measure, percent): _latency(measure, percent) for measure in Measure for percent in PERCENTILES
}
P50: Final = LATENCIES[Measure.ADMISSION, 50.0]
P99: Final = LATENCIES[Measure.ADMISSION, 99.0]
START_P50: Final = LATENCIES[Measure.START, 50.0]
START_P99: Final = LATENCIES[Measure.START, 99.0]
RUNNING_P99: Final = LATENCIES[Measure.RUNNING, 99.0]


def _count(key: str, header: str, about: str, of: Callable[[Row], float | None]) -> Quantity:
    return Quantity(key, header, about, Form.NUMBER, Better.LESS, of)


LATE: Final = _count("late", "LATE", "pods begun late by the load generator", lambda row: row.late)
SKIPPED: Final = _count("skipped", "SKIPPED", "pods not begun at all", lambda row: row.skipped)
ERRORS: Final = _count("errors", "ERRORS", "pods refused or failed", lambda row: row.errors)
WAITED: Final = _count(
    "waited", "WAITED", "pods for which no node had room at first", lambda row: row.waited
)
UNSEEN: Final = _count(
    "unseen",
    "UNSEEN",
    "pods whose device ids no reader ever saw",
    lambda row: row.unreached.get(Measure.VISIBLE, 0) if Measure.VISIBLE in row.latencies else None,
)
LOST_REPLIES: Final = _count(
    "lostReplies",
    "LOST-REPLIES",
    "replies of the API server that got lost",
    lambda row: row.lost_replies,
)
UNSERVED: Final = _count("unserved", "UNSERVED", "pods not served", lambda row: row.unserved)
FSYNCS: Final = _count(
    "fsyncs",
    "FSYNCS",
    "fsyncs of files and databases, whatever was written",
    lambda row: row.fsyncs,
)
FSYNCS_EACH: Final = _count(
    "fsyncsPerBinding",
    "FSYNCS/BINDING",
    "fsyncs per binding",
    per_binding(lambda row: row.fsyncs),
)
CALLS_EACH: Final = _count(
    "callsPerPod", "CALLS/POD", "API calls per pod", lambda row: row.calls_per_pod
)
AT_RISK: Final = _count(
    "atRiskMax",
    "AT-RISK",
    "bindings of pods that may start, and that a crash would have lost, at most",
    lambda row: row.at_risk_max,
)
AT_RISK_END: Final = _count(
    "atRiskEnd",
    "AT-RISK-END",
    "the same at the end",
    lambda row: row.at_risk_end,
)
WRITTEN: Final = Quantity(
    "bytesWritten",
    "WRITTEN",
    "bytes written to files; by an API server in whole pages",
    Form.BYTES,
    Better.LESS,
    lambda row: row.bytes_written,
)
WRITTEN_EACH: Final = Quantity(
    "bytesPerBinding",
    "WRITTEN/BINDING",
    "bytes written per binding",
    Form.BYTES,
    Better.LESS,
    per_binding(lambda row: row.bytes_written),
)
CPU_CLIENT: Final = Quantity(
    "cpuClientSeconds",
    "CPU-CLIENT",
    "CPU time of what offers load",
    Form.CPU_SECONDS,
    Better.LESS,
    lambda row: row.cpu_client_s,
)
CPU_SERVER: Final = Quantity(
    "cpuServerSeconds",
    "CPU-SERVER",
    "CPU time of what serves",
    Form.CPU_SECONDS,
    Better.LESS,
    lambda row: row.cpu_server_s,
)
CPU: Final = Quantity(
    "cpuSeconds",
    "CPU",
    "CPU time of all",
    Form.CPU_SECONDS,
    Better.LESS,
    lambda row: None if row.cpu_client_s is None else row.cpu_client_s + (row.cpu_server_s or 0),
)
MEMORY: Final = Quantity(
    "memoryPeakBytes",
    "MEMORY",
    "memory at most",
    Form.BYTES,
    Better.LESS,
    lambda row: row.memory_peak,
)


def _change(tracked: Tracked, about: str) -> Quantity:
    def of(row: Row) -> float | None:
        found = drift(row.over_time, tracked)
        return None if found is None else found.change

    first, *others = (part.upper() for part in _WORDS.split(tracked.value))
    return Quantity(
        key=f"{tracked.value}Change",
        header="-".join([first, *others, "CHANGE"]),
        about=f"{about} of the last third of the phase over that of the first, less 1",
        form=Form.CHANGE,
        better=Better.MORE if tracked is Tracked.RATE else Better.LESS,
        of=of,
    )


CHANGES: Final = {
    Tracked.RATE: _change(Tracked.RATE, "served rate"),
    Tracked.P99: _change(Tracked.P99, "p99 of admission"),
    Tracked.MEMORY: _change(Tracked.MEMORY, "memory"),
    Tracked.SERVER_MEMORY: _change(Tracked.SERVER_MEMORY, "memory of the API server"),
    Tracked.STORED: _change(Tracked.STORED, "size on disk"),
}
STALL: Final = Quantity(
    "longestStallNs",
    "STALL",
    "longest time in which nothing was served although a pod waited",
    Form.DURATION,
    Better.LESS,
    lambda row: longest_stall(row.over_time),
)
STORED: Final = Quantity(
    "storedBytes",
    "STORED",
    "size on disk of what is kept, at the end",
    Form.BYTES,
    Better.LESS,
    lambda row: row.over_time[-1].stored if row.over_time else None,
)

QUANTITIES: Final = (
    OFFERED,
    ACHIEVED,
    *LATENCIES.values(),
    LATE,
    SKIPPED,
    ERRORS,
    UNSERVED,
    WAITED,
    UNSEEN,
    FSYNCS,
    FSYNCS_EACH,
    WRITTEN,
    WRITTEN_EACH,
    CALLS_EACH,
    LOST_REPLIES,
    AT_RISK,
    AT_RISK_END,
    CPU_CLIENT,
    CPU_SERVER,
    MEMORY,
    STORED,
    STALL,
    *CHANGES.values(),
)
"""All of them, in the order in which they are printed."""
