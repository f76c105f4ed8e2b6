"""One client's connection to a unix socket, with calls made from the table of methods.

Failures are told as Go tells them (`status`). A message larger than may be received is taken in as
long as it stays below a multiple of the limit, so that what was in it can be told.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import grpc
import grpc.aio
from google.protobuf.message import DecodeError

from simulator.core.endpoints import DIAL_TIMEOUT
from simulator.core.instants import MILLISECOND, MINUTE, SECOND, Duration
from simulator.errors import PluginCallError, PluginTimeoutError
from simulator.protocol.services import Method, Request, Response
from simulator.wire.sockets import require_room, target_of
from simulator.wire.status import (
    CONTEXT_DEADLINE_EXCEEDED,
    closing_error,
    error_of,
    too_large_error,
    unreadable_error,
)

RECEIVE_BYTES_MAX: Final = 4 * 1024 * 1024
"""Largest message that a gRPC client or server takes by default (S1.21)."""

_REDIAL_FIRST_MS: Final = 100
_REDIAL_LAST_MS: Final = 1_000
_TAKEN_IN_FACTOR: Final = 2
_INT_MAX: Final = (1 << 31) - 1


@dataclass(frozen=True, slots=True)
class ConnectionSettings:
    """How a connection behaves.

    Attributes:
        dial_timeout: How long connecting may take.
        receive_bytes_max: Larger messages end a call with RESOURCE_EXHAUSTED (S1.21).
        keepalive_time: After how much silence the other side is asked for a sign of life. Servers
            in Go and Python break a connection off when asked more often than every 5 minutes.
            Differs: the kubelet never asks; a plugin that is stopped but not gone keeps its
            devices there for ever.
        keepalive_timeout: How long that sign may take; then the connection is lost.
    """

    dial_timeout: Duration = DIAL_TIMEOUT
    receive_bytes_max: int = RECEIVE_BYTES_MAX
    keepalive_time: Duration = Duration(5 * MINUTE + 30 * SECOND)
    keepalive_timeout: Duration = Duration(20 * SECOND)

    @property
    def taken_in_bytes_max(self) -> int:
        """How large a message may be to be taken in and looked at, whether it is used or not."""
        return min(self.receive_bytes_max * _TAKEN_IN_FACTOR, _INT_MAX)

    def channel_options(self) -> Sequence[tuple[str, int | str]]:
        """Return the settings as gRPC's channel arguments."""
        timeout = self.keepalive_timeout // MILLISECOND
        return (
            ("grpc.default_authority", "localhost"),
            ("grpc.enable_http_proxy", 0),
            # Of its own: a socket of the same name may be another plugin's by now (S1.23).
            ("grpc.use_local_subchannel_pool", 1),
            ("grpc.initial_reconnect_backoff_ms", _REDIAL_FIRST_MS),
            ("grpc.max_reconnect_backoff_ms", _REDIAL_LAST_MS),
            ("grpc.max_receive_message_length", self.taken_in_bytes_max),
            ("grpc.max_send_message_length", -1),
            ("grpc.keepalive_time_ms", self.keepalive_time // MILLISECOND),
            ("grpc.keepalive_timeout_ms", timeout),
            ("grpc.http2.ping_timeout_ms", timeout),  # What counts on unix sockets.
            ("grpc.http2.max_pings_without_data", 0),
        )


class Connection:
    """A connection to whoever serves a socket; it is made by `dial`.

    Attributes:
        path: The socket.
        receive_bytes_max: Size of the largest message that may be received.
    """

    def __init__(self, path: Path, channel: grpc.aio.Channel, receive_bytes_max: int) -> None:
        self.path = path
        self.receive_bytes_max = receive_bytes_max
        self._channel = channel
        self._closed = False

    async def call(
        self, method: Method[Request, Response], request: Request, within: Duration | None = None
    ) -> Response:
        """Make a call and return the answer.

        Args:
            method: A method without a stream.
            request: What is asked.
            within: The call's deadline; None for none.

        Raises:
            PluginCallError: The call failed; the text is Go's, `rpc error: code = … desc = …`.
        """
        return parsed(method.response, await self.call_for_bytes(method, request, within))

    async def call_for_bytes(
        self, method: Method[Request, Response], request: Request, within: Duration | None = None
    ) -> bytes:
        """Make a call and return the answer as it came on the wire.

        Raises:
            PluginCallError: As `call`.
        """
        if self._closed:
            raise closing_error()
        ask: grpc.aio.UnaryUnaryMultiCallable[Request, bytes] = self._channel.unary_unary(
            method.path, request_serializer=method.request.SerializeToString
        )
        try:
            content = await ask(request, timeout=None if within is None else within / SECOND)
        except grpc.aio.AioRpcError as failure:
            raise self._error_of(failure) from failure
        except asyncio.CancelledError:
            self._raise_if_closed()
            raise
        if len(content) > self.receive_bytes_max:
            raise too_large_error(len(content), self.receive_bytes_max)
        return content

    async def stream_of_bytes(
        self, method: Method[Request, Response], request: Request
    ) -> AsyncGenerator[bytes, None]:
        """Make a call without a deadline and yield what comes, as it came on the wire.

        Messages larger than may be received are yielded too: the one who reads judges their size.

        Raises:
            PluginCallError: The stream ended with an error.
        """
        if self._closed:
            raise closing_error()
        ask: grpc.aio.UnaryStreamMultiCallable[Request, bytes] = self._channel.unary_stream(
            method.path, request_serializer=method.request.SerializeToString
        )
        stream = ask(request)
        try:
            async for content in stream:
                yield content
        except grpc.aio.AioRpcError as failure:
            raise self._error_of(failure) from failure
        except asyncio.CancelledError:
            self._raise_if_closed()
            raise
        finally:
            stream.cancel()

    async def close(self) -> None:
        """Close the connection; calls under way fail with `the client connection is closing`."""
        if not self._closed:
            self._closed = True
            await self._channel.close()

    def _raise_if_closed(self) -> None:
        """Tell a call that `close` has broken off from a task that its owner has canceled."""
        task = asyncio.current_task()
        if self._closed and not (task is not None and task.cancelling()):
            raise closing_error() from None

    def _error_of(self, failure: grpc.aio.AioRpcError) -> PluginCallError:
        return error_of(failure, self.path, self.receive_bytes_max)


async def dial(path: Path, settings: ConnectionSettings) -> Connection:
    """Connect to the socket at `path`, trying again until it is served (S1.12.5).

    Raises:
        PluginTimeoutError: It was not served in time; the text is `context deadline exceeded`.
        ServerError: The path is too long for a socket.
    """
    require_room(path)
    channel = grpc.aio.insecure_channel(target_of(path), options=settings.channel_options())
    try:
        async with asyncio.timeout(settings.dial_timeout / SECOND):
            await channel.channel_ready()
    except TimeoutError:
        await channel.close()
        raise PluginTimeoutError(CONTEXT_DEADLINE_EXCEEDED) from None
    except BaseException:
        with suppress(asyncio.CancelledError):
            await channel.close()
        raise
    return Connection(path, channel, settings.receive_bytes_max)


def parsed(kind: type[Response], content: bytes) -> Response:
    """Return a message of a kind out of its bytes.

    Raises:
        PluginCallError: The bytes are no such message.
    """
    try:
        return kind.FromString(content)
    except DecodeError as error:
        raise unreadable_error() from error
