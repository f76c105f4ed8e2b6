"""How far a node's migration between file and database is, and what its kubelet knows of it."""

from __future__ import annotations

from typing import Final

from simulator.core.behavior import Reservations
from simulator.core.migration.phases import Phase, Regime, Side, regime_of
from simulator.core.persistence.choosing import STRATEGIES
from simulator.core.transitions import NodeName, NodeState
from simulator.engine.spec import SimulationSpec
from simulator.engine.storage_ports import NodeDatabase
from simulator.errors import StoreError

_STARTS: Final = {"database": Phase.DATABASE, "dual-write": Phase.DUAL_WRITE}
"""All others begin with the file, or with nothing that could be migrated."""

_NOTHING_ON_NODE: Final = Regime(Side.FILE, writes_file=False, writes_rows=False)


def start_phase(run: SimulationSpec) -> Phase:
    """Return the phase in which the nodes of a run begin."""
    if dict(run.persistence_options).get("databasePrimary", False):
        return Phase.DATABASE_PRIMARY
    return _STARTS.get(run.persistence, Phase.CHECKPOINT)


def keeps_database(run: SimulationSpec) -> bool:
    """Tell whether the nodes of a run have a database, now or in the course of it."""
    kept = STRATEGIES[run.persistence]
    return kept.in_rows or (run.migrates and kept.migrates)


def reservations_of(run: SimulationSpec, phase: Phase | None = None) -> Reservations:
    """Return what a failed allocation leaves behind: the persistence's own default, or as asked.

    Args:
        run: The run.
        phase: The node's phase; None for that in which the run begins.
    """
    if run.reservations is not None:
        return run.reservations
    rows = regime_of(phase or start_phase(run)).writes_rows
    return Reservations.TRANSACTIONAL if rows else Reservations.UPSTREAM


class NodePhase:
    """The phase of one node.

    Attributes:
        unless_told: The phase while the database says none.
        is_asked: Whether the kubelet is configured to ask the database for the phase: from the
            first step of a migration until the node is back at `checkpoint`.
    """

    def __init__(self, node: NodeName, run: SimulationSpec, database: NodeDatabase | None) -> None:
        self.unless_told = start_phase(run)
        self.is_asked = regime_of(self.unless_told).writes_both
        self._node = node
        self._run = run
        self._database = database
        self._seen: object = None
        self._rows: NodeState | str = ""
        self._told: Phase | None = None

    @property
    def phase(self) -> Phase:
        """The phase as it is durable; the last known one while the database cannot be read."""
        if self.is_asked:
            rows = self.rows()
            if isinstance(rows, NodeState):
                self._told = rows.phase
        return (self._told if self.is_asked else None) or self.unless_told

    def leave_database(self) -> None:
        """Configure the kubelet to use the file alone."""
        self.is_asked = False
        self.unless_told = Phase.CHECKPOINT

    def rows(self) -> NodeState | str:
        """Return what the database has of the node, or why it cannot be read."""
        database = self._database
        if database is None:
            return "there is no database"
        seen = (database.store, database.commits, database.damage)
        if seen != self._seen:
            self._seen = seen
            self._rows = database.damage or _read(database, self._node)
        return self._rows

    @property
    def regime(self) -> Regime:
        """What the phase means."""
        kept = STRATEGIES[self._run.persistence]
        return regime_of(self.phase) if kept.in_file or kept.in_rows else _NOTHING_ON_NODE

    @property
    def uses_database(self) -> bool:
        """Whether the kubelet has anything to do with the database."""
        return self._database is not None and (self.is_asked or self.regime.writes_rows)

    @property
    def reservations(self) -> Reservations:
        """What a failed allocation leaves behind."""
        return reservations_of(self._run, self.phase)


def _read(database: NodeDatabase, node: NodeName) -> NodeState | str:
    try:
        return database.store.load(node)
    except StoreError as error:
        return str(error)
