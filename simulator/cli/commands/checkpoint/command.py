"""`rebind checkpoint`: real checkpoint files, read, compared, imported and exported."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from simulator.cli.checkpoint_files import (
    FileName,
    max_size_option,
    read_checkpoint,
    read_importable_checkpoint,
    read_valid_checkpoint,
)
from simulator.cli.commands.checkpoint.diff import show_differences
from simulator.cli.commands.checkpoint.exporting import exported, readers, write_file
from simulator.cli.commands.checkpoint.show import show_checkpoint
from simulator.cli.commands.checkpoint.verify import show_verdict
from simulator.cli.examples import example
from simulator.cli.failures import CHECK_FAILED, EnvironmentProblem
from simulator.cli.lists import Listed, Read
from simulator.cli.output import OutputOptions, output_options
from simulator.cli.store_options import NewNodeName, conflict_option, db_option, pod_names_option
from simulator.config import DEFAULT_KUBELET_VERSION
from simulator.core.behavior import Behavior, CheckpointFormat
from simulator.core.checkpoint.differences import differences
from simulator.core.switches import behavior_for
from simulator.core.transitions import NodeName, OnConflict
from simulator.reports.text import printable

_NORMAL_ON_A_FRESH_NODE: Final = "which is normal on a node that never had a device plugin"
_FILE = FileName(path_type=Path)


@click.group(epilog=example("rebind checkpoint show kubelet_internal_checkpoint"))
def checkpoint() -> None:
    """Look into a kubelet's device-manager checkpoint files, import and export them.

    All formats are read: bare (kubelet 1.9 and before), V1 (1.10 to 1.19) and V2 (1.20 and later).
    """


@checkpoint.command(
    epilog=example(
        "rebind checkpoint show kubelet_internal_checkpoint",
        "rebind checkpoint show kubelet_internal_checkpoint -o json",
    )
)
@click.argument("file", type=_FILE)
@max_size_option
@output_options("table", "wide", "json", "yaml")
def show(file: Path, max_size: int, output: OutputOptions) -> None:
    """Show which container holds which devices, and what it is started with.

    The plugin's answer is decoded: environment, mounts, device nodes (host:container:permissions)
    and CDI names. The table shortens lists, -o wide does not.
    """
    show_checkpoint(read_valid_checkpoint(file, max_size=max_size), output)


@checkpoint.command(
    epilog=example(
        "rebind checkpoint verify kubelet_internal_checkpoint --kubelet-version 1.19,1.36.2"
    )
)
@click.argument("file", type=_FILE)
@click.option(
    "--kubelet-version",
    "kubelets",
    type=Listed("VERSION,...", behavior_for),
    default=DEFAULT_KUBELET_VERSION,
    show_default=True,
    help="Kubelets whose reading of the file is shown.",
)
@max_size_option
@output_options("table", "json", "yaml")
@click.pass_context
def verify(
    context: click.Context,
    *,
    file: Path,
    kubelets: tuple[Behavior, ...],
    max_size: int,
    output: OutputOptions,
) -> None:
    """Tell whether a file is valid, what is odd about it, and what a kubelet does with it.

    For each kubelet it is said in words what its next start with the file is like: what it reads
    or loses, how it admits the pods again, and when it writes which format.

    A document (-o json, yaml) is a CheckpointVerification: file, valid, error if it is not, format,
    checksum, entries, registeredResources, kubelets (version, error, restored, skipped, lost,
    numaAssumed, refusesRunningPods, refusesAfterReboot, writes, nextStart) and warnings (kind,
    message).

    Exit codes: 0 valid (what is odd is a warning), 1 damaged, 2 not a device-manager checkpoint, 3
    missing.
    """
    if not show_verdict(file, kubelets, output, max_size=max_size):
        context.exit(CHECK_FAILED)


@checkpoint.command(
    epilog=example("rebind checkpoint diff before.checkpoint kubelet_internal_checkpoint")
)
@click.argument("before", type=_FILE)
@click.argument("after", type=_FILE)
@max_size_option
@output_options("table", "json", "yaml")
@click.pass_context
def diff(
    context: click.Context, before: Path, after: Path, max_size: int, output: OutputOptions
) -> None:
    """Show what differs between two files; the order of entries and ids says nothing.

    Exit codes: 0 equal, 1 different, 2 one of them is damaged, 3 one of them is missing.
    """
    found = differences(
        read_valid_checkpoint(before, max_size=max_size).inspection.checkpoint,
        read_valid_checkpoint(after, max_size=max_size).inspection.checkpoint,
    )
    show_differences(found, output)
    if found:
        context.exit(CHECK_FAILED)


@checkpoint.command(
    "import",
    epilog=example(
        "rebind checkpoint import kubelet_internal_checkpoint --node n0",
        "rebind checkpoint import kubelet_internal_checkpoint --node n1 --dry-run",
    ),
)
@click.argument("file", type=_FILE)
@click.option(
    "--node",
    type=NewNodeName(),
    required=True,
    metavar="NODE",
    help="The node whose state it becomes.",
)
@db_option
@conflict_option
@click.option("--replace", is_flag=True, help="Drop other state that the node has.")
@click.option("--dry-run", is_flag=True, help="Say what would happen, and change nothing.")
@click.option("--missing-ok", is_flag=True, help="A missing file is no error.")
@click.option(
    "--accept-bad-checksum",
    is_flag=True,
    help="Take what a file says although its checksum is wrong; the file stays as it is.",
)
@pod_names_option
@click.option(
    "--kubelet-version",
    type=Read("VERSION", behavior_for),
    default=DEFAULT_KUBELET_VERSION,
    show_default=True,
    help="The kubelet whose reading of the file counts.",
)
@max_size_option
def import_(  # noqa: PLR0913 - one parameter for each option
    *,
    file: Path,
    node: NodeName,
    db: str,
    on_conflict: str,
    replace: bool,
    dry_run: bool,
    missing_ok: bool,
    accept_bad_checksum: bool,
    pods: tuple[Path, ...],
    kubelet_version: Behavior,
    max_size: int,
) -> None:
    """Make a checkpoint file the state of a node in the database: whole, or not at all.

    The same file again changes nothing. A database that does not exist is made, an unknown node
    too.

    Exit codes: 0 imported, 1 refused (a device under two pods, or other state of the node), 2 the
    file is damaged, 3 it or the database is missing or cannot be used.
    """
    if not file.exists():
        missing = f"{file} does not exist, {_NORMAL_ON_A_FRESH_NODE}"
        if not missing_ok:
            reason = f"{missing}; with --missing-ok it is no error"
            raise EnvironmentProblem(reason)
        click.echo(printable(f"{missing}; nothing was imported"), err=True)
        return
    # Only import and export need a database, whose libraries take longest to load.
    from simulator.cli.commands.checkpoint.importing import (  # noqa: PLC0415 - see above
        ImportOptions,
        import_checkpoint,
    )

    options = ImportOptions(
        db=db,
        node=node,
        behavior=kubelet_version,
        on_conflict=OnConflict(on_conflict),
        replace=replace,
        dry_run=dry_run,
        pods=pods,
    )
    read = read_checkpoint if accept_bad_checksum else read_importable_checkpoint
    import_checkpoint(read(file, max_size=max_size), options)


@checkpoint.command(
    epilog=example(
        "rebind checkpoint export --node n0",
        "rebind checkpoint export --node n0 --format v1 exported.checkpoint",
    )
)
@click.argument("file", type=_FILE, default="-", metavar="[FILE|-]")
@click.option("--node", required=True, metavar="NODE", help="The node whose state is written.")
@db_option
@click.option(
    "--format",
    "form",
    type=click.Choice([CheckpointFormat.V1.value, CheckpointFormat.V2.value]),
    help="Format of the file  [default: as imported, else what the kubelet version writes]",
)
@click.option(
    "--kubelet-version",
    type=Read("VERSION", behavior_for),
    help=f"The kubelet that the file is for  [default: {DEFAULT_KUBELET_VERSION}]",
)
@click.option("--force", is_flag=True, help="Overwrite the file if there is one.")
def export(  # noqa: PLR0913 - one parameter for each option
    *,
    file: Path,
    node: str,
    db: str,
    form: str | None,
    kubelet_version: Behavior | None,
    force: bool,
) -> None:
    """Write the state of a node as a kubelet's checkpoint file, and say which kubelets read it.

    As long as nothing changed since the import of a file, these are its bytes, unless another
    format is asked for.
    """
    from simulator.assembly.stores import opened_store  # noqa: PLC0415 - as in `import_`

    with opened_store(db, read_only=True) as store:
        content = exported(
            store,
            NodeName(node),
            behavior=kubelet_version,
            form=None if form is None else CheckpointFormat(form),
        )
    write_file(file, content, force=force)
    if str(file) != "-":
        click.echo(printable(f"{file} written: {readers(content)}"))
