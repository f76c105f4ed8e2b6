"""What a kubelet's folder shows: its files and sockets, looked at and never touched."""

from __future__ import annotations

import errno
import os
import re
import socket
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from simulator.cli.commands.doctor.checks import Check, ok, problem, warning
from simulator.config import (
    CHECKPOINT_FILE_NAME,
    KUBELET_SOCKET,
    PLUGIN_DIRECTORY,
    POD_RESOURCES_DIRECTORY,
    REGISTRY_DIRECTORY,
)
from simulator.core.behavior import Behavior
from simulator.core.plurals import counted
from simulator.reports.text import named

DEPRECATION: Final = "DEPRECATION"

_TEMPORARY: Final = re.compile(rf"\.(?:\d{{5,}}|{CHECKPOINT_FILE_NAME}.+)", re.ASCII)
"""What a write leaves behind that was broken off (S4.9, field-reports F13)."""
_SOCKET_PATH_MAX: Final = 107
_CONNECT_SECONDS: Final = 1.0


@dataclass(frozen=True, slots=True)
class NodeFolder:
    """The folders of one node.

    Attributes:
        root: The kubelet's root folder; None when only the plugin folder is there.
        plugins: The folder with the checkpoint file and the plugins' sockets.
    """

    root: Path | None
    plugins: Path

    @property
    def checkpoint(self) -> Path:
        """Where the checkpoint file is, if there is one."""
        return self.plugins / CHECKPOINT_FILE_NAME


def find_folder(root: Path, node: str | None) -> NodeFolder | None:
    """Return the folders of a node: `ROOT/NODE`, `ROOT`, or `ROOT` as the plugin folder itself."""
    for each in (root / node, root) if node else (root,):
        if (each / PLUGIN_DIRECTORY).is_dir():
            return NodeFolder(each, each / PLUGIN_DIRECTORY)
    if (root / CHECKPOINT_FILE_NAME).exists() or (root.name == PLUGIN_DIRECTORY and root.is_dir()):
        return NodeFolder(None, root)
    return None


def folder_checks(folder: NodeFolder, kubelet: Behavior) -> Iterator[Check]:
    """Look at everything but the content of the checkpoint file."""
    try:
        entries = sorted(os.scandir(folder.plugins), key=lambda entry: entry.name)
    except OSError as error:
        yield problem(
            "folder",
            f"{folder.plugins} cannot be read: {error.strerror}",
            "run this as the kubelet's user",
        )
        return
    yield _folder_mode(folder.plugins)
    yield from _modes(folder.plugins, entries)
    yield _sockets("plugin sockets", _sockets_of(entries), kubelet_socket=True)
    yield from _other_files(entries, kubelet)
    if folder.root is not None:
        yield from _beside(folder.root)


def _folder_mode(path: Path) -> Check:
    status = path.stat()
    mode = stat.S_IMODE(status.st_mode)
    seen = f"{path}, mode {mode:04o}, owner {status.st_uid}"
    if mode & stat.S_IWOTH:
        return problem(
            "folder",
            f"{seen}: everybody can put sockets into it",
            f"chmod 0750 {path}",
        )
    return ok("folder", seen)


def _modes(path: Path, entries: Sequence[os.DirEntry[str]]) -> Iterator[Check]:
    """Compare owners and modes with what a kubelet makes (S4.9: 0600)."""
    for entry in entries:
        if entry.name != CHECKPOINT_FILE_NAME or not entry.is_file(follow_symlinks=False):
            continue
        status = entry.stat(follow_symlinks=False)
        mode = stat.S_IMODE(status.st_mode)
        owner = path.stat().st_uid
        if status.st_uid != owner:
            yield warning(
                "owner",
                f"{entry.name} belongs to user {status.st_uid}, its folder to {owner}",
                f"if nobody else is to write it: chown {owner} {path / entry.name}",
            )
        if mode & (stat.S_IWGRP | stat.S_IWOTH):
            yield problem(
                "mode",
                f"{entry.name} has mode {mode:04o}: others can change who holds what",
                f"chmod 0600 {path / entry.name}",
            )
        elif mode & (stat.S_IRGRP | stat.S_IROTH):
            yield warning(
                "mode",
                f"{entry.name} has mode {mode:04o}, a kubelet makes it 0600",
                f"chmod 0600 {path / entry.name}",
            )


