"""The folders of nodes below a root folder (details 14)."""

from __future__ import annotations

from pathlib import Path
from typing import Final

PLUGIN_FOLDER: Final = "device-plugins"


def nodes_in(root: Path) -> list[str]:
    """Return the names of the nodes that have a folder of their own below `root`."""
    if not root.is_dir():
        return []
    return sorted(each.name for each in root.iterdir() if _is_open_folder(each / PLUGIN_FOLDER))


def _is_open_folder(path: Path) -> bool:
    """Tell whether this is a folder; what may not be looked at is none of a node's."""
    try:
        return path.is_dir()
    except PermissionError:
        return False
