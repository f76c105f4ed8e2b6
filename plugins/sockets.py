"""Unix sockets of plugins: which file is there, and how a server comes to be behind one."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Final

import grpc

from simulator.errors import ConfigError, ServerError
from simulator.wire import sockets
from simulator.wire.listening import listen_at
from simulator.wire.sockets import (
    Appearance,
    FileIdentity,
    Occupant,
    identity_of,
    occupant_of,
    target_of,
)

__all__ = [
    "CHANNEL_OPTIONS",
    "FileIdentity",
    "identity_of",
    "is_served",
    "require_room",
    "start_at",
    "target_of",
]

CHANNEL_OPTIONS: Final = (
    ("grpc.default_authority", "localhost"),
    ("grpc.enable_http_proxy", 0),
    # Of its own, so that a failed attempt does not make the next one wait.
    ("grpc.use_local_subchannel_pool", 1),
)


def require_room(path: Path) -> None:
    """Refuse a path that no unix socket can have.

    Raises:
        ConfigError: It is too long.
    """
    try:
        sockets.require_room(path)
    except ServerError as error:
        raise ConfigError(str(error)) from error


def is_served(path: Path) -> bool:
    """Tell whether somebody answers at a unix socket."""
    return occupant_of(path) is Occupant.LIVING_SOCKET


async def start_at(server: grpc.aio.Server, path: Path, mode: int) -> FileIdentity:
    """Start a server and let its socket appear at `path`, ready and with its permissions.

    Raises:
        OSError: The folder is gone or may not be written.
    """
    path.parent.stat()
    try:
        file = await listen_at(server, path, mode=mode, appearance=Appearance.RENAMED)
    except ServerError as error:
        raise OSError(errno.EACCES, "no socket can be made", str(path)) from error
    if file.identity is None:
        raise OSError(errno.ENOENT, "the socket was removed at once", str(path))
    return file.identity
