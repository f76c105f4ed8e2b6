"""`rebind exec`: a command for which a node's folder is `/var/lib/kubelet`."""

from __future__ import annotations

from pathlib import Path

import click

from simulator import namespaces
from simulator.cli.checkpoint_files import FileName
from simulator.cli.examples import example
from simulator.cli.failures import EnvironmentProblem
from simulator.cli.node_folders import PLUGIN_FOLDER, nodes_in
from simulator.config import DEFAULT_ROOT_DIR
from simulator.reports.text import named


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
    namespaces.become(_folder(root_dir, node), command)


def _folder(root: Path, node: str | None) -> Path:
    """Return the node's folder.

    Raises:
        EnvironmentProblem: There is none, or there are several and none was named.
    """
    nodes = nodes_in(root)
    if node is None and not nodes and (root / PLUGIN_FOLDER).is_dir():
        return root
    if node in nodes:
        return root / node
    if node is None and len(nodes) == 1:
        return root / nodes[0]
    if not nodes:
        reason = f"there is no node in {root}; start one with `rebind serve --root-dir {root}`"
    elif node is None:
        reason = f"there are {len(nodes)} nodes in {root}; name one with --node: {named(nodes)}"
    else:
        reason = f"there is no node {node} in {root}; there: {named(nodes)}"
    raise EnvironmentProblem(reason)
