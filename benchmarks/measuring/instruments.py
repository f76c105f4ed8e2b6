"""What the operating system says of processes, disks and the machine.

Everything is read from where the system itself counts (`/proc`), so that it holds whatever this
program believes; where the system does not tell, the answer is None and never 0.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.results.rows import MachineLoad, PlainFsync
from simulator.core.instants import Duration

_PROC: Final = Path("/proc")
_TICKS: Final = os.sysconf("SC_CLK_TCK")
_KIB: Final = 1024
_STEAL: Final = 8
"""Column of stolen time in the first line of `/proc/stat`."""
_BUSY_COLUMNS: Final = slice(1, 9)
"""User to steal; guest time is in user time already."""
_FORGET_PEAK: Final = "5"
"""Written to `clear_refs`, it makes the peak begin anew."""
_BLOCK: Final = 4096
FSYNC_SAMPLES: Final = 200
FSYNC_TIME_S: Final = 0.5
"""The plain fsync is measured so often, or for so long, whichever is over first."""
_CENT: Final = 100


@dataclass(frozen=True, slots=True)
class Usage:
    """What a process has used so far.

    Attributes:
        cpu_s: Seconds of CPU time, of all its threads.
        written: Bytes that it has given to the operating system.
        memory_peak: Bytes of memory at most.
    """

    cpu_s: float | None
    written: int | None
    memory_peak: int | None


class ProcessMeter:
    """Reads what a process uses.

    Args:
        pid: The process; None for this one.
        talks: Whether it also writes to connections, which are not to be counted: then only what
            goes to disks is, in whole pages.
        in_memory: Whether its files lie in main memory, so that none of them goes to a disk.
    """

    def __init__(
        self, pid: int | None = None, *, talks: bool = False, in_memory: bool = False
    ) -> None:
        self._is_counted = not (talks and in_memory)
        self._counter = "write_bytes:" if talks else "wchar:"
        self._folder = _PROC / ("self" if pid is None else str(pid))

    def read(self) -> Usage:
        """Return what it has used so far."""
        return Usage(self._cpu_s(), self._written(), self._memory("VmHWM:"))

    def memory(self) -> int | None:
        """Return the bytes of memory that it uses now."""
        return self._memory("VmRSS:")

    def forget_peak(self) -> None:
        """Let the peak of memory begin anew, where the system allows it."""
        with suppress(OSError):
            (self._folder / "clear_refs").write_text(_FORGET_PEAK, encoding="ascii")

    def _cpu_s(self) -> float | None:
        try:
            stat = (self._folder / "stat").read_text(encoding="utf-8", errors="replace")
        except OSError:
            return None
        # The name of the program is in parentheses, and may hold anything.
        fields = stat.rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS

    def _written(self) -> int | None:
        return _field(self._folder / "io", self._counter) if self._is_counted else None

    def _memory(self, name: str) -> int | None:
        kibibytes = _field(self._folder / "status", name)
        return None if kibibytes is None else kibibytes * _KIB


def _field(path: Path, name: str) -> int | None:
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) for line in lines if line.startswith(name)), None)


class MachineMeter:
    """Tells what else the machine did since a moment: since this was made, or last asked."""

    def __init__(self) -> None:
        self._before = _cpu_times()

    def load(self) -> MachineLoad:
        """Return the load average, and the share of stolen time since the last call."""
        before, self._before = self._before, _cpu_times()
        return MachineLoad(os.getloadavg()[0], _steal(before, self._before))


def _cpu_times() -> list[int] | None:
    try:
        first = (_PROC / "stat").read_text(encoding="ascii").splitlines()[0]
    except (OSError, IndexError):
        return None
    return [int(field) if field.isdecimal() else 0 for field in first.split()]


def _steal(before: list[int] | None, now: list[int] | None) -> float | None:
    if before is None or now is None or len(now) <= _STEAL:
        return None
    total = sum(now[_BUSY_COLUMNS]) - sum(before[_BUSY_COLUMNS])
    return (now[_STEAL] - before[_STEAL]) / total if total > 0 else 0.0


def plain_fsync(folder: Path) -> PlainFsync:
    """Measure what it costs to append a block to a file in a folder and fsync it."""
    block = bytes(_BLOCK)
    took: list[int] = []
    begun = time.monotonic()
    with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
        while len(took) < FSYNC_SAMPLES and time.monotonic() - begun < FSYNC_TIME_S:
            before = time.perf_counter_ns()
            file.write(block)
            os.fsync(file.fileno())
            took.append(time.perf_counter_ns() - before)
    quantiles = statistics.quantiles(took, n=_CENT, method="inclusive") if len(took) > 1 else took
    return PlainFsync(len(took), Duration(round(statistics.median(took))), _last(quantiles))


def _last(values: list[float] | list[int]) -> Duration:
    return Duration(round(values[-1]))
