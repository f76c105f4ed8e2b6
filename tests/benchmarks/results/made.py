"""Rows with chosen figures, so that tests know what has to come out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from benchmarks.results.latencies import Latencies
from benchmarks.results.merging import Merged
from benchmarks.results.rows import Measure, Row, Setting
from simulator.core.instants import MILLISECOND

_PODS: Final = 100


def latencies_ms(*milliseconds: float) -> Latencies:
    """Return latencies."""
    return Latencies(round(one * MILLISECOND) for one in milliseconds)


def made(
    setting: Setting,
    *,
    phase: str = "churn",
    rate: float = 100.0,
    served: float = 1.0,
    repetition: int = 1,
    **milliseconds: float,
) -> Row:
    """Return a row of a second.

    Args:
        setting: Its setting.
        phase: Its phase.
        rate: Pods offered per second.
        served: The share of them that was served.
        repetition: Its number.
        milliseconds: Every latency of a measure.
    """
    latencies: Mapping[Measure, Latencies] = {
        Measure(name): Latencies([round(value * MILLISECOND)] * _PODS)
        for name, value in milliseconds.items()
    }
    return Row(
        setting=setting,
        phase=phase,
        repetition=repetition,
        seconds=1.0,
        elapsed=1.0,
        offered=round(rate),
        served=round(rate * served),
        latencies=latencies,
        bindings=round(rate * served),
    )


def repeated(setting: Setting, start: Sequence[float], *, phase: str = "churn") -> Merged:
    """Return repetitions whose pods take so many milliseconds to start."""
    rows = [
        made(setting, phase=phase, repetition=number, admission=value / 10, start=value)
        for number, value in enumerate(start, 1)
    ]
    return Merged(setting, phase, tuple(rows))
