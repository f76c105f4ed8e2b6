"""gRPC reflection and health of a server, so that tools such as `grpcurl` can ask it.

The kubelet has neither; both come with the extra `reflection`.
"""

from __future__ import annotations

from collections.abc import Sequence

import grpc.aio
from google.protobuf.descriptor import FileDescriptor
from google.protobuf.descriptor_pool import DescriptorPool

from simulator.errors import ConfigError
from simulator.protocol.pool import POOL


def add_introspection(server: grpc.aio.Server, services: Sequence[str]) -> None:
    """Let a server describe its services and tell that they are served.

    Args:
        server: Not yet started (`UnixServer.grpc_server`).
        services: Full names of its services, which are Rebind's (`UnixServer.services`).

    Raises:
        ConfigError: The extra `reflection` is not installed.
    """
    try:
        from grpc_health.v1 import health, health_pb2, health_pb2_grpc  # noqa: PLC0415 - an extra
        from grpc_reflection.v1alpha import reflection, reflection_pb2  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        reason = (
            "gRPC reflection needs grpcio-reflection and grpcio-health-checking, which are not "
            "installed: pip install 'rebind[reflection]'"
        )
        raise ConfigError(reason) from error
    health_pb2_grpc.add_HealthServicer_to_server(health.aio.HealthServicer(), server)
    pool = DescriptorPool()
    for name in services:
        _add_file(pool, POOL.FindServiceByName(name).file)
    for file in (health_pb2.DESCRIPTOR, reflection_pb2.DESCRIPTOR):
        _add_file(pool, file)
    names = (*services, health.SERVICE_NAME, reflection.SERVICE_NAME)
    reflection.enable_server_reflection(names, server, pool)


def _add_file(pool: DescriptorPool, file: FileDescriptor) -> None:
    pool.AddSerializedFile(file.serialized_pb)
