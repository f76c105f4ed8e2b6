"""A unix socket that appears under its name only when it is ready (S8.1)."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import grpc.aio

from simulator.wire.control_socket import check_length

_DIRECTORY_MODE: Final = 0o750


async def bind_renamed(server: grpc.aio.Server, path: Path, mode: int | None) -> None:
    """Start a server on the socket `path`, in place of what is there.

    The socket is made under another name of the same length, gets its permission bits, and is then
    renamed: a client finds either no socket or one that answers.

    Args:
        server: Not yet started.
        path: Where clients look; its folder is made if need be, with mode 0750.
        mode: Permission bits; None for what the umask leaves.

    Raises:
        ServerError: The path is too long for a socket.
        OSError: The socket cannot be made.
    """
    check_length(path)
    path.parent.mkdir(mode=_DIRECTORY_MODE, parents=True, exist_ok=True)
    made = path.with_name("." + path.name[1:])
    made.unlink(missing_ok=True)
    try:
        server.add_insecure_port(f"unix:{made}")
    except RuntimeError as error:
        message = f"cannot listen on {path}: {error}"
        raise OSError(message) from error
    if mode is not None:
        made.chmod(mode)
    await server.start()
    made.replace(path)
