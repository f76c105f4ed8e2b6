"""A plugin's own socket and the gRPC server behind it."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import grpc

from plugins.conduct import Place
from plugins.model import DevicePlugin
from plugins.rpc import DevicePluginService, PluginRegistrationService, Witness
from plugins.sockets import FileIdentity, identity_of, start_at


class Endpoint:
    """Serves one model at one place; may be opened again after the socket was removed.

    Args:
        model: Whose answers are served.
        place: Where.
        version: The API version that is named to a kubelet that has found the socket (S1.29).
        witness: Is told of calls and streams.
    """

    def __init__(
        self, model: DevicePlugin, place: Place, *, version: str, witness: Witness
    ) -> None:
        self._place = place
        self._services = [DevicePluginService(model, witness).handler()]
        if place.found_by_kubelet:
            registration = PluginRegistrationService(model.resource, version, witness)
            self._services.append(registration.handler())
        self._server: grpc.aio.Server | None = None
        self._own: FileIdentity | None = None

    @property
    def is_serving(self) -> bool:
        """Whether there is a server, be its socket there or not."""
        return self._server is not None

    @property
    def is_in_place(self) -> bool:
        """Whether the file at the socket's path is the one that was made here."""
        return self._own is not None and identity_of(self._place.socket) == self._own

    async def open(self) -> None:
        """Serve the socket, if it is not served.

        Raises:
            OSError: The folder is gone or may not be written.
        """
        if self.is_in_place and self.is_serving:
            return
        await self.close()
        server = grpc.aio.server()
        server.add_generic_rpc_handlers(self._services)
        self._server = server  # Before it starts, so that it is stopped whatever comes between.
        self._own = await start_at(server, self._place.socket, self._place.socket_mode)

    async def close(self) -> None:
        """End the server; the socket's file stays where it is."""
        if self._server is not None:
            # To its end, also when this task is cancelled meanwhile.
            await asyncio.shield(self._server.stop(None))
        self._server = None

    def remove_socket(self) -> None:
        """Remove the socket's file, if it was made here."""
        if self.is_in_place:
            with suppress(OSError):
                self._place.socket.unlink()
        self._own = None
