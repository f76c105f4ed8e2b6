"""Slices of a long phase with chosen figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from benchmarks.results.rows import Row, Setting
from benchmarks.results.slices import Slice
from simulator.core.instants import MILLISECOND, Duration
from tests.benchmarks.results.made import made

MIB: Final = 1 << 20
SECONDS: Final = 10.0


def slices(  # noqa: PLR0913 - one for each figure
    *,
    count: int = 60,
    served: Sequence[int] = (1_000,),
    p99_ms: Sequence[float] = (10,),
    memory: Sequence[float] = (100,),
    stored: Sequence[float] = (50,),
    stall_ms: Sequence[float] = (20,),
) -> tuple[Slice, ...]:
    """Return slices of 10 s; of shorter lists each value holds for as many slices; in MiB."""

    def at(values: Sequence[float], number: int) -> float:
        return values[number * len(values) // count]

    return tuple(
        Slice(
            end=SECONDS * (number + 1),
            seconds=SECONDS,
            served=int(at(served, number)),
            p50=Duration(2 * MILLISECOND),
            p99=Duration(round(at(p99_ms, number) * MILLISECOND)),
            longest=Duration(round(2 * at(p99_ms, number) * MILLISECOND)),
            stall=Duration(round(at(stall_ms, number) * MILLISECOND)),
            memory=round(at(memory, number) * MIB),
            stored=round(at(stored, number) * MIB),
        )
        for number in range(count)
    )


def long_row(setting: Setting, over_time: tuple[Slice, ...], *, repetition: int = 1) -> Row:
    """Return the row of a long phase."""
    row = made(setting, phase="soak", admission=5, repetition=repetition)
    return replace(row, seconds=len(over_time) * SECONDS, over_time=over_time)
