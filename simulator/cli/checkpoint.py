"""`rebind checkpoint`: real checkpoint files, read and compared."""

from __future__ import annotations

from pathlib import Path

import click

from simulator.cli.checkpoint_diff import show_differences
from simulator.cli.checkpoint_files import max_size_option, read_valid_checkpoint
from simulator.cli.checkpoint_show import show_checkpoint
from simulator.cli.checkpoint_verify import show_verdict
from simulator.cli.examples import example
from simulator.cli.failures import CHECK_FAILED
from simulator.cli.lists import Listed
from simulator.cli.output import OutputOptions, output_options
from simulator.config import DEFAULT_KUBELET_VERSION
from simulator.core.behavior import Behavior
from simulator.core.checkpoint.differences import differences
from simulator.core.switches import behavior_for

_FILE = click.Path(path_type=Path)


@click.group(epilog=example("rebind checkpoint show kubelet_internal_checkpoint"))
def checkpoint() -> None:
    """Look into a kubelet's device-manager checkpoint files.

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
    """Tell whether a file is valid, what is odd about it, and what a kubelet makes of it.

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
