"""The methods of all services, as values: what servers and clients are made from.

grpcio's generated classes would tie both sides to the generator's own import of grpc; the table
needs none. A test holds it against the `.proto` files.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from google.protobuf.message import Message

from simulator.protocol import rebind_deviceplugin_pb2 as device_plugin
from simulator.protocol import rebind_pluginregistration_pb2 as plugin_registration
from simulator.protocol import rebind_podresources_v1_pb2 as pod_resources_v1
from simulator.protocol import rebind_podresources_v1alpha1_pb2 as pod_resources_v1alpha1

Request = TypeVar("Request", bound=Message)
Response = TypeVar("Response", bound=Message)


@dataclass(frozen=True, slots=True)
class Method(Generic[Request, Response]):
    """One RPC that takes a single request.

    Attributes:
        service: The service's full name, e.g. `v1beta1.Registration`.
        name: e.g. `Register`.
        streams: Whether the answer is a stream of responses.
    """

    service: str
    name: str
    request: type[Request]
    response: type[Response]
    streams: bool = False

    @property
    def path(self) -> str:
        """The method's name on the wire, e.g. `/v1beta1.Registration/Register` (S1.1)."""
        return f"/{self.service}/{self.name}"


REGISTRATION: Final = "v1beta1.Registration"
"""Served by the kubelet (S1.2)."""

DEVICE_PLUGIN: Final = "v1beta1.DevicePlugin"
"""Served by the plugin (S1.3)."""

PLUGIN_REGISTRATION: Final = "pluginregistration.Registration"
"""Served by a plugin in `plugins_registry` (S1.29)."""

POD_RESOURCES_V1: Final = "v1.PodResourcesLister"
"""Served by the kubelet (S8.2)."""

POD_RESOURCES_V1ALPHA1: Final = "v1alpha1.PodResourcesLister"
"""Served by the kubelet (S8.2)."""

REGISTER: Final = Method(
    REGISTRATION, "Register", device_plugin.RegisterRequest, device_plugin.Empty
)
GET_DEVICE_PLUGIN_OPTIONS: Final = Method(
    DEVICE_PLUGIN,
    "GetDevicePluginOptions",
    device_plugin.Empty,
    device_plugin.DevicePluginOptions,
)
LIST_AND_WATCH: Final = Method(
    DEVICE_PLUGIN,
    "ListAndWatch",
    device_plugin.Empty,
    device_plugin.ListAndWatchResponse,
    streams=True,
)
GET_PREFERRED_ALLOCATION: Final = Method(
    DEVICE_PLUGIN,
    "GetPreferredAllocation",
    device_plugin.PreferredAllocationRequest,
    device_plugin.PreferredAllocationResponse,
)
ALLOCATE: Final = Method(
    DEVICE_PLUGIN, "Allocate", device_plugin.AllocateRequest, device_plugin.AllocateResponse
)
PRE_START_CONTAINER: Final = Method(
    DEVICE_PLUGIN,
    "PreStartContainer",
    device_plugin.PreStartContainerRequest,
    device_plugin.PreStartContainerResponse,
)
GET_INFO: Final = Method(
    PLUGIN_REGISTRATION,
    "GetInfo",
    plugin_registration.InfoRequest,
    plugin_registration.PluginInfo,
)
NOTIFY_REGISTRATION_STATUS: Final = Method(
    PLUGIN_REGISTRATION,
    "NotifyRegistrationStatus",
    plugin_registration.RegistrationStatus,
    plugin_registration.RegistrationStatusResponse,
)
LIST: Final = Method(
    POD_RESOURCES_V1,
    "List",
    pod_resources_v1.ListPodResourcesRequest,
    pod_resources_v1.ListPodResourcesResponse,
)
GET_ALLOCATABLE_RESOURCES: Final = Method(
    POD_RESOURCES_V1,
    "GetAllocatableResources",
    pod_resources_v1.AllocatableResourcesRequest,
    pod_resources_v1.AllocatableResourcesResponse,
)
GET: Final = Method(
    POD_RESOURCES_V1,
    "Get",
    pod_resources_v1.GetPodResourcesRequest,
    pod_resources_v1.GetPodResourcesResponse,
)
LIST_V1ALPHA1: Final = Method(
    POD_RESOURCES_V1ALPHA1,
    "List",
    pod_resources_v1alpha1.ListPodResourcesRequest,
    pod_resources_v1alpha1.ListPodResourcesResponse,
)
