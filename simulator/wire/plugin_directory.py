"""The plugin directory: made and cleaned at a kubelet start, and the place of every endpoint."""

from __future__ import annotations

import logging
import os
import stat
from pathlib import Path
from typing import Final

from simulator.config import CHECKPOINT_FILE_NAME
from simulator.errors import InvalidEndpointError, ServerError
from simulator.wire.sockets import require_room

_LOG = logging.getLogger(__name__)

DIRECTORY_MODE: Final = 0o750
"""Permissions of the kubelet's directories of sockets (S1.8, S1.30, S8.1)."""


def make_directory(directory: Path) -> None:
    """Make a directory of sockets, if it is not there (S1.8).

    Raises:
        ServerError: It cannot be made.
    """
    try:
        for missing in reversed([directory, *directory.parents]):
            if not missing.is_dir():
                missing.mkdir(DIRECTORY_MODE)
    except OSError as error:
        reason = f"the directory {directory} cannot be made: {error.filename}: {error.strerror}"
        raise ServerError(reason) from error


def clean_directory(directory: Path, *, emptied: bool) -> list[str]:
    """Remove what a kubelet start removes from its plugin directory (S1.9, S1.9a).

    Sub-directories and the checkpoint file stay. What cannot be looked at is left and logged.

    Args:
        directory: The plugin directory.
        emptied: `Behavior.plugin_directory_emptied`: remove files of every kind and links, as
            kubelets before 1.36 do, and not only sockets and links to sockets.

    Returns:
        The names of what was removed, sorted.

    Raises:
        ServerError: The directory cannot be read, or something in it cannot be removed; the rest
            is removed nevertheless.
    """
    try:
        paths = sorted(directory.iterdir())
    except OSError as error:
        reason = f"the plugin directory {directory} cannot be read: {error.strerror}"
        raise ServerError(reason) from error
    removed: list[str] = []
    failures: list[str] = []
    for path in paths:
        if path.name == CHECKPOINT_FILE_NAME or not _is_removed(path, emptied=emptied):
            continue
        try:
            path.unlink()
        except OSError as error:
            failures.append(f"{path} cannot be removed: {error.strerror}")
        else:
            removed.append(path.name)
    if failures:
        raise ServerError("; ".join(failures))
    return removed


def endpoint_path(directory: Path, endpoint: str, *, confined: bool = True) -> Path:
    """Return the socket that a Register request's endpoint means (S1.12.4).

    The text is joined to the plugin directory: an absolute one is rooted there, `..` is honored,
    an empty one is the directory itself.

    Args:
        directory: The plugin directory.
        endpoint: As the plugin sent it.
        confined: Refuse an endpoint outside the directory, be it by `..` or by a link. Differs: the
            kubelet dials it.

    Raises:
        InvalidEndpointError: It is outside the directory, or cannot be a path.
    """
    if "\0" in endpoint:
        reason = f"endpoint {endpoint!r} cannot be the name of a socket: it holds a zero byte"
        raise InvalidEndpointError(reason)
    path = Path(os.path.normpath(f"{directory.absolute()}/{endpoint}"))
    try:
        require_room(path)
    except ServerError as error:
        raise InvalidEndpointError(str(error)) from error
    if confined and not _is_inside(path, directory):
        reason = (
            f"endpoint {endpoint!r} leaves the plugin directory {directory}; "
            "serve a socket inside it and register that socket's name"
        )
        raise InvalidEndpointError(reason)
    return path


def _is_removed(path: Path, *, emptied: bool) -> bool:
    try:
        mode = (path.lstat() if emptied else path.stat()).st_mode
    except OSError as error:
        _LOG.warning("%s is left: %s", path, error.strerror)
        return False
    return not stat.S_ISDIR(mode) if emptied else stat.S_ISSOCK(mode)


def _is_inside(path: Path, directory: Path) -> bool:
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(directory))
