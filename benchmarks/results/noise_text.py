"""What a run was measured on, and what may have blurred it, in a few lines."""

from __future__ import annotations

from typing import Final

from benchmarks.results.quantities import Form, text
from benchmarks.results.rows import MachineFacts, MachineLoad, Noise, Result

_STEAL_MUCH: Final = 0.05


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
    return f"noise: {', '.join(parts)}{steal}{_warning(noise, machine)}"


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


def _load(load: MachineLoad) -> str:
    return f"{load.average:.1f}"


def _warning(noise: Noise, machine: MachineFacts) -> str:
    """Return what makes the figures doubtful; empty when nothing does, as in virtual time."""
    if noise.fsync is None:
        return ""
    if noise.before.average > machine.cpus:
        return f"; the machine was busy before the run (load above {machine.cpus} CPUs)"
    if any(one and (one.steal or 0) > _STEAL_MUCH for one in (noise.before, noise.after)):
        return f"; other machines took more than {_STEAL_MUCH:.0%} of the CPU time"
    return ""
