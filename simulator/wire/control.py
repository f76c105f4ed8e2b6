"""The control service of a running server: gRPC on ROOT/rebind.sock.

Requests go to a `ControlService`; an error of Rebind that it raises reaches the client as the same
error (`control_errors`). Message sizes and the number of calls at a time are bounded.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Final, Protocol, TypeVar

import grpc
import grpc.aio
from google.protobuf.message import DecodeError, Message

from simulator.errors import ConfigError, RebindError
from simulator.protocol import control_services as methods
from simulator.protocol import rebind_control_pb2 as control
from simulator.protocol.services import Method
from simulator.wire.control_errors import KIND_KEY, kind_of, shortened, status_of
from simulator.wire.listening import listen_at
from simulator.wire.servers import SOCKET_MODE
from simulator.wire.sockets import Appearance, SocketFile

MESSAGE_SIZE_MAX: Final = 64 * 1024 * 1024
"""Largest request or answer, in bytes: a cluster's pods, or a file of manifests."""
CALLS_MAX: Final = 256
"""Most calls at a time, watches included; more are refused."""

Request = TypeVar("Request", bound=Message)
Response = TypeVar("Response", bound=Message)


class ControlService(Protocol):
    """What answers the control interface; every method raises `RebindError` to refuse."""

    async def info(self, request: control.InfoRequest) -> control.InfoResponse:
        """Tell what this server is."""
        ...

    async def apply(self, request: control.ApplyRequest) -> control.ApplyResponse:
        """Create the objects of a manifest."""
        ...

    async def get(self, request: control.GetRequest) -> control.GetResponse:
        """Return the present objects of a kind."""
        ...

    def watch(self, request: control.GetRequest) -> AsyncIterator[control.WatchEvent]:
        """Yield the present objects of a kind, a bookmark, and every change after it."""
        ...

    async def describe(self, request: control.DescribeRequest) -> control.DescribeResponse:
        """Return one object with all that belongs to it."""
        ...

    async def delete(self, request: control.DeleteRequest) -> control.DeleteResponse:
        """Delete an object."""
        ...

    async def read(self, request: control.ReadRequest) -> control.ReadResponse:
        """Answer what is asked of a store."""
        ...

    def records(self, request: control.RecordsRequest) -> AsyncIterator[control.RecordsResponse]:
        """Yield records as they happen."""
        ...

    async def restart_kubelet(
        self, request: control.RestartKubeletRequest
    ) -> control.RestartKubeletResponse:
        """Restart a kubelet, and answer when its first pods are admitted or refused."""
        ...

    async def reboot_node(self, request: control.RebootNodeRequest) -> control.RebootNodeResponse:
        """Reboot a node, and answer when it is up again."""
        ...

    async def start_plugin(
        self, request: control.StartPluginRequest
    ) -> control.StartPluginResponse:
        """Start a built-in plugin in the server."""
        ...

    async def stop_plugin(self, request: control.StopPluginRequest) -> control.StopPluginResponse:
        """Stop a built-in plugin in the server."""
        ...


class ControlServer:
    """The gRPC server of one control service.

    Args:
        service: What answers.
        path: The socket, which must not exist (`control_socket.claim`).
        check: Called before anything is told; raises the `RebindError` that is told instead.
    """

    def __init__(
        self, service: ControlService, path: Path, check: Callable[[], None] = lambda: None
    ) -> None:
        self._path = path
        self._file: SocketFile | None = None
        self._server = grpc.aio.server(
            options=(
                ("grpc.max_receive_message_length", MESSAGE_SIZE_MAX),
                ("grpc.max_send_message_length", MESSAGE_SIZE_MAX),
            ),
            maximum_concurrent_rpcs=CALLS_MAX,
        )
        handlers = {
            methods.INFO.name: _unary(methods.INFO, service.info, check),
            methods.APPLY.name: _unary(methods.APPLY, service.apply, check),
            methods.GET.name: _unary(methods.GET, service.get, check),
            methods.DESCRIBE.name: _unary(methods.DESCRIBE, service.describe, check),
            methods.DELETE.name: _unary(methods.DELETE, service.delete, check),
            methods.READ.name: _unary(methods.READ, service.read, check),
            methods.RESTART_KUBELET.name: _unary(
                methods.RESTART_KUBELET, service.restart_kubelet, check
            ),
            methods.REBOOT_NODE.name: _unary(methods.REBOOT_NODE, service.reboot_node, check),
            methods.START_PLUGIN.name: _unary(methods.START_PLUGIN, service.start_plugin, check),
            methods.STOP_PLUGIN.name: _unary(methods.STOP_PLUGIN, service.stop_plugin, check),
            methods.WATCH.name: _stream(methods.WATCH, service.watch, check),
            methods.RECORDS.name: _stream(methods.RECORDS, service.records, check),
        }
        self._server.add_generic_rpc_handlers(
            (grpc.method_handlers_generic_handler(methods.CONTROL, handlers),)
        )

    async def start(self) -> None:
        """Listen; only the owner of the process may connect.

        Raises:
            ServerError: The socket cannot be made.
        """
        self._file = await listen_at(
            self._server, self._path, mode=SOCKET_MODE, appearance=Appearance.CREATED
        )

    async def stop(self, grace_s: float) -> None:
        """Take no more calls, wait for those under way, and break them off after `grace_s`."""
        await self._server.stop(grace_s)
        if self._file is not None:
            self._file.remove()


def _unary(
    method: Method[Request, Response],
    answer: Callable[[Request], Awaitable[Response]],
    check: Callable[[], None],
) -> grpc.RpcMethodHandler[bytes, bytes]:
    async def handle(content: bytes, context: grpc.aio.ServicerContext[bytes, bytes]) -> bytes:
        try:
            check()
            response = await answer(_read(method, content))
            check()
        except RebindError as error:
            await _refuse(context, error)
            raise
        return response.SerializeToString()

    return grpc.unary_unary_rpc_method_handler(handle)


def _stream(
    method: Method[Request, Response],
    answer: Callable[[Request], AsyncIterator[Response]],
    check: Callable[[], None],
) -> grpc.RpcMethodHandler[bytes, bytes]:
    async def handle(
        content: bytes, context: grpc.aio.ServicerContext[bytes, bytes]
    ) -> AsyncIterator[bytes]:
        try:
            async for response in answer(_read(method, content)):
                check()
                yield response.SerializeToString()
        except RebindError as error:
            await _refuse(context, error)
            raise

    return grpc.unary_stream_rpc_method_handler(handle)


def _read(method: Method[Request, Response], content: bytes) -> Request:
    """Return a request out of its bytes.

    Raises:
        ConfigError: They are none; gRPC itself would log a traceback of the server's.
    """
    try:
        return method.request.FromString(content)
    except DecodeError as error:
        reason = f"the bytes are no {method.request.DESCRIPTOR.name}"
        raise ConfigError(reason) from error


async def _refuse(context: grpc.aio.ServicerContext[bytes, bytes], error: RebindError) -> None:
    await context.abort(status_of(error), shortened(str(error)), ((KIND_KEY, kind_of(error)),))
