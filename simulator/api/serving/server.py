"""Listens: uvicorn on the caller's loop, with a socket that is bound before anything is started.

Measured with 64 connections on two cores, durable creates of 500 bytes: a protocol written by hand
on httptools did 14,600/s, uvicorn with a bare ASGI callable 9,800 to 11,200/s, with Starlette 6,000
to 6,700/s, each around a handler that only stores what it was sent. With what a create really does
(decode, check, fill in, encode, publish) the difference between the first two is less than a fifth:
parsing, keep-alive, pipelining, flow control and shutdown are worth that. A framework is not.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import ssl
from collections.abc import Generator
from typing import Final, Protocol

import uvicorn
from typing_extensions import override

from simulator.api.serving.exchange import Receive, Scope, Send
from simulator.api.serving.limits import Limits
from simulator.api.serving.protocol import BoundedProtocol
from simulator.errors import ServerError

_BACKLOG: Final = 1_024
_LAST_ANSWERS_SECONDS: Final = 10
"""How long a server that stops waits for clients that take nothing of their answers."""
_CANCELED_SECONDS: Final = 10
"""After which uvicorn cancels what has not ended by the end of its connection."""
_LOOKED_SECONDS: Final = 0.05
_PARTING_SECONDS: Final = 0.5
"""How long clients have to say goodbye: over TLS both sides do, and most that wait do not."""


class _Server(uvicorn.Server):
    @override
    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        """Leave signals to the program."""
        yield


def listening(host: str, port: int) -> socket.socket:
    """Return a socket that listens; port 0 is a free one.

    Raises:
        ServerError: The address cannot be had.
    """
    try:
        return socket.create_server(
            (host, port),
            family=socket.AF_INET6 if ":" in host else socket.AF_INET,
            backlog=_BACKLOG,
        )
    except OSError as error:
        shown = f"[{host}]" if ":" in host else host
        reason = (
            f"the API cannot be served on {shown}:{port}: {os.strerror(error.errno or 0)}; "
            "choose another address with --api-http of `rebind serve`, --http of `rebind api serve`"
        )
        raise ServerError(reason) from error


class Application(Protocol):
    """What answers requests (ASGI)."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        ...

    def end(self) -> None:
        """Let what lasts long end: the server stops."""
        ...


class HttpServer:
    """Serves an application until it is stopped.

    Args:
        app: What answers.
        listener: Where it listens.
        tls: With which certificate; None for plain HTTP.
        limits: Bounds of connections.
    """

    def __init__(
        self,
        app: Application,
        listener: socket.socket,
        *,
        tls: ssl.SSLContext | None = None,
        limits: Limits,
    ) -> None:
        self._app = app
        self._listener = listener
        config = uvicorn.Config(
            app,
            http=type("Protocol", (BoundedProtocol,), {"limits": limits}),
            ws="none",
            loop="none",
            lifespan="off",
            interface="asgi3",
            log_config=None,
            log_level="error",  # What clients do wrong, they are told.
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_keep_alive=round(limits.idle_seconds),
            timeout_graceful_shutdown=_LAST_ANSWERS_SECONDS + _CANCELED_SECONDS,
            backlog=_BACKLOG,
        )
        config.load()
        config.ssl = tls
        self._server = _Server(config)
        self._serving: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Answer requests from now on: the listener queues them already."""
        self._serving = asyncio.create_task(
            self._server.serve(sockets=[self._listener]), name="api server"
        )

    async def stop(self) -> None:
        """End watches, answer what has come in, and close."""
        self._app.end()
        self._server.should_exit = True
        if self._serving is not None:
            state, answered_at = self._server.server_state, None
            now = asyncio.get_running_loop().time
            begun = now()
            while not self._serving.done():
                await asyncio.wait([self._serving], timeout=_LOOKED_SECONDS)
                if now() - begun > _LAST_ANSWERS_SECONDS:
                    for connection in [*state.connections]:
                        connection.transport.abort()
                elif state.tasks:
                    answered_at = None
                elif answered_at is None:
                    answered_at = now()
                elif now() - answered_at > _PARTING_SECONDS:
                    for connection in [*state.connections]:
                        connection.transport.abort()
            await self._serving
        self._listener.close()
