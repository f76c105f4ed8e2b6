"""A client of the PodResources service, as a monitoring agent is one (S8.4)."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import grpc
import grpc.aio

from simulator.core.devices import DeviceId, NumaNode
from simulator.core.pod_resources import ContainerDevices, ContainerResources, PodResources
from simulator.core.pods import ContainerName
from simulator.core.resources import ResourceName
from simulator.errors import ServerError
from simulator.protocol import rebind_podresources_v1_pb2 as v1
from simulator.protocol.services import LIST
from simulator.wire.sockets import target_of

_TIMEOUT_S: Final = 10.0


async def list_pods(socket: Path) -> tuple[PodResources, ...]:
    """Call List of `v1` on a node's socket.

    Raises:
        ServerError: Nobody answers there, or with an error.
    """
    async with grpc.aio.insecure_channel(target_of(socket)) as channel:
        call: grpc.aio.UnaryUnaryMultiCallable[
            v1.ListPodResourcesRequest, v1.ListPodResourcesResponse
        ] = channel.unary_unary(
            LIST.path,
            request_serializer=LIST.request.SerializeToString,
            response_deserializer=LIST.response.FromString,
        )
        try:
            response = await call(LIST.request(), timeout=_TIMEOUT_S)
        except grpc.aio.AioRpcError as error:
            reason = f"PodResources on {socket} failed: {error.code().name}: {error.details()}"
            raise ServerError(reason) from error
    return tuple(
        PodResources(
            pod.name,
            pod.namespace,
            tuple(
                ContainerResources(
                    ContainerName(container.name), tuple(map(_devices, container.devices))
                )
                for container in pod.containers
            ),
        )
        for pod in response.pod_resources
    )


def _devices(entry: v1.ContainerDevices) -> ContainerDevices:
    topology = None
    if entry.HasField("topology"):
        topology = tuple(NumaNode(node.ID) for node in entry.topology.nodes)
    return ContainerDevices(
        ResourceName(entry.resource_name), tuple(map(DeviceId, entry.device_ids)), topology
    )
