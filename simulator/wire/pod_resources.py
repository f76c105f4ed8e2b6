"""The PodResources server of a kubelet: both versions of the service on one socket (S8.1, S8.2).

What is answered is decided by its owner (`simulator.core.pod_resources`). An encoded List is kept
as long as the owner's revision stays the same, and the bytes of a pod as long as its entry is the
same object: many agents that ask often cost little beside the node's own work.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol, cast

import grpc
import grpc.aio
from google.protobuf.message import DecodeError, Message

from simulator.core.behavior import Behavior, ServedMethod
from simulator.core.instants import Instant
from simulator.core.pod_resources import (
    DISABLED,
    GET,
    GET_ALLOCATABLE,
    LIST,
    RATE_LIMITED,
    V1,
    V1ALPHA1,
    ContainerDevices,
    LookupFailed,
    PodResources,
    PodResourcesGates,
    call_limit,
    served_methods,
)
from simulator.core.token_bucket import TokenBucket
from simulator.protocol import services
from simulator.protocol.rebind_podresources_v1_pb2 import GetPodResourcesRequest
from simulator.wire.listening import listen_at
from simulator.wire.plugin_directory import make_directory
from simulator.wire.pod_resources_messages import EntryEncoder, allocatable_bytes, pod_bytes
from simulator.wire.sockets import Appearance
from simulator.wire.status import UNREADABLE
from simulator.wire.unknown_methods import UnknownMethods

_CALLS_MAX: Final = 1024
"""Most calls at a time; List may wait for a commit."""
_STOP_GRACE_S: Final = 0.0

_UNREADABLE: Final = f"grpc: error unmarshalling request: proto: {UNREADABLE}"
_SERVICES: Final = {
    V1: services.POD_RESOURCES_V1,
    V1ALPHA1: services.POD_RESOURCES_V1ALPHA1,
}
_REQUESTS: Final[Mapping[tuple[str, str], Callable[[bytes], Message]]] = {
    (V1, LIST): services.LIST.request.FromString,
    (V1, GET_ALLOCATABLE): services.GET_ALLOCATABLE_RESOURCES.request.FromString,
    (V1, GET): services.GET.request.FromString,
    (V1ALPHA1, LIST): services.LIST_V1ALPHA1.request.FromString,
}

Answer = Callable[[Message], Awaitable[bytes]]


class PodResourcesOwner(Protocol):
    """Who knows the answers: a kubelet process."""

    def revision(self) -> int:
        """Return a number that is another one whenever an answer to List may have changed."""
        ...

    async def list_pods(self, version: str) -> Sequence[PodResources]:
        """Release what can be released, durably, and answer List (S8.7)."""
        ...

    def allocatable(self) -> Sequence[ContainerDevices]:
        """Answer GetAllocatableResources (S8.10)."""
        ...

    def pod(self, namespace: str, name: str) -> PodResources | LookupFailed:
        """Answer Get (S8.11)."""
        ...


class RequestMeter(Protocol):
    """Who counts calls (S11)."""

    def pod_resources_requested(self, version: str, method: str) -> None:
        """A call has reached its method; one beyond the limit does not (S8.3)."""
        ...

    def pod_resources_failed(self, version: str, method: str) -> None:
        """A call was answered with an error."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PodResourcesServing:
    """How the service is offered.

    Attributes:
        path: The socket, as a rule `pod-resources/kubelet.sock` of the node.
        behavior: Which methods there are, and whether calls are limited.
        now: For the limit.
        gates: The kubelet's feature gates.
        socket_mode: Permission bits of the socket; None for what the umask leaves (S8.1).
        also: Called with the gRPC server and the names of its services before it starts.
    """

    path: Path
    behavior: Behavior
    now: Callable[[], Instant]
    gates: PodResourcesGates = field(default_factory=PodResourcesGates)
    socket_mode: int | None = 0o600
    also: Callable[[grpc.aio.Server, Sequence[str]], None] | None = None


