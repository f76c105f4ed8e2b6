"""The folders of nodes below a root folder (details 14)."""

from __future__ import annotations

from pathlib import Path

from simulator.cli.failures import EnvironmentProblem
from simulator.config import PLUGIN_DIRECTORY
from simulator.reports.text import named


def nodes_in(root: Path) -> list[str]:
    """Return the names of the nodes that have a folder of their own below `root`."""
    if not root.is_dir():
        return []
    return sorted(each.name for each in root.iterdir() if _is_open_folder(each / PLUGIN_DIRECTORY))


def node_folder(root: Path, node: str | None) -> Path:
    """Return the folder of a node, which may be left unnamed where there is only one.

    Raises:
        EnvironmentProblem: There is none, or there are several and none was named.
    """
    nodes = nodes_in(root)
    if node is None and not nodes and (root / PLUGIN_DIRECTORY).is_dir():
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


def _is_open_folder(path: Path) -> bool:
    """Tell whether this is a folder; what may not be looked at is none of a node's."""
    try:
        return path.is_dir()
    except PermissionError:
        return False
