"""What a server answers to methods it does not have, in grpc-go's words."""

from __future__ import annotations

from collections.abc import Sequence

import grpc
import grpc.aio
from typing_extensions import override


class UnknownMethods(grpc.GenericRpcHandler):
    """The last of a server's handlers: everything that the others did not know.

    Args:
        services: Names of the services that the server has.
    """

    def __init__(self, services: Sequence[str]) -> None:
        self._services = frozenset(services)

    @override
    def service(
        self, handler_call_details: grpc.HandlerCallDetails
    ) -> grpc.RpcMethodHandler[bytes, bytes]:
        """Return a handler that refuses the call."""
        service, _, method = handler_call_details.method.strip("/").rpartition("/")
        text = f"unknown service {service}"
        if service in self._services:
            text = f"unknown method {method} for service {service}"

        async def refuse(request: bytes, context: grpc.aio.ServicerContext[bytes, bytes]) -> bytes:
            del request
            context.set_code(grpc.StatusCode.UNIMPLEMENTED)
            context.set_details(text)
            return b""

        return grpc.unary_unary_rpc_method_handler(refuse)
