"""The phases of a migration, and what each means: the only place that tells."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final


class Phase(Enum):
    """How far a node is on its way from the file to the database, in order."""

    CHECKPOINT = "checkpoint"
    IMPORTED = "imported"
    DUAL_WRITE = "dualWrite"
    DATABASE_PRIMARY = "databasePrimary"
    DATABASE = "database"


class Side(Enum):
    """One of the two that can hold a node's bindings."""

    FILE = "checkpoint"
    DATABASE = "database"


@dataclass(frozen=True, slots=True)
class Regime:
    """What a phase means to a kubelet.

    Attributes:
        believed: What counts at a start when both sides can be read and differ.
        writes_file, writes_rows: Which sides every change is written to.
    """

    believed: Side
    writes_file: bool
    writes_rows: bool

    @property
    def writes_both(self) -> bool:
        """Whether every change goes to both sides."""
        return self.writes_file and self.writes_rows


_FILE_ALONE: Final = Regime(Side.FILE, writes_file=True, writes_rows=False)
_REGIMES: Final = {
    Phase.CHECKPOINT: _FILE_ALONE,
    Phase.IMPORTED: _FILE_ALONE,
    Phase.DUAL_WRITE: Regime(Side.FILE, writes_file=True, writes_rows=True),
    Phase.DATABASE_PRIMARY: Regime(Side.DATABASE, writes_file=True, writes_rows=True),
    Phase.DATABASE: Regime(Side.DATABASE, writes_file=False, writes_rows=True),
}
_ORDER: Final = tuple(Phase)


def regime_of(phase: Phase) -> Regime:
    """Return what a phase means."""
    return _REGIMES[phase]


def meaning_of(phase: Phase) -> str:
    """Say what a phase means."""
    regime = regime_of(phase)
    believed = "the file" if regime.believed is Side.FILE else "the database"
    if regime.writes_both:
        return f"both are written, {believed} is believed"
    return f"{believed} alone is written and believed"


def route(start: Phase, end: Phase) -> tuple[Phase, ...]:
    """Return the phases on the way from `start` to `end`, each a neighbour of the one before."""
    here, there = _ORDER.index(start), _ORDER.index(end)
    if here <= there:
        return _ORDER[here + 1 : there + 1]
    return tuple(reversed(_ORDER[there:here]))
