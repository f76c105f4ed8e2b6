"""A plugin's own socket and the server behind it."""

from __future__ import annotations

import asyncio

from plugins.conduct import Place
from plugins.model import DevicePlugin
from plugins.rpc import DevicePluginService, PluginRegistrationService, Witness
from simulator.wire.servers import UnixServer
from simulator.wire.sockets import SocketFile, file_at


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
        self._service = DevicePluginService(model, witness)
        self._registration = PluginRegistrationService(model.resource, version, witness)
        self._server: UnixServer | None = None
        self._file: SocketFile | None = None

    @property
    def is_serving(self) -> bool:
        """Whether there is a server, be its socket there or not."""
        return self._server is not None

    @property
    def is_in_place(self) -> bool:
        """Whether the file at the socket's path is the one that was made here."""
        return self._file is not None and self._file.is_in_place()

    async def open(self) -> None:
        """Serve the socket, if it is not served.

        Raises:
            ServerError: Somebody else serves it, or no socket can be made there.
        """
        if self.is_in_place and self.is_serving:
            return
        await self.close()
        server = UnixServer(self._place.socket)
        self._service.serve_on(server)
        if self._place.found_by_kubelet:
            self._registration.serve_on(server)
        self._server = server  # Before it starts, so that it is stopped whatever comes between.
        await server.start(mode=self._place.socket_mode)
        self._file = file_at(self._place.socket)

    async def close(self) -> None:
        """End the server; the socket's file stays where it is."""
        if self._server is not None:
            # To its end, also when this task is cancelled meanwhile.
            await asyncio.shield(self._server.stop(keep_file=True))
        self._server = None

    def remove_socket(self) -> None:
        """Remove the socket's file, if it was made here."""
        if self._file is not None:
            self._file.remove()
        self._file = None
