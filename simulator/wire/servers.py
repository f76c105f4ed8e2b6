"""A gRPC server behind one unix socket, with its methods from the table.

Handlers take a request and return or yield responses; an error of Rebind that one raises reaches
the client as status UNKNOWN with its text, as an error of a Go handler does (S1.12).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import grpc
import grpc.aio
from google.protobuf.message import DecodeError, Message
from typing_extensions import override

from simulator.core.instants import SECOND, Duration
from simulator.errors import RebindError
from simulator.protocol.services import Method, Request, Response
from simulator.wire.connections import RECEIVE_BYTES_MAX
from simulator.wire.lifetimes import Startable
from simulator.wire.listening import listen_at
from simulator.wire.sockets import Appearance, SocketFile, make_room
from simulator.wire.status import UNREADABLE
from simulator.wire.unknown_methods import UnknownMethods

SOCKET_MODE: Final = 0o600
"""Permissions of a server's socket; a kubelet's are what umask leaves (details 13)."""

CONNECTIONS_MAX: Final = 1_024
CALLS_MAX: Final = 1_024

_Context = grpc.aio.ServicerContext[Any, Any]


class ExhaustedError(RebindError):
    """A handler's answer to a client that asks too much: status RESOURCE_EXHAUSTED."""


@dataclass(frozen=True, slots=True)
class ServerLimits:
    """What a server takes at most; more is refused with RESOURCE_EXHAUSTED or not connected.

    Attributes:
        receive_bytes_max: Size of a request.
        connections_max: Connections at a time.
        calls_max: Calls at a time, streams included.
    """

    receive_bytes_max: int = RECEIVE_BYTES_MAX
    connections_max: int = CONNECTIONS_MAX
    calls_max: int = CALLS_MAX

    def server_options(self) -> Sequence[tuple[str, int]]:
        """Return the limits as gRPC's channel arguments."""
        return (
            ("grpc.max_receive_message_length", self.receive_bytes_max),
            ("grpc.max_send_message_length", -1),
            ("grpc.max_allowed_incoming_connections", self.connections_max),
        )


class UnixServer(Startable):
    """A server of some services at one path, for one life: `start`, then `stop`.

    Args:
        path: Where its socket appears.
        limits: What it takes at most.

    Attributes:
        grpc_server: For further services that grpcio brings along.
    """

    def __init__(self, path: Path, limits: ServerLimits | None = None) -> None:
        limits = limits or ServerLimits()
        self.path = path
        self.grpc_server: grpc.aio.Server = grpc.aio.server(
            options=limits.server_options(), maximum_concurrent_rpcs=limits.calls_max
        )
        self._handlers: dict[str, dict[str, grpc.RpcMethodHandler[Any, Any]]] = {}
        self._file: SocketFile | None = None
        self._end: asyncio.Task[bool] | None = None
        self._stopped = False

    @property
    def services(self) -> tuple[str, ...]:
        """The full names of its services."""
        return tuple(self._handlers)

    @property
    def is_serving(self) -> bool:
        """Whether it has started and neither been stopped nor ended by itself."""
        return self._end is not None and not self._end.done() and not self._stopped

    @property
    def has_failed(self) -> bool:
        """Whether it has ended without having been stopped."""
        return self._end is not None and self._end.done() and not self._stopped

    @property
    def is_reachable(self) -> bool:
        """Whether the file at its path is still its socket."""
        return self._file is not None and self._file.is_in_place()

    def answer(
        self,
        method: Method[Request, Response],
        handle: Callable[[Request], Awaitable[Response | bytes]],
    ) -> None:
        """Serve a method that has one response, a message or its bytes."""
        self._service(method)[method.name] = grpc.unary_unary_rpc_method_handler(
            _unary(method, handle), response_serializer=_serialized
        )

    def stream(
        self,
        method: Method[Request, Response],
        handle: Callable[[Request], AsyncIterator[Response | bytes]],
    ) -> None:
        """Serve a method that has a stream of responses, messages or their bytes."""
        self._service(method)[method.name] = grpc.unary_stream_rpc_method_handler(
            _stream(method, handle), response_serializer=_serialized
        )

    @override
    async def start(
        self, *, mode: int | None = SOCKET_MODE, appearance: Appearance = Appearance.CREATED
    ) -> None:
        """Begin to serve; whoever sees the socket can connect to it.

        A socket that a dead server has left is replaced.

        Args:
            mode: Permissions of the socket; None for what umask leaves.
            appearance: How it comes to its place.

        Raises:
            ServerError: Another server lives at the path, or no socket can be made there.
        """
        for service, handlers in self._handlers.items():
            handler = grpc.method_handlers_generic_handler(service, handlers)
            self.grpc_server.add_generic_rpc_handlers((handler,))
        self.grpc_server.add_generic_rpc_handlers((UnknownMethods(self.services),))
        make_room(self.path)
        self._file = await listen_at(self.grpc_server, self.path, mode=mode, appearance=appearance)
        self._end = asyncio.create_task(self.grpc_server.wait_for_termination())

    @override
    async def stop(self, grace: Duration | None = None, *, keep_file: bool = False) -> None:
        """Remove the socket, take no more calls and end those under way; twice is once.

        Args:
            grace: How long calls under way may go on; None breaks them off.
            keep_file: Leave the socket as a killed process does.
        """
        file, self._file = self._file, None
        if file is not None and not keep_file:
            file.remove()
        self._stopped = True
        await self.grpc_server.stop(None if grace is None else grace / SECOND)
        if self._end is not None:
            await self._end

    def _service(
        self, method: Method[Request, Response]
    ) -> dict[str, grpc.RpcMethodHandler[Any, Any]]:
        return self._handlers.setdefault(method.service, {})


def _serialized(response: Message | bytes) -> bytes:
    return response if isinstance(response, bytes) else response.SerializeToString()


def _unary(
    method: Method[Request, Response], answer: Callable[[Request], Awaitable[Message | bytes]]
) -> Callable[[bytes, _Context], Awaitable[Message | bytes]]:
    async def handle(request: bytes, context: _Context) -> Message | bytes:
        try:
            return await answer(await _read(method, request, context))
        except RebindError as error:
            await context.abort(_status_of(error), str(error))

    return handle


def _stream(
    method: Method[Request, Response],
    answer: Callable[[Request], AsyncIterator[Message | bytes]],
) -> Callable[[bytes, _Context], AsyncIterator[Message | bytes]]:
    async def handle(request: bytes, context: _Context) -> AsyncIterator[Message | bytes]:
        try:
            async for response in answer(await _read(method, request, context)):
                yield response
        except RebindError as error:
            await context.abort(_status_of(error), str(error))

    return handle


async def _read(method: Method[Request, Response], request: bytes, context: _Context) -> Request:
    try:
        return method.request.FromString(request)
    except DecodeError:
        await context.abort(
            grpc.StatusCode.INTERNAL, f"grpc: error unmarshalling request: proto: {UNREADABLE}"
        )


def _status_of(error: RebindError) -> grpc.StatusCode:
    if isinstance(error, ExhaustedError):
        return grpc.StatusCode.RESOURCE_EXHAUSTED
    return grpc.StatusCode.UNKNOWN
