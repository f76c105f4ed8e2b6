"""The sockets in and below `plugins_registry`, as they are at one moment (S1.31)."""

from __future__ import annotations

import logging
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from simulator.core.plugin_registry import SocketPath

_LOG = logging.getLogger(__name__)

SOCKETS_MAX: Final = 1_000
"""Most sockets that are looked after."""
DEPTH_MAX: Final = 8
"""How many directories deep sockets are looked for."""

SocketIdentity = tuple[int, int, int]
"""Device, inode and time of making: another one for every bind, the same after a chmod."""


@dataclass(frozen=True, slots=True)
class RegistryTree:
    """What was found.

    Attributes:
        directories: The root, if it is there, and all directories below it.
        sockets: Sockets whose names do not begin with a dot, in order of path.
    """

    directories: list[Path] = field(default_factory=list)
    sockets: dict[SocketPath, SocketIdentity] = field(default_factory=dict)


def look(root: Path) -> RegistryTree:
    """Return what is in and below `root`; what cannot be looked at is left out."""
    tree = RegistryTree()
    _look_into(root, 0, tree)
    return tree


def _look_into(directory: Path, depth: int, tree: RegistryTree) -> None:
    try:
        entries = sorted(os.scandir(directory), key=lambda entry: entry.name)
    except OSError:
        return
    tree.directories.append(directory)
    for entry in _visible(entries):
        try:
            if entry.is_dir(follow_symlinks=False):
                if depth < DEPTH_MAX:
                    _look_into(Path(entry.path), depth + 1, tree)
                continue
            status = entry.stat()
        except OSError:
            continue
        if stat.S_ISSOCK(status.st_mode) and len(tree.sockets) < SOCKETS_MAX:
            identity = (status.st_dev, status.st_ino, status.st_mtime_ns)
            tree.sockets[SocketPath(entry.path)] = identity


def _visible(entries: list[os.DirEntry[str]]) -> Iterator[os.DirEntry[str]]:
    for entry in entries:
        try:
            entry.name.encode()
        except UnicodeEncodeError:
            _LOG.warning("%r is left alone: its name is not UTF-8", entry.path)
            continue
        if not entry.name.startswith("."):
            yield entry
