"""Unix sockets as files: how long a path may be, who is behind one, how a server's appears.

gRPC removes the path that it has bound, at the bind and again when a server ends, whatever is there
by then: perhaps the socket of the next server. So it binds a name in a folder of its own, and the
file with the real name is made, watched and removed here.
"""

from __future__ import annotations

import errno
import os
import shutil
import socket
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Final
from urllib.parse import quote

from simulator.errors import ServerError

SOCKET_PATH_MAX: Final = 107
"""Bytes of the longest path that a unix socket can have."""

_STAGED_NAME: Final = "s"
_PROBE_TIMEOUT_S: Final = 1.0


class Appearance(Enum):
    """How a server's socket comes to its place.

    `CREATED` is what a bind looks like to those who watch the folder, and what `kubelet.sock` of
    the plugin directory does (S1.10); the place must be empty. `RENAMED` replaces what is there in
    one step, as the PodResources socket does (S8.1).
    """

    CREATED = "created"
    RENAMED = "renamed"


class Occupant(Enum):
    """What is at a path where a socket is to be."""

    NOTHING = "nothing"
    DEAD_SOCKET = "a socket on which nobody listens"
    LIVING_SOCKET = "a socket on which somebody listens"
    OTHER = "something that is no socket"


FileIdentity = tuple[int, int, int]
"""Tells a socket file from one that took its place: device, inode and time of its making. Inode
numbers are used again; a change of name or permissions leaves all three the same."""


def identity_of(path: Path) -> FileIdentity | None:
    """Return the identity of the file at `path`; None when there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return (status.st_dev, status.st_ino, status.st_mtime_ns)


@dataclass(frozen=True, slots=True)
class SocketFile:
    """One socket file, told from all others that have had or will have its path."""

    path: Path
    identity: FileIdentity | None

    def is_in_place(self) -> bool:
        """Tell whether the file at the path is still this one."""
        return self.identity is not None and identity_of(self.path) == self.identity

    def remove(self) -> None:
        """Remove the file, unless another has taken its place."""
        if self.is_in_place():
            self.path.unlink(missing_ok=True)


def file_at(path: Path) -> SocketFile:
    """Return the file that is at `path` now; without one, it is never in place."""
    return SocketFile(path, identity_of(path))


def target_of(path: Path) -> str:
    """Return gRPC's name for a unix socket; it decodes percent signs."""
    return f"unix:{quote(os.fspath(path.absolute()))}"


def require_room(path: Path) -> None:
    """Refuse a path that is too long for a socket, or that gRPC takes for two.

    Raises:
        ServerError: It is.
    """
    shown = path.absolute()
    if "," in str(shown):
        reason = (
            f"the socket path {shown} has a comma in it, at which gRPC would part it; "
            "use a folder and a socket name without"
        )
        raise ServerError(reason)
    length = len(os.fsencode(shown))
    if length > SOCKET_PATH_MAX:
        reason = (
            f"the socket path {shown} has {length} bytes; at most {SOCKET_PATH_MAX} are possible, "
            "so use a shorter folder or socket name"
        )
        raise ServerError(reason)


def occupant_of(path: Path) -> Occupant:
    """Tell what is at a path, and whether somebody listens if it is a socket."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return Occupant.OTHER if path.is_symlink() else Occupant.NOTHING
    if not stat.S_ISSOCK(mode):
        return Occupant.OTHER
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(_PROBE_TIMEOUT_S)
        try:
            probe.connect(os.fspath(path))
        except ConnectionRefusedError:
            return Occupant.DEAD_SOCKET
        except OSError:
            return Occupant.LIVING_SOCKET  # Its backlog is full, or it is not ours to connect to.
    return Occupant.LIVING_SOCKET


def make_room(path: Path) -> None:
    """See to it that nothing is at a path where a server's socket is to be.

    Raises:
        ServerError: Somebody listens there, or the file there is no socket.
    """
    occupant = occupant_of(path)
    if occupant is Occupant.DEAD_SOCKET:
        path.unlink(missing_ok=True)
    elif occupant is Occupant.LIVING_SOCKET:
        reason = f"{path} is served by another process; stop it, or use another folder"
        raise ServerError(reason)
    elif occupant is Occupant.OTHER:
        reason = f"{path} exists and is no socket; remove it, or use another folder"
        raise ServerError(reason)


@contextmanager
def staged(path: Path) -> Iterator[Path]:
    """Give a path beside `path` where gRPC can bind; afterwards it is gone.

    Raises:
        ServerError: The paths are too long, or the folder cannot be written.
    """
    require_room(path)
    try:
        folder = Path(tempfile.mkdtemp(prefix=".", dir=path.absolute().parent))
    except OSError as error:
        reason = f"no socket can be made at {path}: {error.strerror}"
        raise ServerError(reason) from error
    try:
        require_room(folder / _STAGED_NAME)
        yield folder / _STAGED_NAME
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def publish(bound: Path, path: Path, *, mode: int | None, appearance: Appearance) -> SocketFile:
    """Give a bound socket its name and permissions, in one step for those who watch.

    Args:
        bound: Where gRPC has bound it (`staged`).
        path: Where it is to be.
        mode: Its permission bits; None for what umask has left (S8.1).
        appearance: How it appears.

    Raises:
        ServerError: The place is taken, or the folder has no such thing as a second name.
    """
    if mode is not None:
        bound.chmod(mode)
    identity = identity_of(bound)
    place: Callable[[Path, Path], None] = (
        os.link if appearance is Appearance.CREATED else os.replace
    )
    try:
        place(bound, path)
    except OSError as error:
        cause = "it exists" if error.errno == errno.EEXIST else error.strerror
        reason = f"no socket can be made at {path}: {cause}"
        raise ServerError(reason) from error
    return SocketFile(path, identity)
