"""What a run was measured on, and what may have blurred it, in a few lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from benchmarks.results.merging import Merged
from benchmarks.results.quantities import LATENCIES, Form, text
from benchmarks.results.rows import MachineFacts, MachineLoad, Noise, Result

_STEAL_MUCH: Final = 0.05
_FEW: Final = 100
"""Latencies below which their 99th percentile is that of one of them."""


def fsync_line(noise: Noise) -> str:
    """Return what a plain fsync costs here."""
    if noise.fsync is None:
        return "plain fsync: not measured, no real file is written"
    middle, tail = (text(one, Form.DURATION) for one in (noise.fsync.p50, noise.fsync.p99))
    return f"plain fsync here: p50 {middle}, p99 {tail} ({noise.fsync.samples} samples)"


def noise_line(noise: Noise, machine: MachineFacts) -> str:
    """Return what else the machine did, and whether that was much."""
    parts = [f"load {_load(noise.before)} before"]
    if noise.after is not None:
        parts.append(f"{_load(noise.after)} after")
    steals = [
        f"{one.steal:.1%} {when}"
        for one, when in ((noise.before, "while idle"), (noise.after, "in the run"))
        if one is not None and one.steal is not None
    ]
    steal = f"; steal {', '.join(steals)}" if steals else "; steal unknown"
    doubt = noise_doubt(noise, machine)
    return f"noise: {', '.join(parts)}{steal}{f'; {doubt}' if doubt else ''}"


def machine_lines(result: Result) -> tuple[tuple[str, str], ...]:
    """Return the machine, the versions, the seed and the time, each with its name."""
    machine = result.machine
    parts = [f"{machine.processor} ({machine.cpus} CPUs)", machine.system]
    if machine.memory is not None:
        parts.append(text(machine.memory, Form.BYTES))
    if machine.filesystem is not None:
        parts.append(machine.filesystem)
    return (
        ("Machine", ", ".join(parts)),
        ("Versions", ", ".join(f"{name} {one}" for name, one in result.versions.items())),
        ("Seed", str(result.seed)),
        ("Started", result.started),
    )


def machine_line(result: Result) -> str:
    """Return the same in one line."""
    return "; ".join(f"{name.lower()}: {words}" for name, words in machine_lines(result) if words)


def incomplete_line(result: Result) -> str:
    """Return that a run was cut, and what there is of it; empty when it is complete."""
    if result.is_complete:
        return ""
    expected = result.expected_rows
    of = "" if expected is None else f" of {expected}"
    return f"this run was cut: {len(result.rows)}{of} rows, what was measured until then"


def cell_notes(merged: Sequence[Merged]) -> list[str]:
    """Return how to read cells that do not say what they seem to, in sentences."""
    notes = []
    if any(one.is_bound(figure) for one in merged for figure in LATENCIES.values()):
        notes.append(
            "≥ where too many pods have not come so far: they had waited that long when it ended, "
            "or never will."
        )
    counts = [len(each) for one in merged for row in one.rows for each in row.latencies.values()]
    fewest = min((count for count in counts if count), default=_FEW)
    if fewest < _FEW:
        notes.append(
            f"Where fewer than {_FEW} pods came (here {fewest}), p99 is the longest of all."
        )
    return notes


def _load(load: MachineLoad) -> str:
    return f"{load.average:.1f}"


def noise_doubt(noise: Noise, machine: MachineFacts) -> str:
    """Return what makes the figures doubtful; empty when nothing does, as in virtual time."""
    if noise.fsync is None:
        return ""
    if noise.before.average > machine.cpus:
        return f"the machine was busy before the run (load above {machine.cpus} CPUs)"
    if any(one and (one.steal or 0) > _STEAL_MUCH for one in (noise.before, noise.after)):
        return f"other machines took more than {_STEAL_MUCH:.0%} of the CPU time"
    return ""
