"""Reflection and health, as `grpcurl` asks for them."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

import grpc
import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from simulator.errors import ConfigError
from simulator.protocol import rebind_deviceplugin_pb2 as device_plugin
from simulator.wire.introspection import add_introspection
from simulator.wire.registration_server import Registration, RegistrationServer


async def accept(_: Registration) -> None:
    """Take every plugin."""


async def ask(
    folder: Path, *requests: reflection_pb2.ServerReflectionRequest
) -> tuple[Sequence[reflection_pb2.ServerReflectionResponse], health_pb2.HealthCheckResponse]:
    server = RegistrationServer(folder, accept).server
    add_introspection(server.grpc_server, server.services)
    await server.start()
    async with grpc.aio.insecure_channel(f"unix:{server.path}") as channel:
        stub = reflection_pb2_grpc.ServerReflectionStub(channel)
        answers = [answer async for answer in stub.ServerReflectionInfo(iter(requests))]
        health = await health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest())
    await server.stop()
    return answers, health


def test_a_server_describes_its_services(folder: Path) -> None:
    request = reflection_pb2.ServerReflectionRequest

    (listed, described), health = asyncio.run(
        ask(
            folder,
            request(list_services=""),
            request(file_containing_symbol="v1beta1.Registration"),
        )
    )

    assert [service.name for service in listed.list_services_response.service] == [
        "grpc.health.v1.Health",
        "grpc.reflection.v1alpha.ServerReflection",
        "v1beta1.Registration",
    ]
    files = described.file_descriptor_response.file_descriptor_proto
    assert [FileDescriptorProto.FromString(each).name for each in files] == [
        device_plugin.DESCRIPTOR.name
    ]
    assert health.status == health_pb2.HealthCheckResponse.SERVING


def test_without_the_extra_the_way_to_get_it_is_told(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "grpc_reflection.v1alpha", None)

    async def story() -> None:
        server = RegistrationServer(folder, accept).server
        with pytest.raises(ConfigError, match=r"pip install 'rebind\[reflection\]'"):
            add_introspection(server.grpc_server, server.services)
        await server.stop()

    asyncio.run(story())
