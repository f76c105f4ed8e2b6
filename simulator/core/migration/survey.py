"""What is true of a node at this moment: its phase, its file, its rows, and whether they agree."""

from __future__ import annotations

from dataclasses import dataclass, field

from simulator.core.behavior import Behavior
from simulator.core.calls import (
    LoadState,
    ReadCheckpoint,
    StateLoaded,
    StoreDecision,
    StoreFailed,
)
from simulator.core.checkpoint.exporting import NodeFile, exported_file
from simulator.core.checkpoint.reading import FileState
from simulator.core.instants import Instant
from simulator.core.migration.agreement import Agreement, agreement
from simulator.core.migration.phases import Phase, Regime, Side, regime_of
from simulator.core.persistence.checkpoint import file_of
from simulator.core.records import Record
from simulator.core.transitions import NodeName, NodeState, OnConflict, PodIdentity


@dataclass(slots=True, kw_only=True)
class Migration:
    """A node that is migrated while its kubelet is stopped.

    Attributes:
        now: The present instant; the driver keeps it up to date.
        behavior: The kubelet version that wrote the file and will read it.
        unless_told: The phase of a node of which the database says none; None to look at what is
            there.
        on_conflict: What an import does with a device that stands under two pods.
        replace: Whether rows that no migration brought may be dropped by the import.
        missing_ok: Whether a node without a file is one without bindings.
        pods: Names for uids of the file, where they are known.
        records: What happened.
    """

    node: NodeName
    now: Instant
    behavior: Behavior
    unless_told: Phase | None = None
    on_conflict: OnConflict = OnConflict.REFUSE
    replace: bool = False
    missing_ok: bool = False
    pods: tuple[PodIdentity, ...] = ()
    records: list[Record] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class MigrationRefused:
    """A step cannot be made, and changed nothing.

    Attributes:
        reason: What was found and what to do.
        unusable: Whether a file or database cannot be used, rather than what it says.
        damaged: Whether the file cannot be read.
    """

    reason: str
    unusable: bool = False
    damaged: bool = False


@dataclass(frozen=True, slots=True)
class Survey:
    """What was found.

    Attributes:
        phase: The node's phase.
        is_recorded: Whether the database says so; else it follows from what is there.
        file: The file, as the kubelet version reads it.
        rows: What the database has.
        own: What a file written from the rows needs.
        compared: File and rows, compared as under a phase in which both are written.
    """

    phase: Phase
    is_recorded: bool
    file: FileState
    rows: NodeState
    own: NodeFile
    compared: Agreement

    @property
    def regime(self) -> Regime:
        """What the phase means."""
        return regime_of(self.phase)

    @property
    def believed(self) -> Side:
        """The side from which a kubelet that starts now restores its bindings."""
        return self.compared.believed if self.regime.writes_both else self.regime.believed

    @property
    def has_rows(self) -> bool:
        """Whether the rows say anything."""
        return bool(self.rows.bindings or self.rows.registered)

    def exported(self, behavior: Behavior) -> bytes:
        """Return the rows as this kubelet version's file."""
        return exported_file(self.rows, self.own, behavior, behavior.checkpoint_written)


def survey(job: Migration) -> StoreDecision[Survey | MigrationRefused]:
    """Look at phase, file and rows; the file is compared, whatever the phase says of it."""
    reply = yield LoadState(with_file=True)
    if not isinstance(reply, StateLoaded):
        error = reply.message if isinstance(reply, StoreFailed) else str(reply)
        return MigrationRefused(f"the database cannot be read: {error}", unusable=True)
    file = file_of((yield ReadCheckpoint()), job.behavior)
    rows = reply.state
    phase = rows.phase or job.unless_told or _likely(file, rows)
    return Survey(
        phase=phase,
        is_recorded=rows.phase is not None,
        file=file,
        rows=rows,
        own=reply.file or NodeFile(),
        compared=agreement(regime_of(phase), file, rows),
    )


def _likely(file: FileState, rows: NodeState) -> Phase:
    """Return the phase of a node that was never migrated: with rows and no file, the database."""
    is_missing = file.content is None and not file.error
    return Phase.DATABASE if is_missing and rows.bindings else Phase.CHECKPOINT
