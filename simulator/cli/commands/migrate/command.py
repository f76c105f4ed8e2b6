"""`rebind migrate`: a stopped node's bindings between its checkpoint file and the database."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar

import click

from simulator.cli.checkpoint_files import FileName
from simulator.cli.commands.migrate.run import Request, plan_migration, run_migration, show_status
from simulator.cli.examples import example
from simulator.cli.failures import CHECK_FAILED
from simulator.cli.lists import Read
from simulator.cli.output import OutputOptions, output_options
from simulator.cli.store_options import NewNodeName, conflict_option, db_option, pod_names_option
from simulator.config import (
    CHECKPOINT_FILE_NAME,
    DEFAULT_KUBELET_VERSION,
    DEFAULT_ROOT_DIR,
    PLUGIN_DIRECTORY,
)
from simulator.core.behavior import Behavior
from simulator.core.migration.phases import Phase
from simulator.core.switches import behavior_for
from simulator.core.transitions import NodeName, OnConflict

F = TypeVar("F", bound=Callable[..., object])

_FILE: Final = FileName(path_type=Path)
_PHASES: Final = click.Choice([phase.value for phase in Phase])
_HERE: Final = "--node n0 --checkpoint kubelet_internal_checkpoint"


def _request_options(
    *, importing: bool = False
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add the options that name a node, its file and its database: the command gets `request`.

    Args:
        importing: Whether those of the import come too, with which a migration begins.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def with_request(  # noqa: PLR0913 - one parameter for each option
            *args: object,
            node: NodeName,
            root_dir: Path,
            checkpoint: Path | None,
            db: str,
            behavior: Behavior,
            on_conflict: str = OnConflict.REFUSE.value,
            replace: bool = False,
            missing_ok: bool = False,
            pods: tuple[Path, ...] = (),
            **options: object,
        ) -> None:
            file = _file(root_dir, node, checkpoint)
            conflict = OnConflict(on_conflict)
            request = Request(node, file, db, behavior, conflict, replace, missing_ok, pods)
            command(*args, request=request, **options)

        return _node_options(_import_options(with_request) if importing else with_request)

    return decorate


def _node_options(command: F) -> F:
    """Add the options that name a node, its file and its database."""
    for option in (
        click.option(
            "--kubelet-version",
            "behavior",
            type=Read("VERSION", behavior_for),
            default=DEFAULT_KUBELET_VERSION,
            show_default=True,
            help="The kubelet of the node: what it can read counts, what it writes is written.",
        ),
        db_option,
        click.option(
            "--checkpoint",
            type=_FILE,
            metavar="FILE",
            help="The node's checkpoint file  [default: in the root directory]",
        ),
        click.option(
            "--root-dir",
            type=_FILE,
            default=DEFAULT_ROOT_DIR,
            show_default=True,
            metavar="DIR",
            help="A kubelet's directory, such as /var/lib/kubelet, or one of several nodes'.",
        ),
        click.option("--node", type=NewNodeName(), required=True, metavar="NODE", help="The node."),
    ):
        command = option(command)
    return command


def _import_options(command: F) -> F:
    """Add the options of the import with which a migration begins."""
    for option in (
        pod_names_option,
        click.option("--missing-ok", is_flag=True, help="A missing file is an empty one."),
        click.option(
            "--replace", is_flag=True, help="Drop rows of the node that no migration brought."
        ),
        conflict_option,
    ):
        command = option(command)
    return command


_dry_run_option: Final = click.option(
    "--dry-run", is_flag=True, help="Show the plan, and change nothing."
)


def _to_option(default: Phase) -> Callable[[F], F]:
    return click.option(
        "--to",
        type=_PHASES,
        default=default.value,
        show_default=True,
        help="The phase to be reached.",
    )


def _file(root_dir: Path, node: NodeName, checkpoint: Path | None) -> Path:
    """Return the node's file: the one that is named, or that of a kubelet's directory."""
    if checkpoint is not None:
        return checkpoint
    own = root_dir / node / PLUGIN_DIRECTORY
    return (own if own.is_dir() else root_dir / PLUGIN_DIRECTORY) / CHECKPOINT_FILE_NAME


@click.group(epilog=example(f"rebind migrate plan {_HERE}"))
def migrate() -> None:
    """Move a stopped node's bindings from its checkpoint file to the database, and back.

    \b
    The phases, in order; `run` goes forward, `back` goes back, step by step:
      checkpoint       the file alone is written and believed
      imported         as before; the database has a copy
      dualWrite        both are written and compared, the file is believed
      databasePrimary  both are written and compared, the database is believed
      database         the database alone; the file is set aside, not deleted

    Every step can be broken off at any moment and made again, and each can be taken back. The phase
    is in the database. While both are written nothing is acknowledged that one of them lacks, and
    one that is damaged is mended from the other.
    """  # noqa: D301 - the mark \b keeps a block as it is


@migrate.command(
    epilog=example(f"rebind migrate plan {_HERE}", f"rebind migrate plan {_HERE} -o json")
)
@_request_options(importing=True)
@_to_option(Phase.DATABASE)
@output_options("table", "json", "yaml")
@click.pass_context
def plan(
    context: click.Context,
    *,
    request: Request,
    to: str,
    output: OutputOptions,
) -> None:
    """Show the steps to a phase, what each would do, and what is odd; nothing is changed.

    The very steps are made on a copy in memory, so what would be refused is refused here.

    Exit codes: 0 all steps could be made, 1 one is refused, 3 file or database cannot be used.
    """
    if not plan_migration(request, Phase(to), output):
        context.exit(CHECK_FAILED)


@migrate.command(epilog=example(f"rebind migrate run {_HERE} --to dualWrite"))
@_request_options(importing=True)
@_to_option(Phase.DATABASE)
@_dry_run_option
@output_options("table", "json", "yaml")
@click.pass_context
def run(
    context: click.Context,
    *,
    request: Request,
    to: str,
    dry_run: bool,
    output: OutputOptions,
) -> None:
    """Go forward to a phase, step by step; what was broken off is finished.

    Refused while a kubelet answers in the plugin directory, or another process writes the database.

    Exit codes: 0 the phase is reached, 1 a step is refused (a device under two pods, other rows of
    the node), 2 the file is damaged, 3 file or database cannot be used.
    """
    if not dry_run:
        run_migration(request, Phase(to), output, forward=True)
    elif not plan_migration(request, Phase(to), output):
        context.exit(CHECK_FAILED)


@migrate.command(epilog=example(f"rebind migrate back {_HERE}"))
@_request_options()
@_to_option(Phase.CHECKPOINT)
@_dry_run_option
@output_options("table", "json", "yaml")
@click.pass_context
def back(
    context: click.Context,
    *,
    request: Request,
    to: str,
    dry_run: bool,
    output: OutputOptions,
) -> None:
    """Go back to a phase, step by step; what was broken off is finished.

    The file is written in the format of the kubelet version: the very bytes that were set aside, if
    nothing changed since.

    Exit codes: as of `run`.
    """
    if not dry_run:
        run_migration(request, Phase(to), output, forward=False)
    elif not plan_migration(request, Phase(to), output):
        context.exit(CHECK_FAILED)


@migrate.command(epilog=example(f"rebind migrate status {_HERE}"))
@_request_options()
@output_options("table", "json", "yaml")
@click.pass_context
def status(
    context: click.Context,
    *,
    request: Request,
    output: OutputOptions,
) -> None:
    """Show how far a node is: its phase, its file and its rows, compared now.

    Exit codes: 0 all is as the phase says, 1 it is not, 3 the database cannot be used.
    """
    if not show_status(request, output):
        context.exit(CHECK_FAILED)
