"""Connections: uvicorn's protocol, with bounds on what it leaves open.

By itself it reads as many header bytes as come, waits for the rest of a request for ever, and gives
an application no means to cut off a client that takes nothing of its answer.
"""

from __future__ import annotations

import asyncio
from typing import Final

from typing_extensions import override
from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from simulator.api.serving.exchange import CONNECTION
from simulator.api.serving.limits import Limits

_TOO_LARGE: Final = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\n"
    b"content-length: 0\r\nconnection: close\r\n\r\n"
)
_OVERHEAD: Final = 2
"""So many times a body may be when it comes in chunks that are small."""


class BoundedProtocol(HttpToolsProtocol):
    """One connection; `limits` are those of its subclass for one server."""

    limits = Limits()

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, object],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._bytes = 0
        self._header_bytes = 0
        self._in_headers = True
        self._is_refused = False
        self._is_whole = False
        self._late: asyncio.TimerHandle | None = None

    @property
    def is_full(self) -> bool:
        """Whether the client has to take something before more is sent."""
        return self.flow.write_paused

    def cut_off(self) -> None:
        """End the connection at once, whatever is still to be sent."""
        self.transport.abort()

    @override
    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        if len(self.connections) >= self.limits.connections:
            self.transport = transport
            transport.abort()
            return
        super().connection_made(transport)
        self._late = self.loop.call_later(self.limits.request_seconds, transport.abort)

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self._be_patient()
        super().connection_lost(exc)

    @override
    def data_received(self, data: bytes) -> None:
        self._bytes += len(data)
        super().data_received(data)
        if self._is_whole:
            self._be_patient()
        elif self._bytes > self._bytes_max():
            self._refuse()
        elif self._late is None:
            self._late = self.loop.call_later(self.limits.request_seconds, self.transport.abort)

    @override
    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._is_whole = False
        self._in_headers = True
        self._header_bytes = 0
        self.scope["extensions"] = {CONNECTION: self}  # type: ignore[dict-item]

    @override
    def on_url(self, url: bytes) -> None:
        self._header_bytes += len(url)
        super().on_url(url)

    @override
    def on_header(self, name: bytes, value: bytes) -> None:
        self._header_bytes += len(name) + len(value)
        super().on_header(name, value)

    @override
    def on_headers_complete(self) -> None:
        if self._header_bytes > self.limits.header_bytes:
            self._refuse()
            return
        self._in_headers = False
        super().on_headers_complete()

    @override
    def on_body(self, body: bytes) -> None:
        if not self._is_refused:
            super().on_body(body)

    @override
    def on_message_complete(self) -> None:
        self._is_whole = True
        self._bytes = 0
        if not self._is_refused:
            super().on_message_complete()

    def _refuse(self) -> None:
        """Say that it is too much, unless an answer is under way, and close."""
        if self._in_headers and not self._is_refused:
            self.transport.write(_TOO_LARGE)
        self._is_refused = True
        self.transport.close()

    def _bytes_max(self) -> int:
        if self._in_headers:
            return self.limits.header_bytes
        return self.limits.header_bytes + _OVERHEAD * self.limits.body_bytes

    def _be_patient(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None