class PodResourcesServer:
    """The service of one kubelet process, from its start to its end."""

    def __init__(
        self, serving: PodResourcesServing, owner: PodResourcesOwner, meter: RequestMeter
    ) -> None:
        self._serving = serving
        self._owner = owner
        self._meter = meter
        self._limit: TokenBucket | None = None
        self._server: grpc.aio.Server | None = None
        self._encoders = {V1: EntryEncoder(V1), V1ALPHA1: EntryEncoder(V1ALPHA1)}
        self._lists: dict[str, tuple[int, bytes]] = {}

    async def start(self) -> None:
        """Listen, in place of an earlier socket (S8.1); nothing is served before 1.15 (S8.6).

        Raises:
            ServerError: The socket cannot be made.
        """
        methods = served_methods(self._serving.behavior, self._serving.gates)
        if not methods:
            return
        self._limit = call_limit(self._serving.behavior, self._serving.now())
        server = grpc.aio.server(maximum_concurrent_rpcs=_CALLS_MAX)
        by_service: dict[str, dict[str, grpc.RpcMethodHandler[bytes, bytes]]] = {}
        for (version, name), state in methods.items():
            known = by_service.setdefault(_SERVICES[version], {})
            known[name] = grpc.unary_unary_rpc_method_handler(self._handler(version, name, state))
        names = sorted(by_service)
        server.add_generic_rpc_handlers(
            tuple(grpc.method_handlers_generic_handler(name, by_service[name]) for name in names)
        )
        if self._serving.also is not None:
            self._serving.also(server, names)
        server.add_generic_rpc_handlers((UnknownMethods(names),))
        make_directory(self._serving.path.parent)
        await listen_at(
            server,
            self._serving.path,
            mode=self._serving.socket_mode,
            appearance=Appearance.RENAMED,
        )
        self._server = server

    async def close(self) -> None:
        """Stop at once; like a kubelet that dies, it leaves its socket behind."""
        server, self._server = self._server, None
        if server is not None:
            await server.stop(_STOP_GRACE_S)

    def _handler(
        self, version: str, name: str, state: ServedMethod
    ) -> Callable[[bytes, grpc.aio.ServicerContext[bytes, bytes]], Awaitable[bytes]]:
        answers: dict[str, Answer] = {
            LIST: lambda _: self._list(version),
            GET_ALLOCATABLE: self._allocatable,
            GET: self._get,
        }
        answer = _disabled(name) if state is ServedMethod.OFF else answers[name]
        read = _REQUESTS[version, name]

        async def handle(content: bytes, context: grpc.aio.ServicerContext[bytes, bytes]) -> bytes:
            # A status that is set costs much less than one that is raised, and there may be many.
            try:
                request = read(content)
            except DecodeError:
                context.set_code(grpc.StatusCode.INTERNAL)
                context.set_details(_UNREADABLE)
                return b""
            if not self._allows():
                context.set_code(grpc.StatusCode.RESOURCE_EXHAUSTED)
                context.set_details(RATE_LIMITED)
                return b""
            self._meter.pod_resources_requested(version, name)
            try:
                return await answer(request)
            except _NoAnswerError as error:
                self._meter.pod_resources_failed(version, name)
                context.set_code(grpc.StatusCode.UNKNOWN)
                context.set_details(str(error))
                return b""

        return handle

    def _allows(self) -> bool:
        if self._limit is None:
            return True
        allowed, self._limit = self._limit.take(self._serving.now())
        return allowed

    async def _list(self, version: str) -> bytes:
        kept, revision = self._lists.get(version), self._owner.revision()
        if kept is not None and kept[0] == revision:
            return kept[1]
        entries = await self._owner.list_pods(version)
        encoded = self._encoders[version].encode(entries)
        if self._owner.revision() == revision:
            self._lists[version] = (revision, encoded)
        # Else something changed meanwhile, perhaps only since this call has freed devices.
        return encoded

    async def _allocatable(self, request: Message) -> bytes:
        del request
        return allocatable_bytes(self._owner.allocatable())

    async def _get(self, request: Message) -> bytes:
        wanted = cast("GetPodResourcesRequest", request)
        found = self._owner.pod(wanted.pod_namespace, wanted.pod_name)
        if isinstance(found, LookupFailed):
            raise _NoAnswerError(found.message)
        return pod_bytes(found)


class _NoAnswerError(Exception):
    """A call is answered with this error."""


def _disabled(name: str) -> Answer:
    async def refuse(request: Message) -> bytes:
        del request
        raise _NoAnswerError(DISABLED[name])

    return refuse
