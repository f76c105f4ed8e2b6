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
from tests.live.worlds import NODE, a_spec, a_world


async def accept(_: Registration) -> None:
    """Take every plugin."""


Asked = tuple[Sequence[reflection_pb2.ServerReflectionResponse], health_pb2.HealthCheckResponse]


async def ask(socket: Path, *requests: reflection_pb2.ServerReflectionRequest) -> Asked:
    async with grpc.aio.insecure_channel(f"unix:{socket}") as channel:
        stub = reflection_pb2_grpc.ServerReflectionStub(channel)
        answers = [answer async for answer in stub.ServerReflectionInfo(iter(requests))]
        health = await health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest())
    return answers, health


async def serve_and_ask(folder: Path, *requests: reflection_pb2.ServerReflectionRequest) -> Asked:
    server = RegistrationServer(folder, accept).server
    add_introspection(server.grpc_server, server.services)
    await server.start()
    asked = await ask(server.path, *requests)
    await server.stop()
    return asked


def test_a_server_describes_its_services(folder: Path) -> None:
    request = reflection_pb2.ServerReflectionRequest

    (listed, described), health = asyncio.run(
        serve_and_ask(
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


@pytest.mark.parametrize(
    ("socket", "service"),
    [
        ("device-plugins/kubelet.sock", "v1beta1.Registration"),
        ("pod-resources/kubelet.sock", "v1.PodResourcesLister"),
    ],
)
def test_a_live_node_describes_its_services_where_that_is_wanted(socket: str, service: str) -> None:
    async def story() -> list[str]:
        async with a_world(a_spec(), reflection=True) as world:
            request = reflection_pb2.ServerReflectionRequest(list_services="")
            [listed], _ = await ask(world.settings.folder(NODE).path / socket, request)
            return [each.name for each in listed.list_services_response.service]

    assert service in asyncio.run(story())


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
