"""Who may listen on a server's socket: one server at a time, and the next after a dead one.

The lock beside the socket is held as long as the server lives, whatever ends it. So a socket that
is left over from a dead server is known to be one, and two that start at once cannot both have it.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from simulator.errors import ServerError
from simulator.wire.sockets import Occupant, occupant_of, require_room


class Claim:
    """The right to listen on a socket, until it is given up or the process ends."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self._descriptor = descriptor

    def give_up(self) -> None:
        """Let the next one have it."""
        os.close(self._descriptor)


def claim(path: Path) -> Claim:
    """Make sure that no living server has the socket at `path`, and remove a dead one's.

    Raises:
        ServerError: A living server has it, or its path is too long for a socket.
        OSError: Its folder cannot be written.
    """
    require_room(path)
    lock = path.with_suffix(".lock")
    descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        owner = os.pread(descriptor, 32, 0).decode("ascii", "replace").strip()
        os.close(descriptor)
        reason = (
            f"a server runs on {path} already (process {owner or 'unknown'}); "
            "stop it, or give another --root-dir"
        )
        raise ServerError(reason) from None
    os.truncate(descriptor, 0)
    os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
    path.unlink(missing_ok=True)
    return Claim(path, descriptor)


def is_served(path: Path) -> bool:
    """Tell whether somebody listens on the socket at `path`."""
    return occupant_of(path) is Occupant.LIVING_SOCKET
