"""A kubelet's PodResources service on a real socket, and a client of it."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import grpc
import grpc.aio
from google.protobuf.message import Message

from simulator.core.behavior import Behavior
from simulator.core.instants import Duration, Instant
from simulator.core.persistence.checkpoint import CheckpointPersistence
from simulator.core.persistence.protocol import Persistence
from simulator.core.pod_resources import (
    ContainerDevices,
    LookupFailed,
    PodResources,
    PodResourcesGates,
)
from simulator.protocol import rebind_podresources_v1_pb2 as v1
from simulator.protocol import services
from simulator.protocol.services import Method
from simulator.wire.pod_resources import PodResourcesServer, PodResourcesServing
from tests.core.kubelet_pods import Kubelet

Request = TypeVar("Request", bound=Message)
Response = TypeVar("Response", bound=Message)


@dataclass
class Owner:
    """Answers from a kubelet of the core.

    Attributes:
        lists: How often List was asked for.
        requested, failed: Calls by version and method.
        now: What time it is for the limit.
        meanwhile: Called once after the next List has been answered and before it is sent.
    """

    kubelet: Kubelet
    lists: int = 0
    changes: int = 0
    requested: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    now: Instant = Instant(0)
    meanwhile: Callable[[], None] | None = None

    def revision(self) -> int:
        return self.changes

    async def list_pods(self, version: str) -> Sequence[PodResources]:
        self.lists += 1
        found = self.kubelet.list_pods(version)
        meanwhile, self.meanwhile = self.meanwhile, None
        if meanwhile is not None:
            meanwhile()
        return found

    def allocatable(self) -> Sequence[ContainerDevices]:
        return self.kubelet.view.allocatable()

    def pod(self, namespace: str, name: str) -> PodResources | LookupFailed:
        return self.kubelet.view.pod(namespace, name)

    def pod_resources_requested(self, version: str, method: str) -> None:
        self.requested[f"{version}/{method}"] += 1

    def pod_resources_failed(self, version: str, method: str) -> None:
        self.failed[f"{version}/{method}"] += 1


@dataclass
class Node:
    """A running service and how it is called."""

    kubelet: Kubelet
    owner: Owner
    path: Path
    channel: grpc.aio.Channel

    async def call(self, method: Method[Request, Response], request: Request) -> Response:
        call = self.channel.unary_unary(
            method.path,
            request_serializer=method.request.SerializeToString,
            response_deserializer=method.response.FromString,
        )
        return await call(request, timeout=60)

    async def list_pods(self) -> v1.ListPodResourcesResponse:
        return await self.call(services.LIST, v1.ListPodResourcesRequest())

    async def allocatable(self) -> v1.AllocatableResourcesResponse:
        request = v1.AllocatableResourcesRequest()
        return await self.call(services.GET_ALLOCATABLE_RESOURCES, request)

    async def pod(self, name: str, namespace: str = "default") -> v1.PodResources:
        request = v1.GetPodResourcesRequest(pod_name=name, pod_namespace=namespace)
        return (await self.call(services.GET, request)).pod_resources

    def pass_time(self, span: Duration) -> None:
        self.owner.now = Instant(self.owner.now + span)


@asynccontextmanager
async def serving(
    version: str,
    *,
    gates: PodResourcesGates | None = None,
    socket_mode: int | None = 0o600,
    persistence: Callable[[Behavior], Persistence] = CheckpointPersistence,
) -> AsyncIterator[Node]:
    """Serve a kubelet of a version; it may be given plugins and pods before and during calls."""
    with tempfile.TemporaryDirectory(prefix="rb") as folder:
        kubelet = Kubelet(version, gates, persistence)
        owner = Owner(kubelet)
        path = Path(folder) / "pod-resources" / "kubelet.sock"
        server = PodResourcesServer(
            PodResourcesServing(
                path=path,
                behavior=kubelet.rig.behavior,
                now=lambda: owner.now,
                gates=gates or PodResourcesGates(),
                socket_mode=socket_mode,
            ),
            owner,
            owner,
        )
        await server.start()
        async with grpc.aio.insecure_channel(f"unix:{path}") as channel:
            yield Node(kubelet, owner, path, channel)
        await server.close()
