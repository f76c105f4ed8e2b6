"""The generated code: current, in a pool of its own, with the names and numbers of the oracle."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Final

import pytest
from google.protobuf.descriptor import FileDescriptor, ServiceDescriptor

from simulator.protocol import (
    rebind_deviceplugin_pb2,
    rebind_pluginregistration_pb2,
    rebind_podresources_v1_pb2,
    rebind_podresources_v1alpha1_pb2,
    services,
)
from simulator.protocol.pool import POOL
from simulator.protocol.services import Method
from tests.protocol.generating import ROOT, committed, generated

FILES: Final[tuple[FileDescriptor, ...]] = (
    rebind_deviceplugin_pb2.DESCRIPTOR,
    rebind_pluginregistration_pb2.DESCRIPTOR,
    rebind_podresources_v1_pb2.DESCRIPTOR,
    rebind_podresources_v1alpha1_pb2.DESCRIPTOR,
)

FOREIGN: Final = """
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

for package, file, messages in (
    ("v1beta1", "api.proto", ("Empty", "Device", "RegisterRequest")),
    ("v1", "simulator/protocol/rebind_podresources_v1.proto", ("PodResources",)),
    ("pluginregistration", "pluginregistration.proto", ("PluginInfo",)),
):
    described = descriptor_pb2.FileDescriptorProto(name=file, package=package, syntax="proto3")
    for name in messages:
        described.message_type.add(name=name).field.add(
            name="theirs", number=1, type=5, label=1, json_name="theirs"
        )
    descriptor_pool.Default().Add(described)
theirs = message_factory.GetMessageClass(
    descriptor_pool.Default().FindMessageTypeByName("v1beta1.Device")
)

from simulator.protocol import rebind_deviceplugin_pb2 as ours
from simulator.protocol import rebind_pluginregistration_pb2 as plugins
from simulator.protocol import rebind_podresources_v1_pb2 as pods
from simulator.protocol import services

