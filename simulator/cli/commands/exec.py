"""`rebind exec`: a command for which a node's folder is `/var/lib/kubelet`."""

from __future__ import annotations

from pathlib import Path

import click

from simulator import namespaces
from simulator.cli.checkpoint_files import FileName
from simulator.cli.examples import example
from simulator.cli.node_folders import node_folder
from simulator.config import DEFAULT_ROOT_DIR


@click.command(
    "exec",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    epilog=example("rebind exec --node n0 -- ls /var/lib/kubelet/device-plugins"),
)
@click.option("--node", metavar="NODE", help="The node; not needed where there is only one.")
@click.option(
    "--root-dir",
    type=FileName(path_type=Path),
    default=DEFAULT_ROOT_DIR,
    show_default=True,
    metavar="DIR",
    help="Where `rebind serve` keeps its nodes.",
)
@click.argument("command", metavar="CMD...", nargs=-1, required=True, type=click.UNPROCESSED)
def exec_(*, node: str | None, root_dir: Path, command: tuple[str, ...]) -> None:
    """Run a command for which a node's folder is /var/lib/kubelet.

    For plugins that have that path built in; one with a flag for its directory runs without this.
    Mounts and user are private to the command: it sees itself as root, and everything but that
    folder as it is. The process becomes the command, so signals, streams and exit code are its own.

    Exit codes: the command's; 3 where there is no such node or command, or where the kernel forbids
    user namespaces (the message says what may be done).
    """
    namespaces.become(node_folder(root_dir, node), command)
