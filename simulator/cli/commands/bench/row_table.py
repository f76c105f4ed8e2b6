"""The table of a run: a line for each setting and phase, medians over the repetitions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from benchmarks.results.merging import Merged
from benchmarks.results.naming import KNOBS, NONE, Knob, Naming
from benchmarks.results.quantities import (
    ACHIEVED,
    AT_RISK,
    CALLS_EACH,
    CHANGES,
    CPU_CLIENT,
    CPU_SERVER,
    ERRORS,
    FSYNCS,
    FSYNCS_EACH,
    LATE,
    LATENCIES,
    LOST_REPLIES,
    MEMORY,
    OFFERED,
    P50,
    P99,
    QUANTITIES,
    SKIPPED,
    STALL,
    START_P99,
    STORED,
    UNSEEN,
    UNSERVED,
    WAITED,
    WRITTEN,
    WRITTEN_EACH,
    Quantity,
    number,
)
from benchmarks.results.rows import Setting
from simulator.cli.commands.bench.cells import Figure, cell
from simulator.cli.output import Column, JsonValue, Table

_SHOWN: Final = (ACHIEVED, P50, P99, START_P99)
_TROUBLES: Final = (LATE, SKIPPED, ERRORS, WAITED)
"""What every reader must know where there is any of it."""
_WIDE: Final = (
    *(one for one in LATENCIES.values() if one not in _SHOWN),
    *(FSYNCS, FSYNCS_EACH, WRITTEN, WRITTEN_EACH, CALLS_EACH, LOST_REPLIES, AT_RISK),
    *(UNSERVED, UNSEEN, CPU_CLIENT, CPU_SERVER, MEMORY),
    *(STORED, STALL, *CHANGES.values()),
)


def row_table(merged: Sequence[Merged]) -> Table[Merged]:
    """Return the table for what is shown together: settings that all share are no columns."""
    naming = Naming(one.setting for one in merged)
    shown = naming.columns()
    phases = len({one.phase for one in merged})
    return Table(
        kind="BenchmarkRow",
        columns=(
            *(Column(knob.header, _of_setting(knob.value), if_any=True) for knob in shown),
            Column("PHASE", lambda one: one.phase, wide=phases == 1),
            Column(OFFERED.header, _offered),
            *(Column(one.header, _figure(one), if_any=True) for one in _SHOWN),
            *(
                Column(one.header, _figure(one), short=_trouble(one), if_any=True)
                for one in _TROUBLES
            ),
            *(Column(one.header, _figure(one), wide=True) for one in _WIDE),
            *(
                Column(knob.header, _of_setting(knob.value), wide=True)
                for knob in KNOBS
                if knob not in shown and not knob.is_batch
            ),
            Column("REPETITIONS", lambda one: len(one.rows), wide=True),
        ),
        name=lambda one: f"row/{'-'.join(naming.name(one.setting).split(', '))}/{one.phase}",
        document=row_document,
        nothing="nothing was measured",
    )


def row_document(one: Merged) -> dict[str, JsonValue]:
    """Return a line of the table with every figure: its median, its least and its most."""
    figures: dict[str, JsonValue] = {}
    for quantity in QUANTITIES:
        spread = one.spread(quantity.of)
        if spread is None:
            figures[quantity.key] = None
        else:
            ends = {"least": spread.least, "most": spread.most}
            bound = {"lowerBound": True} if one.is_bound(quantity) else {}
            figures[quantity.key] = {"median": spread.median, **ends, **bound}
    return {
        "setting": setting_document(one.setting),
        "phase": one.phase,
        "repetitions": len(one.rows),
        "figures": figures,
    }


def setting_document(setting: Setting) -> dict[str, JsonValue]:
    """Return a setting with the values that its cells have."""
    return {_key(knob): knob.value(setting) for knob in KNOBS}


def _offered(one: Merged) -> float:
    offered = sum(row.offered_per_second for row in one.rows) / len(one.rows)
    return Figure(offered, number(offered))


def _key(knob: Knob) -> str:
    first, *others = knob.header.lower().split("-")
    return first + "".join(map(str.capitalize, others))


def _of_setting(value: Callable[[Setting], str | int]) -> Callable[[Merged], str | int]:
    return lambda one: value(one.setting)


def _figure(quantity: Quantity) -> Callable[[Merged], str | float]:
    def shown(one: Merged) -> str | float:
        return cell(one, quantity, bound="≥" if one.is_bound(quantity) else "")

    return shown


def _trouble(quantity: Quantity) -> Callable[[Merged], str | float]:
    """Return what shows a count only where it is not 0."""

    def shown(one: Merged) -> str | float:
        return cell(one, quantity) if any(map(quantity.of, one.rows)) else NONE

    return shown