listed = ours.ListAndWatchResponse(devices=[
    ours.Device(ID="g0", health="Healthy", topology=ours.TopologyInfo(nodes=[ours.NUMANode(ID=1)]))
])
response = ours.ContainerAllocateResponse(envs={"A": "b"})
assert ours.ListAndWatchResponse.FromString(listed.SerializeToString()) == listed
assert ours.ContainerAllocateResponse.FromString(response.SerializeToString()).envs["A"] == "b"
assert pods.PodResources.FromString(pods.PodResources(name="p").SerializeToString()).name == "p"
assert plugins.PluginInfo(name="x").SerializeToString() == b"\\x12\\x01x"
assert theirs(theirs=7).SerializeToString() == b"\\x08\\x07"
assert services.LIST_AND_WATCH.response is ours.ListAndWatchResponse
"""


def test_committed_code_is_what_the_protos_generate() -> None:
    assert committed() == generated(), "run `python -m tests.protocol`"


@pytest.mark.parametrize("implementation", ["upb", "python"])
def test_foreign_messages_of_the_same_names_do_no_harm(implementation: str) -> None:
    environment = os.environ | {
        "PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION": implementation,
        "PYTHONPATH": str(ROOT),
    }

    subprocess.run([sys.executable, "-c", FOREIGN], check=True, env=environment)  # noqa: S603 - ours


def test_every_method_of_every_service_is_in_the_table() -> None:
    declared: dict[str, ServiceDescriptor] = {
        service.full_name: service for file in FILES for service in file.services_by_name.values()
    }
    table = [each for each in vars(services).values() if isinstance(each, Method)]

    assert sorted(method.path for method in table) == sorted(
        f"/{name}/{method.name}" for name, service in declared.items() for method in service.methods
    )
    for method in table:
        descriptor = declared[method.service].methods_by_name[method.name]
        assert method.request.DESCRIPTOR is descriptor.input_type
        assert method.response.DESCRIPTOR is descriptor.output_type
        assert method.streams is descriptor.server_streaming
        assert not descriptor.client_streaming


def test_services_have_the_names_that_are_on_the_wire() -> None:
    """S1.1, S1.2, S1.3, S1.29, S8.2."""
    table = [each for each in vars(services).values() if isinstance(each, Method)]

    assert {method.path for method in table} == {
        "/v1beta1.Registration/Register",
        "/v1beta1.DevicePlugin/GetDevicePluginOptions",
        "/v1beta1.DevicePlugin/ListAndWatch",
        "/v1beta1.DevicePlugin/GetPreferredAllocation",
        "/v1beta1.DevicePlugin/Allocate",
        "/v1beta1.DevicePlugin/PreStartContainer",
        "/pluginregistration.Registration/GetInfo",
        "/pluginregistration.Registration/NotifyRegistrationStatus",
        "/v1.PodResourcesLister/List",
        "/v1.PodResourcesLister/GetAllocatableResources",
        "/v1.PodResourcesLister/Get",
        "/v1alpha1.PodResourcesLister/List",
    }


def fields_of(message: str) -> str:
    """Describe a message as the tables of the oracle do."""
    kinds = {3: "int64", 4: "uint64", 5: "int32", 8: "bool", 9: "string"}
    described = []
    for field in POOL.FindMessageTypeByName(message).fields:
        kind = kinds[field.type] if field.message_type is None else field.message_type.name
        if field.message_type is not None and field.message_type.GetOptions().map_entry:
            kind = "map"
        repeated = "repeated " if field.is_repeated and kind != "map" else ""
        described.append(f"{field.name}={field.number} {repeated}{kind}")
    return "; ".join(described)


@pytest.mark.parametrize(
    ("message", "fields"),
    [
        ("v1beta1.Empty", ""),
        (
            "v1beta1.DevicePluginOptions",
            "pre_start_required=1 bool; get_preferred_allocation_available=2 bool",
        ),
        (
            "v1beta1.RegisterRequest",
            (
                "version=1 string; endpoint=2 string; resource_name=3 string; "
                "options=4 DevicePluginOptions"
            ),
        ),
        ("v1beta1.ListAndWatchResponse", "devices=1 repeated Device"),
        ("v1beta1.Device", "ID=1 string; health=2 string; topology=3 TopologyInfo"),
        ("v1beta1.TopologyInfo", "nodes=1 repeated NUMANode"),
        ("v1beta1.NUMANode", "ID=1 int64"),
        (
            "v1beta1.ContainerPreferredAllocationRequest",
            (
                "available_deviceIDs=1 repeated string; must_include_deviceIDs=2 repeated string; "
                "allocation_size=3 int32"
            ),
        ),
        ("v1beta1.ContainerPreferredAllocationResponse", "deviceIDs=1 repeated string"),
        ("v1beta1.ContainerAllocateRequest", "devices_ids=1 repeated string"),
        (
            "v1beta1.ContainerAllocateResponse",
            (
                "envs=1 map; mounts=2 repeated Mount; devices=3 repeated DeviceSpec; "
                "annotations=4 map; cdi_devices=5 repeated CDIDevice"
            ),
        ),
        ("v1beta1.Mount", "container_path=1 string; host_path=2 string; read_only=3 bool"),
        (
            "v1beta1.DeviceSpec",
            "container_path=1 string; host_path=2 string; permissions=3 string",
        ),
        ("v1beta1.CDIDevice", "name=1 string"),
        ("v1beta1.PreStartContainerRequest", "devices_ids=1 repeated string"),
        (
            "pluginregistration.PluginInfo",
            "type=1 string; name=2 string; endpoint=3 string; supported_versions=4 repeated string",
        ),
        (
            "pluginregistration.RegistrationStatus",
            "plugin_registered=1 bool; error=2 string",
        ),
        (
            "v1.PodResources",
            "name=1 string; namespace=2 string; containers=3 repeated ContainerResources",
        ),
        (
            "v1.ContainerResources",
            (
                "name=1 string; devices=2 repeated ContainerDevices; cpu_ids=3 repeated int64; "
                "memory=4 repeated ContainerMemory; dynamic_resources=5 repeated DynamicResource"
            ),
        ),
        (
            "v1.ContainerDevices",
            "resource_name=1 string; device_ids=2 repeated string; topology=3 TopologyInfo",
        ),
        ("v1.ContainerMemory", "memory_type=1 string; size=2 uint64; topology=3 TopologyInfo"),
        (
            "v1.DynamicResource",
            (
                "claim_name=2 string; claim_namespace=3 string; "
                "claim_resources=4 repeated ClaimResource"
            ),
        ),
        (
            "v1.ClaimResource",
            (
                "cdi_devices=1 repeated CDIDevice; driver_name=2 string; pool_name=3 string; "
                "device_name=4 string; share_id=5 string"
            ),
        ),
        (
            "v1.AllocatableResourcesResponse",
            (
                "devices=1 repeated ContainerDevices; cpu_ids=2 repeated int64; "
                "memory=3 repeated ContainerMemory"
            ),
        ),
        ("v1.GetPodResourcesRequest", "pod_name=1 string; pod_namespace=2 string"),
        ("v1.GetPodResourcesResponse", "pod_resources=1 PodResources"),
        ("v1alpha1.ContainerResources", "name=1 string; devices=2 repeated ContainerDevices"),
        ("v1alpha1.ContainerDevices", "resource_name=1 string; device_ids=2 repeated string"),
    ],
)
def test_messages_have_the_numbers_that_are_on_the_wire(message: str, fields: str) -> None:
    """S1.4, S1.29, S8.4, S8.5."""
    assert fields_of(message) == fields
