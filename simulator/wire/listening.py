"""How every server of this package, and of plugins, comes to listen on its socket."""

from __future__ import annotations

from pathlib import Path

import grpc.aio

from simulator.errors import ServerError
from simulator.wire.sockets import Appearance, SocketFile, publish, staged, target_of


async def listen_at(
    server: grpc.aio.Server, path: Path, *, mode: int | None, appearance: Appearance
) -> SocketFile:
    """Start a server; whoever then sees its socket at `path` can connect to it.

    Args:
        server: With all its handlers, not yet started; it is stopped if this fails.
        path: The socket, in a folder that is there.
        mode: Permission bits; None for what umask leaves.
        appearance: How the socket comes to its place.

    Returns:
        The socket's file, which is the caller's to remove: gRPC does not know of it.

    Raises:
        ServerError: The path is too long, taken (`Appearance.CREATED`) or cannot be written.
    """
    try:
        with staged(path) as place:
            try:
                server.add_insecure_port(target_of(place))
            except RuntimeError as error:
                reason = f"no socket can be made at {path}: {error}"
                raise ServerError(reason) from error
            await server.start()
            return publish(place, path, mode=mode, appearance=appearance)
    except ServerError:
        await server.stop(None)
        raise
