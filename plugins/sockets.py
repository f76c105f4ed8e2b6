"""Unix sockets of plugins: which file is there, and how a server comes to be behind one."""

from __future__ import annotations

import errno
import socket
from pathlib import Path
from typing import Final
from urllib.parse import quote

import grpc

from simulator.errors import ConfigError

SOCKET_PATH_MAX: Final = 107
"""Bytes of the longest path that a unix socket can have."""

CHANNEL_OPTIONS: Final = (
    ("grpc.default_authority", "localhost"),
    ("grpc.enable_http_proxy", 0),
    # Of its own, so that a failed attempt does not make the next one wait.
    ("grpc.use_local_subchannel_pool", 1),
)

FileIdentity = tuple[int, int]
"""Tells a socket file from one that took its place: inode numbers are used again, so the time of
its making belongs to it; a change of permissions leaves it the same."""


def target_of(path: Path) -> str:
    """Return gRPC's name for a unix socket."""
    return f"unix:{quote(str(path.absolute()))}"


def identity_of(path: Path) -> FileIdentity | None:
    """Return the identity of the file at `path`; None when there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns


def require_room(path: Path) -> None:
    """Refuse a path that no unix socket can have.

    Raises:
        ConfigError: It is too long.
    """
    length = len(str(path.absolute()).encode())
    if length > SOCKET_PATH_MAX:
        reason = (
            f"the socket path {path.absolute()} has {length} bytes; at most {SOCKET_PATH_MAX} are "
            "possible, so use a shorter folder or socket name"
        )
        raise ConfigError(reason)


def is_served(path: Path) -> bool:
    """Tell whether somebody answers at a unix socket."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK) as probe:
        return probe.connect_ex(str(path)) in (0, errno.EAGAIN)


async def start_at(server: grpc.aio.Server, path: Path, mode: int) -> FileIdentity:
    """Start a server and let its socket appear at `path`, ready and with its permissions.

    gRPC removes the path that it has bound when the server ends, be the file its own or not; so it
    binds a name beside it, and the file at `path` is ours alone.

    Raises:
        OSError: The folder is gone or may not be written.
    """
    hidden = path.with_name(f".{path.name[:-1]}")
    hidden.unlink(missing_ok=True)
    path.parent.stat()
    try:
        server.add_insecure_port(target_of(hidden))
    except RuntimeError as error:
        raise OSError(errno.EACCES, "no socket can be made", str(path)) from error
    await server.start()
    hidden.chmod(mode)
    hidden.rename(path)
    identity = identity_of(path)
    if identity is None:
        raise OSError(errno.ENOENT, "the socket was removed at once", str(path))
    return identity
