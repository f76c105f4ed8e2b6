"""What `rebind checkpoint import` does: a file becomes a node's state, or nothing changes."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

import click

from scenarios.kubernetes.pod_identities import read_pod_identities
from simulator.assembly.stores import opened_store, store_to_try
from simulator.cli.checkpoint_files import CheckpointFile
from simulator.core.behavior import Behavior, CheckpointFormat
from simulator.core.checkpoint.bindings import BindingsRead, read_bindings
from simulator.core.checkpoint.render import render
from simulator.core.instants import Instant
from simulator.core.plurals import counted
from simulator.core.transitions import CheckpointImported, NodeName, OnConflict
from simulator.errors import ImportRefusedError
from simulator.ports import Refused
from simulator.reports.text import printable


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """How a file is imported.

    Attributes:
        pods: Manifests that give names to the file's uids.
    """

    db: str
    node: NodeName
    behavior: Behavior
    on_conflict: OnConflict
    replace: bool
    dry_run: bool
    pods: tuple[Path, ...]


def import_checkpoint(file: CheckpointFile, options: ImportOptions) -> None:
    """Import a file and say what came of it.

    Raises:
        ImportRefusedError: Two pods have one device, or the node has other state.
        StoreError: The database cannot be used.
        ManifestError: A file of manifests is not valid.
    """
    checkpoint = file.inspection.checkpoint
    lenient = options.behavior.lenient_allocate_responses
    read = read_bindings(checkpoint, lenient=lenient)
    transition = CheckpointImported(
        node=options.node,
        at=Instant(time.time_ns()),
        content=_content(file),
        bindings=read.bindings,
        registered=tuple(
            (resource, ids or ()) for resource, ids in (checkpoint.registered or {}).items()
        ),
        on_conflict=options.on_conflict,
        replace=options.replace,
        pods=tuple(
            identity
            for path in options.pods
            for identity in read_pod_identities(path.read_bytes(), str(path))
        ),
    )
    opened = store_to_try(options.db) if options.dry_run else opened_store(options.db)
    with opened as store:
        before = store.load(options.node).revision
        (outcome,) = store.apply([transition])
    if isinstance(outcome, Refused):
        reason = f"{file.path} is not imported: {outcome.message}"
        raise ImportRefusedError(reason)
    _tell(file, read, options)
    changed = "unchanged" if outcome.revision == before else "imported"
    trial = " (dry run)" if options.dry_run else ""
    pods = len({binding.pod for binding in read.bindings})
    click.echo(
        f"node/{options.node} {changed}{trial}: "
        f"{counted(len(read.bindings), 'binding')} of {counted(pods, 'pod')}, "
        f"revision {outcome.revision}"
    )


def _content(file: CheckpointFile) -> bytes:
    """Return what an export gives back: never a wrong checksum, which no kubelet would read."""
    return file.content if file.inspection.is_valid else render(file.inspection.checkpoint)


def _tell(file: CheckpointFile, read: BindingsRead, options: ImportOptions) -> None:
    inspection = file.inspection
    if not inspection.is_valid:
        warning = (
            f"warning: {file.path} states checksum {inspection.found}, its content has "
            f"{inspection.computed}: no kubelet would read it, and what it says may be damaged; "
            "an export will state the right one"
        )
        click.echo(printable(warning), err=True)
    form = inspection.checkpoint.format
    if read.bindings and form is not CheckpointFormat.V2:
        note = (
            f"note: format {form.value} names no NUMA nodes; node 0 is assumed for all devices, "
            "as the kubelets from 1.20.14 to 1.29 do that read such a file"
        )
        click.echo(note, err=True)
    undecodable = (
        f"a kubelet of version {options.behavior.version} cannot decode the plugin's response"
    )
    for entries, reason in (
        (read.skipped, undecodable),
        (read.repeated, "a later entry replaces it"),
    ):
        for entry in entries:
            name = f"{entry.pod}/{entry.container}/{entry.resource}"
            click.echo(printable(f"skipped: {name}: {reason}"), err=True)
