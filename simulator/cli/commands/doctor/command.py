"""`rebind doctor`: which state a node is in, what disagrees, and what to do."""

from __future__ import annotations

from pathlib import Path

import click
from click.core import ParameterSource

from simulator.cli.blocks import show_check
from simulator.cli.checkpoint_files import FileName, max_size_option
from simulator.cli.commands.doctor.checkpoint import look_at_checkpoint
from simulator.cli.commands.doctor.checks import Check, Result, ok, warning
from simulator.cli.commands.doctor.database import compare, look_at_database
from simulator.cli.commands.doctor.folder import NodeFolder, find_folder, folder_checks
from simulator.cli.examples import example
from simulator.cli.failures import CHECK_FAILED, EnvironmentProblem
from simulator.cli.lists import Read
from simulator.cli.node_folders import nodes_in
from simulator.cli.output import OutputOptions, emit_document, output_options
from simulator.cli.store_options import db_option, node_option
from simulator.cli.version_warnings import warn_of_unknown
from simulator.config import DEFAULT_KUBELET_VERSION, DEFAULT_ROOT_DIR
from simulator.core.behavior import Behavior
from simulator.core.plurals import counted
from simulator.core.switches import behavior_for
from simulator.reports.text import named, printable


@click.command(
    epilog=example(
        "rebind doctor",
        "rebind doctor --root-dir . --node n0 --kubelet-version 1.27.2",
    )
)
@click.option(
    "--root-dir",
    type=FileName(path_type=Path),
    default=DEFAULT_ROOT_DIR,
    show_default=True,
    metavar="DIR",
    help="The kubelet's root folder (its own is in /var/lib), or the folder device-plugins.",
)
@db_option
@node_option
@click.option(
    "--kubelet-version",
    type=Read("VERSION", behavior_for),
    default=DEFAULT_KUBELET_VERSION,
    show_default=True,
    help="The node's kubelet.",
)
@max_size_option
@output_options("table", "json", "yaml")
@click.pass_context
def doctor(  # noqa: PLR0913 - one parameter for each option
    context: click.Context,
    *,
    root_dir: Path,
    db: str,
    node: str | None,
    kubelet_version: Behavior,
    max_size: int,
    output: OutputOptions,
) -> None:
    """Look at a node's folder and database: what is there, what disagrees, what to do.

    Problems come first, then warnings, then what is fine.

    Checkpoint file, sockets, left-over files, owners and modes; schema, log and writer of the
    database; file against database. Nothing is written and no file is made; sockets are connected
    to, to see whether anybody serves them.

    A document (-o json, yaml) is a NodeExamination: checks of check, result (ok, warning, problem),
    seen and advice.

    Exit codes: 0 fine, warnings included; 1 there is a problem; 3 there is nothing to look at.
    """
    warn_of_unknown(kubelet_version)
    try:
        folder = _folder(root_dir, node)
    except PermissionError as error:
        reason = (
            f"{root_dir} may not be looked into: {error.strerror}; run this as the kubelet's user"
        )
        raise EnvironmentProblem(reason) from error
    database = look_at_database(db, node)
    if folder is None and not database.exists:
        reason = (
            f"nothing to look at: {root_dir} is no kubelet's folder, and there is no database "
            f"{db}; name them with --root-dir and --db"
        )
        raise EnvironmentProblem(reason)
    checks: list[Check] = []
    file = None
    if folder is None:
        where = f"{root_dir} is no kubelet's folder"
        if node is not None and (nodes := nodes_in(root_dir)):
            where = f"{root_dir} has no folder of node {node}; there: {named(nodes)}"
        seen = f"{where}; only the database is seen"
        checks.append(_absent(context, "root_dir", "folder", seen))
    else:
        checks += folder_checks(folder, kubelet_version)
        file, found = look_at_checkpoint(
            folder.checkpoint, kubelet_version, database.state, max_size=max_size
        )
        checks += found
    if database.exists:
        checks += database.checks
    else:
        seen = f"{db} is not there; only the folder is seen"
        checks.append(_absent(context, "db", "database", seen))
    if file is not None and database.state is not None:
        checks += compare(file, database.state, kubelet_version)
    _show(checks, output)
    if any(check.result is Result.PROBLEM for check in checks):
        context.exit(CHECK_FAILED)


def _absent(context: click.Context, option: str, subject: str, seen: str) -> Check:
    """Return the check of what is not there; it is odd only if it was asked for."""
    if context.get_parameter_source(option) is ParameterSource.DEFAULT:
        return ok(subject, seen)
    return warning(subject, seen, f"name it with --{option.replace('_', '-')}")


def _folder(root: Path, node: str | None) -> NodeFolder | None:
    folder = find_folder(root, node)
    nodes = nodes_in(root)
    if folder is not None or node is not None or not nodes:
        return folder
    if len(nodes) > 1:
        reason = f"{root} has folders of {len(nodes)} nodes; name one with --node: {named(nodes)}"
        raise click.UsageError(reason, click.get_current_context())
    return find_folder(root, nodes[0])


def _urgency(check: Check) -> int:
    return (Result.PROBLEM, Result.WARNING, Result.OK).index(check.result)


def _show(checks: list[Check], output: OutputOptions) -> None:
    if output.format != "table":
        items = [
            {
                "check": check.subject,
                "result": check.result.value,
                "seen": check.seen,
                "advice": check.advice,
            }
            for check in checks
        ]
        emit_document("NodeExamination", {"checks": items}, output)
        return
    for check in sorted(checks, key=_urgency):
        show_check(check.result.value, check.subject, check.seen, check.advice)
    counts = [
        counted(sum(check.result is result for check in checks), result.value)
        for result in (Result.PROBLEM, Result.WARNING)
    ]
    click.echo(printable(f"{len(checks)} checks: {', '.join(counts)}"))
