"""The client of the control service, for commands: calls wait for their answers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import grpc
from google.protobuf.message import Message

from simulator.protocol.services import Method
from simulator.wire.control import MESSAGE_SIZE_MAX
from simulator.wire.control_errors import error_of
from simulator.wire.sockets import target_of

Request = TypeVar("Request", bound=Message)
Response = TypeVar("Response", bound=Message)


class ControlClient:
    """A connection to one server.

    Args:
        channel: Where its calls go.
        server: The server's socket, for messages.
    """

    def __init__(self, channel: grpc.Channel, server: str) -> None:
        self._channel = channel
        self._server = server

    def call(self, method: Method[Request, Response], request: Request) -> Response:
        """Make one call.

        Raises:
            RebindError: What the server refused with, or why it cannot be reached.
        """
        stub = self._channel.unary_unary(
            method.path,
            request_serializer=method.request.SerializeToString,
            response_deserializer=method.response.FromString,
        )
        try:
            return stub(request)
        except grpc.RpcError as failure:
            raise error_of(failure, self._server) from failure

    def stream(self, method: Method[Request, Response], request: Request) -> Iterator[Response]:
        """Make a call and yield its answers as they come.

        Raises:
            RebindError: As of `call`, or why the stream has ended.
        """
        stub = self._channel.unary_stream(
            method.path,
            request_serializer=method.request.SerializeToString,
            response_deserializer=method.response.FromString,
        )
        responses = stub(request)
        try:
            yield from responses
        except grpc.RpcError as failure:
            raise error_of(failure, self._server) from failure
        finally:
            responses.cancel()


@contextmanager
def connected(path: Path) -> Iterator[ControlClient]:
    """Connect to the server on a socket; calls fail when nobody listens there."""
    options = (
        ("grpc.max_receive_message_length", MESSAGE_SIZE_MAX),
        ("grpc.max_send_message_length", MESSAGE_SIZE_MAX),
        ("grpc.enable_retries", 0),
    )
    with grpc.insecure_channel(target_of(path), options=options) as channel:
        yield ControlClient(channel, str(path))