def _sockets_of(entries: Sequence[os.DirEntry[str]]) -> list[Path]:
    return [Path(entry.path) for entry in entries if _is_socket(entry)]


def _is_socket(entry: os.DirEntry[str]) -> bool:
    """Tell whether a kubelet takes it for a socket; it follows links (S1.9)."""
    try:
        return stat.S_ISSOCK(entry.stat().st_mode)
    except OSError:
        return False


def _sockets(subject: str, paths: Sequence[Path], *, kubelet_socket: bool) -> Check:
    """Connect to every socket: one that nobody serves is stale (R26, S1.10)."""
    answers = {path.name: _answer(path) for path in paths}
    dead = [f"{name} ({answer})" for name, answer in answers.items() if answer]
    missing = kubelet_socket and KUBELET_SOCKET not in answers
    if dead:
        seen = f"{counted(len(dead), 'socket')} of {len(answers)} without a server: {named(dead)}"
        return warning(
            subject,
            f"no {KUBELET_SOCKET}; {seen}" if missing else seen,
            "the kubelet does not run: start it, and plugins register then"
            if answers.get(KUBELET_SOCKET)
            else "restart the plugin whose socket it is; a stopped one's is left over",
        )
    if missing:
        return warning(
            subject,
            f"no {KUBELET_SOCKET}; {counted(len(answers), 'other socket')}",
            "no kubelet has served this folder since it was emptied; start it, plugins register "
            "then",
        )
    if not answers:
        return ok(subject, "none")
    return ok(subject, f"{counted(len(answers), 'socket')}, all served: {named(list(answers))}")


def _answer(path: Path) -> str:
    """Return why nobody answers at a socket; empty when somebody does."""
    if len(os.fsencode(path)) > _SOCKET_PATH_MAX:
        return f"its path has more than {_SOCKET_PATH_MAX} bytes"
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(_CONNECT_SECONDS)
        try:
            client.connect(str(path))
        except TimeoutError:
            return "does not answer"
        except OSError as error:
            if error.errno == errno.ECONNREFUSED:
                return "connection refused"
            return error.strerror or "unreachable"
    return ""


def _other_files(entries: Sequence[os.DirEntry[str]], kubelet: Behavior) -> Iterator[Check]:
    files = [
        entry.name
        for entry in entries
        if entry.name != CHECKPOINT_FILE_NAME
        and not _is_socket(entry)
        and not entry.is_dir(follow_symlinks=False)
    ]
    temporary = [name for name in files if _TEMPORARY.fullmatch(name)]
    fate = "removes" if kubelet.plugin_directory_emptied else "keeps"
    if temporary:
        yield warning(
            "temporary files",
            f"{named(temporary)}: left by writes of the checkpoint that were broken off",
            f"look for a full disk or a crash; kubelet {kubelet.version} {fate} them at its next "
            "start",
        )
    if DEPRECATION in files:
        yield warning(
            "DEPRECATION",
            "plugins that see this file may not register here but in plugins_registry",
            f"remove it unless that is meant; kubelet {kubelet.version} {fate} it at its start",
        )
    others = [name for name in files if name not in {*temporary, DEPRECATION}]
    if others:
        yield warning(
            "other files",
            f"{named(others)}: not a kubelet's and no socket",
            f"kubelet {kubelet.version} {fate} them at its next start",
        )


def _beside(root: Path) -> Iterator[Check]:
    for name, subject in (
        (POD_RESOURCES_DIRECTORY, "PodResources socket"),
        (REGISTRY_DIRECTORY, "registry sockets"),
    ):
        path = root / name
        try:
            entries = sorted(os.scandir(path), key=lambda entry: entry.name)
        except FileNotFoundError:
            yield ok(subject, f"no folder {name}")
        except OSError as error:
            yield warning(subject, f"{path}: {error.strerror}", "run this as the kubelet's user")
        else:
            yield _sockets(subject, _sockets_of(entries), kubelet_socket=False)
