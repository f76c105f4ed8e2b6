"""Moving a node from phase to phase, one neighbour after the other, effect by effect.

The table `_MOVES` is the state machine of `simulator.core.migration`. The kubelet is stopped, so
nobody else writes the file or the rows.
"""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType
from typing import Final

from simulator.core.calls import (
    Commit,
    Conflict,
    SetCheckpointAside,
    StoreCall,
    StoreDecision,
    StoreFailed,
    WriteCheckpoint,
)
from simulator.core.checkpoint.bindings import checkpoint_of
from simulator.core.checkpoint.render import render
from simulator.core.migration.agreement import pods_of
from simulator.core.migration.phases import Phase, Side, meaning_of, regime_of, route
from simulator.core.migration.repair import repair_rows
from simulator.core.migration.survey import Migration, MigrationRefused, Survey, survey
from simulator.core.plurals import counted
from simulator.core.records import MigrationStep, StatesDiffer, StateWritten
from simulator.core.transitions import (
    CheckpointImported,
    PhaseChanged,
    PodsReleased,
    ResourceRemoved,
    Transition,
)

Outcome = str | MigrationRefused
"""What was done, or why nothing was."""
_Move = Callable[[Migration, Survey], StoreDecision[Outcome]]


def migrate(job: Migration, to: Phase) -> StoreDecision[Survey | MigrationRefused]:
    """Bring a node to a phase; what was broken off before is finished first.

    Each phase that begins is a `MigrationStep` record, and so is the one that does not. What was
    reached before a refusal stays.

    Returns:
        What is true in the end.
    """
    found = yield from _settled(job, to)
    while isinstance(found, Survey) and found.phase is not to:
        target = route(found.phase, to)[0]
        outcome = yield from _MOVES[found.phase, target](job, found)
        if isinstance(outcome, MigrationRefused):
            job.records.append(MigrationStep(target.value, "", outcome.reason))
            return outcome
        job.records.append(MigrationStep(target.value, outcome))
        found = yield from _settled(job, to)
    return found


def _settled(job: Migration, to: Phase) -> StoreDecision[Survey | MigrationRefused]:
    """Look at a node, and finish what the last move left: then both sides say the same."""
    found = yield from survey(job)
    if isinstance(found, MigrationRefused):
        job.records.append(MigrationStep(to.value, "", found.reason))
        return found
    outcome: Outcome = ""
    if found.regime.writes_both and not found.compared.holds:
        outcome = yield from _agree(job, found)
    elif found.phase is to is Phase.DATABASE and found.file.content is not None:
        outcome = yield from _set_aside(job)
        if not isinstance(outcome, MigrationRefused):
            job.records.append(MigrationStep(to.value, "a file that nobody writes is set aside"))
    if isinstance(outcome, MigrationRefused):
        job.records.append(MigrationStep(found.phase.value, "", outcome.reason))
        return outcome
    if not outcome:
        return found
    found = yield from survey(job)
    if isinstance(found, Survey) and found.regime.writes_both and not found.compared.holds:
        reason = f"file and rows still differ: {found.compared.detail}"
        job.records.append(MigrationStep(found.phase.value, "", reason))
        return MigrationRefused(reason)
    return found


def _agree(job: Migration, found: Survey) -> StoreDecision[Outcome]:
    """Make the side that is not believed say what the other one says."""
    compared = found.compared
    job.records.append(StatesDiffer(compared.believed.value, compared.detail))
    if compared.believed is Side.FILE:
        error = yield from repair_rows(job.node, job.now, compared)
        size = len(compared.differing)
        job.records.append(StateWritten("database", "repair", size, error))
        return MigrationRefused(f"the rows cannot follow the file: {error}") if error else "rows"
    error = yield from _write_file(job, found, "repair")
    return _unusable(f"the file cannot be written: {error}") if error else "file"


def _import_file(phase: Phase) -> _Move:
    """Return the move that imports the file; the phase begins in the same transaction."""

    def move(job: Migration, found: Survey) -> StoreDecision[Outcome]:
        content = found.file.content
        if content is None and not found.file.error and job.missing_ok and not found.has_rows:
            nothing = checkpoint_of((), (), job.behavior.checkpoint_written)
            content = render(nothing, legacy_escapes=job.behavior.legacy_json_escapes)
        elif found.file.checkpoint is None or content is None:
            return _unreadable(job, found)
        if regime_of(phase).writes_both:
            # A kubelet does not fsync the directory: the file before this one could come back with
            # a loss of power, and it would count (W10).
            error = yield from _done(WriteCheckpoint(content, "migration", directory_synced=True))
            if error:
                return _unusable(f"the file cannot be written: {error}")
        listed = (found.file.checkpoint and found.file.checkpoint.registered) or {}
        imported = CheckpointImported(
            node=job.node,
            at=job.now,
            content=content,
            bindings=found.file.bindings,
            registered=tuple((resource, ids or ()) for resource, ids in listed.items()),
            on_conflict=job.on_conflict,
            replace=job.replace or found.phase is not Phase.CHECKPOINT,
            pods=job.pods,
            phase=phase,
        )
        error = yield from _done(Commit((imported,)))
        if error:
            return MigrationRefused(f"the file is not imported: {error}")
        skipped = counted(found.file.skipped, "entry", "entries")
        left_out = f", {skipped} left out" if found.file.skipped else ""
        return f"{_amount(found, Side.FILE)} in the database{left_out}; {meaning_of(phase)}"

    return move


