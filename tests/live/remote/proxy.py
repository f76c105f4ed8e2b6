"""A proxy in front of an API server that loses answers: the request was carried out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from urllib.parse import urlsplit

IsLost = Callable[[str, str], bool]
"""Tells of a method and a path whether its answer is lost."""


def never(method: str, path: str) -> bool:
    """Lose nothing."""
    del method, path
    return False


class Proxy:
    """Hands on what clients send, connection by connection.

    Args:
        url: The server.
        is_lost: Asked for every request.

    Attributes:
        requests: Method and path of every request, in order.
        came: When each came, by the clock of the loop.
        lost: Those of them whose answer was lost.
        is_down: Whether every connection is closed at once.
    """

    def __init__(self, url: str, is_lost: IsLost = never) -> None:
        parts = urlsplit(url)
        self._host, self._port = parts.hostname or "", parts.port or 0
        self._is_lost = is_lost
        self.requests: list[tuple[str, str]] = []
        self.came: list[float] = []
        self.lost: list[tuple[str, str]] = []
        self.is_down = False
        self._serving: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[str]:
        """Serve; yield the URL."""
        server = await asyncio.start_server(self._client, "127.0.0.1", 0)
        try:
            yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        finally:
            server.close()
            for task in list(self._serving):
                task.cancel()
            await asyncio.gather(*self._serving, return_exceptions=True)

    def cut(self) -> None:
        """Close all connections, and let none come about until `is_down` is False again."""
        self.is_down = True
        for task in list(self._serving):
            task.cancel()

    async def _client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.is_down:
            writer.close()
            return
        task = asyncio.current_task()
        assert task is not None
        self._serving.add(task)
        loses = asyncio.Event()
        server_reader, server_writer = await asyncio.open_connection(self._host, self._port)
        back = asyncio.create_task(self._back(server_reader, writer, loses))
        try:
            while piece := await reader.read(1 << 16):
                for request in _requests(piece):
                    self.requests.append(request)
                    self.came.append(asyncio.get_running_loop().time())
                    if self._is_lost(*request):
                        self.lost.append(request)
                        loses.set()
                server_writer.write(piece)
        except (OSError, asyncio.CancelledError):
            pass  # Cut.
        finally:
            back.cancel()
            server_writer.close()
            writer.close()
            await asyncio.gather(back, return_exceptions=True)
            self._serving.discard(task)

    async def _back(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, loses: asyncio.Event
    ) -> None:
        """Hand answers back; one that is to be lost ends the connection instead."""
        with suppress(OSError):
            while piece := await reader.read(1 << 16):
                if loses.is_set():
                    break
                writer.write(piece)
        writer.close()


def _requests(piece: bytes) -> list[tuple[str, str]]:
    """Return the requests that begin in what was sent; a client sends one at a time."""
    line = piece.split(b"\r\n", 1)[0].split(b" ")
    if len(line) == 3 and line[2].startswith(b"HTTP/"):
        return [(line[0].decode(), line[1].decode())]
    return []
