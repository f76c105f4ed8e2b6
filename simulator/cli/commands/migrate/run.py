"""What `rebind migrate` does: plans and makes the steps, and tells what is true."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import click

from scenarios.kubernetes.pod_identities import read_pod_identities
from simulator.assembly.stores import opened_store, outlives_its_process, store_to_try
from simulator.cli.commands.migrate.stopped_node import (
    FileToTry,
    NodeFiles,
    StoppedNode,
    alone_in,
    kubelet_serves,
)
from simulator.cli.commands.migrate.texts import (
    line_of,
    show_plan,
    show_survey,
    step_document,
)
from simulator.cli.output import OutputOptions, emit_document
from simulator.core.behavior import Behavior
from simulator.core.instants import Instant
from simulator.core.migration.phases import Phase
from simulator.core.migration.steps import migrate
from simulator.core.migration.survey import Migration, MigrationRefused, Survey, survey
from simulator.core.records import Record
from simulator.core.transitions import NodeName, OnConflict
from simulator.errors import (
    CheckpointError,
    ConfigError,
    ImportRefusedError,
    RebindError,
    StoreError,
    StoreUnavailableError,
)
from simulator.reports.text import printable


@dataclass(frozen=True, slots=True)
class Request:
    """A node, and how it is to be migrated.

    Attributes:
        file: Its checkpoint file.
        behavior: Its kubelet version.
        replace: Whether rows that no migration brought may be dropped.
        missing_ok: Whether a missing file is an empty one.
        pods: Manifests that give names to the file's uids.
    """

    node: NodeName
    file: Path
    db: str
    behavior: Behavior
    on_conflict: OnConflict = OnConflict.REFUSE
    replace: bool = False
    missing_ok: bool = False
    pods: tuple[Path, ...] = ()

    def job(self) -> Migration:
        """Return the migration, as of now."""
        return Migration(
            node=self.node,
            now=Instant(time.time_ns()),
            behavior=self.behavior,
            on_conflict=self.on_conflict,
            replace=self.replace,
            missing_ok=self.missing_ok,
            pods=tuple(
                identity
                for path in self.pods
                for identity in read_pod_identities(path.read_bytes(), str(path))
            ),
        )


@dataclass(slots=True)
class _Progress:
    """What a migration has done so far, shown while it goes on if it is for people."""

    job: Migration
    shows: bool
    records: list[Record] = field(default_factory=list)

    def made(self) -> None:
        """Take the records of the last step, and the time."""
        new, self.job.records = self.job.records, []
        self.job.now = Instant(time.time_ns())
        for record in new:
            self.records.append(record)
            line = line_of(record) if self.shows else ""
            if line:
                click.echo(printable(line))


def plan_migration(request: Request, to: Phase, output: OutputOptions) -> bool:
    """Print the steps to a phase and what each would do; return whether all could be made.

    Raises:
        StoreError: File or database cannot be read.
    """
    file = FileToTry(NodeFiles(request.file))
    with store_to_try(request.db) as store:
        node = StoppedNode(request.node, store, file)
        progress = _Progress(request.job(), shows=False)
        found = _found(request, node.run(survey(progress.job)))
        outcome = node.run(migrate(progress.job, to), progress.made)
    show_plan(request.node, request.file, found, progress.records, output)
    return isinstance(outcome, Survey)


def run_migration(request: Request, to: Phase, output: OutputOptions, *, forward: bool) -> None:
    """Bring a node to a phase and print each step.

    Raises:
        ConfigError: The phase lies in the other direction, or the database would not last.
        CheckpointError: The file is damaged.
        ImportRefusedError: A step is refused.
        StoreError: File or database cannot be used, or someone else is at work.
    """
    if not outlives_its_process(request.db):
        reason = f"{request.db!r} is in memory and ends with this command; name a database to keep"
        raise ConfigError(reason)
    files = NodeFiles(request.file)
    with alone_in(files.path.absolute().parent):
        _try_without_database(request, files, to, forward=forward)
        with opened_store(request.db) as store:
            node = StoppedNode(request.node, store, files)
            progress = _Progress(request.job(), shows=output.format == "table")
            found = _found(request, node.run(survey(progress.job)))
            _check_direction(request, found.phase, to, forward=forward)
            outcome: Survey | MigrationRefused
            with _what_was_done(request, progress, output):
                outcome = node.run(migrate(progress.job, to), progress.made)
                _found(request, outcome)
    if not progress.records and output.format == "table":
        click.echo(f"node/{request.node} unchanged: it is at {to.value}")


def show_status(request: Request, output: OutputOptions) -> bool:
    """Print what is true of a node; return whether that is what its phase says.

    Raises:
        StoreError: The database cannot be read.
    """
    files = NodeFiles(request.file)
    with opened_store(request.db, read_only=True) as store:
        node = StoppedNode(request.node, store, files)
        found = _found(request, node.run(survey(request.job())))
    runs = kubelet_serves(files.path.absolute().parent)
    return show_survey(request.node, files, found, output, kubelet_runs=runs)


@contextlib.contextmanager
def _what_was_done(request: Request, progress: _Progress, output: OutputOptions) -> Iterator[None]:
    """Print what was done as one document, also when it ends with an error."""
    try:
        yield
    finally:
        progress.made()
        if output.format != "table":
            steps = [step_document(one) for one in progress.records if step_document(one)]
            emit_document("Migration", {"node": request.node, "steps": steps}, output)


def _try_without_database(request: Request, files: NodeFiles, to: Phase, *, forward: bool) -> None:
    """Make the steps on an empty database first, where there is none: a refusal makes none.

    Raises:
        StoreError: There is no database from which to go back, or a step is refused.
    """
    try:
        with opened_store(request.db, read_only=True):
            return
    except StoreError:
        if not forward:
            raise
    with store_to_try(request.db) as store:  # One that is there and unusable is told first.
        node = StoppedNode(request.node, store, FileToTry(files))
        _found(request, node.run(migrate(request.job(), to)))


def _check_direction(request: Request, now: Phase, to: Phase, *, forward: bool) -> None:
    order = list(Phase)
    wrong = order.index(to) < order.index(now) if forward else order.index(to) > order.index(now)
    if wrong:
        command = "back" if forward else "run"
        reason = (
            f"node {request.node} is at {now.value}; to get to {to.value}, "
            f"use: rebind migrate {command} --node {request.node} --to {to.value}"
        )
        raise ConfigError(reason)


def _found(request: Request, outcome: Survey | MigrationRefused) -> Survey:
    """Return what is true.

    Raises:
        RebindError: A step was refused.
    """
    if isinstance(outcome, Survey):
        return outcome
    kind: type[RebindError] = ImportRefusedError
    if outcome.unusable:
        kind = StoreUnavailableError
    elif outcome.damaged:
        kind = CheckpointError
    reason = f"node {request.node}, {request.file}: {outcome.reason}"
    raise kind(reason)