def _begin(phase: Phase) -> _Move:
    """Return the move that is nothing but the phase: both sides say the same."""

    def move(job: Migration, found: Survey) -> StoreDecision[Outcome]:
        error = yield from _done(Commit((PhaseChanged(job.node, job.now, phase),)))
        if error:
            return _unusable(f"the phase cannot be kept: {error}")
        return f"{_amount(found, found.believed)} in both; {meaning_of(phase)}"

    return move


def _retire_file(job: Migration, found: Survey) -> StoreDecision[Outcome]:
    """Set the file aside, and then let the database be alone, which keeps the file's bytes."""
    outcome = yield from _set_aside(job)
    if isinstance(outcome, MigrationRefused):
        return outcome
    retired = PhaseChanged(job.node, job.now, Phase.DATABASE, found.file.content)
    error = yield from _done(Commit((retired,)))
    if error:
        return _unusable(f"the phase cannot be kept: {error}")
    return f"the file is set aside; {meaning_of(Phase.DATABASE)}"


def _set_aside(job: Migration) -> StoreDecision[Outcome]:
    error = yield from _done(SetCheckpointAside())
    if error:
        return _unusable(f"the file cannot be set aside: {error}")
    job.records.append(StateWritten("checkpoint", "retirement", 0))
    return "aside"


def _write_file_again(job: Migration, found: Survey) -> StoreDecision[Outcome]:
    """Begin to write both, then write the file; broken off, the next survey finds it missing."""
    error = yield from _done(Commit((PhaseChanged(job.node, job.now, Phase.DATABASE_PRIMARY),)))
    if error:
        return _unusable(f"the phase cannot be kept: {error}")
    error = yield from _write_file(job, found, "migration")
    if error:
        return _unusable(f"the file cannot be written: {error}")
    return f"{_amount(found, Side.DATABASE)} in the file; {meaning_of(Phase.DATABASE_PRIMARY)}"


def _write_file(job: Migration, found: Survey, cause: str) -> StoreDecision[str]:
    """Write the rows as the file; return why that failed, or nothing."""
    content = found.exported(job.behavior)
    error = yield from _done(WriteCheckpoint(content, cause, directory_synced=True))
    job.records.append(StateWritten("checkpoint", cause, len(content), error))
    return error


def _end_rows(job: Migration, found: Survey) -> StoreDecision[Outcome]:
    """End the rows, if the file, which counts, can be read; their history stays."""
    if found.file.checkpoint is None and found.has_rows:
        return _unreadable(job, found)
    rows = found.rows
    transitions: list[Transition] = []
    if rows.bindings:
        transitions.append(PodsReleased(job.node, job.now, pods_of(rows.bindings)))
    transitions += [ResourceRemoved(job.node, job.now, one) for one in rows.registered]
    transitions.append(PhaseChanged(job.node, job.now, Phase.CHECKPOINT))
    error = yield from _done(Commit(tuple(transitions)))
    if error:
        return _unusable(f"the rows cannot be ended: {error}")
    return f"{_amount(found, Side.DATABASE)} ended in the database; {meaning_of(Phase.CHECKPOINT)}"


_MOVES: Final = MappingProxyType(
    {
        (Phase.CHECKPOINT, Phase.IMPORTED): _import_file(Phase.IMPORTED),
        (Phase.IMPORTED, Phase.DUAL_WRITE): _import_file(Phase.DUAL_WRITE),
        (Phase.DUAL_WRITE, Phase.DATABASE_PRIMARY): _begin(Phase.DATABASE_PRIMARY),
        (Phase.DATABASE_PRIMARY, Phase.DATABASE): _retire_file,
        (Phase.DATABASE, Phase.DATABASE_PRIMARY): _write_file_again,
        (Phase.DATABASE_PRIMARY, Phase.DUAL_WRITE): _begin(Phase.DUAL_WRITE),
        (Phase.DUAL_WRITE, Phase.IMPORTED): _begin(Phase.IMPORTED),
        (Phase.IMPORTED, Phase.CHECKPOINT): _end_rows,
    }
)


def _done(call: StoreCall) -> StoreDecision[str]:
    """Make a call; return why it failed, or nothing."""
    reply = yield call
    return reply.message if isinstance(reply, StoreFailed | Conflict) else ""


def _unusable(reason: str) -> MigrationRefused:
    return MigrationRefused(reason, unusable=True)


def _unreadable(job: Migration, found: Survey) -> MigrationRefused:
    """Refuse to go on without the file, which counts in this phase."""
    if found.file.error:
        reason = (
            f"kubelet {job.behavior.version} cannot read the checkpoint file: {found.file.error}; "
            "put a sound file there, or name the version that wrote it"
        )
        return MigrationRefused(reason, damaged=True)
    remedy = (
        f"put it back; what the import had: rebind checkpoint export --node {job.node}"
        if found.has_rows
        else "put it back, or say --missing-ok if the node has no bindings"
    )
    return _unusable(f"there is no checkpoint file, which counts in this phase; {remedy}")


def _amount(found: Survey, side: Side) -> str:
    bindings = found.file.bindings if side is Side.FILE else found.rows.bindings
    return f"{counted(len(bindings), 'binding')} of {counted(len(pods_of(bindings)), 'pod')}"
