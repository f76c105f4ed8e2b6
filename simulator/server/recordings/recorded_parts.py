"""Parts of live nodes that tell what reaches them from outside, and when (`inputs`)."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence

from typing_extensions import override

from simulator.core.behavior import Behavior
from simulator.core.calls import (
    AllocateReply,
    CallFailed,
    PluginCall,
    PluginReply,
    PreferredAllocationReply,
)
from simulator.core.devices import Device
from simulator.core.endpoints import PluginOptions
from simulator.core.records import Record
from simulator.core.resources import ResourceName
from simulator.core.transitions import NodeName
from simulator.engine.api import ApiServer
from simulator.engine.plugin_ports import (
    InstalledPlugin,
    KubeletSocket,
    NodeSockets,
    PluginPeer,
    PluginStream,
)
from simulator.engine.ports import Adapters, ApiTransport
from simulator.engine.spec import NodeSpec, PluginSpec
from simulator.live.relays import KubeletRelay, PeerRelay
from simulator.server.recordings.inputs import (
    CallAnswered,
    PluginCame,
    PluginDialed,
    PluginLeft,
    PluginListed,
    ResourceDeregistered,
    SocketsOpened,
)
from simulator.server.recordings.recorded_storage import RecordedStorage
from simulator.server.recordings.seats import Listener, Seat


class RecordedParts:
    """The parts of a driver, watched (`simulator.engine.ports.Adapters`).

    Args:
        inner: The driver's own parts.
        listener: Who is told.
    """

    def __init__(self, inner: Adapters, listener: Listener) -> None:
        self._inner = inner
        self._listener = listener
        self._seats: dict[NodeName, Seat] = {}

    def transport(self, api: ApiServer) -> ApiTransport:
        """Return how kubelets reach the API server."""
        return self._inner.transport(api)

    def storage(self, node: NodeSpec, emit: Callable[[Record], None]) -> RecordedStorage:
        """Return the storage of a node."""
        return RecordedStorage(self._inner.storage(node, emit), self._seat(node.name))

    def sockets(self, node: NodeName) -> RecordedSockets:
        """Return the sockets of a node."""
        return RecordedSockets(self._inner.sockets(node), self._seat(node))

    def plugin(
        self, spec: PluginSpec, socket: Callable[[], KubeletSocket | None]
    ) -> InstalledPlugin:
        """Install a plugin; it does not run yet."""
        return self._inner.plugin(spec, socket)

    def _seat(self, node: NodeName) -> Seat:
        seat = self._seats.get(node)
        if seat is None:
            seat = self._seats[node] = Seat(node, self._listener)
        return seat


class RecordedSockets:
    """The sockets of a node, watched (`simulator.engine.plugin_ports.NodeSockets`)."""

    def __init__(self, inner: NodeSockets, seat: Seat) -> None:
        self._inner = inner
        self._seat = seat

    def open(
        self, behavior: Behavior, kubelet: KubeletSocket, opened: Callable[[str], None]
    ) -> None:
        """Listen."""
        number = self._seat.next_kubelet()

        def told(error: str) -> None:
            self._seat.tell(SocketsOpened(number, error))
            opened(error)

        self._inner.open(behavior, _RecordedKubelet(kubelet, number, self._seat), told)

    def close(self) -> None:
        """The kubelet process has ended."""
        self._inner.close()


class _RecordedKubelet(KubeletRelay):
    """What plugins reach of a kubelet, watched."""

    def __init__(self, inner: KubeletSocket, number: int, seat: Seat) -> None:
        super().__init__(inner)
        self._number = number
        self._seat = seat
        self._streams: dict[PluginStream, int] = {}

    @override
    def register(self, stream: PluginStream, answered: Callable[[str], None]) -> None:
        number = self._streams[stream] = self._seat.next_stream()
        request = stream.request
        came = PluginCame(
            self._number,
            number,
            request.resource_name,
            request.version,
            request.endpoint,
            request.options.pre_start_required,
            request.options.preferred_allocation,
            request.watched,
        )
        self._seat.tell(came)
        stream.plugin = _RecordedPeer(stream.plugin, number, self._seat)
        super().register(stream, answered)

    @override
    def receive_devices(
        self,
        stream: PluginStream,
        devices: Sequence[Device],
        taken: Callable[[], None] = lambda: None,
    ) -> None:
        self._seat.tell(PluginListed(self._streams[stream], tuple(devices)))
        super().receive_devices(stream, devices, taken)

    @override
    def end_stream(self, stream: PluginStream) -> None:
        self._seat.tell(PluginLeft(self._streams[stream], stream.too_large))
        super().end_stream(stream)

    @override
    def deregister(self, resource: ResourceName) -> None:
        self._seat.tell(ResourceDeregistered(self._number, resource))
        super().deregister(resource)


class _RecordedPeer(PeerRelay):
    """A plugin, watched."""

    def __init__(self, inner: PluginPeer, number: int, seat: Seat) -> None:
        super().__init__(inner)
        self._number = number
        self._seat = seat

    @override
    def dial(self, answered: Callable[[PluginOptions | str], None], *, ask: bool) -> None:
        def told(found: PluginOptions | str) -> None:
            options = PluginOptions() if isinstance(found, str) else found
            self._seat.tell(
                PluginDialed(
                    self._number,
                    found if isinstance(found, str) else "",
                    options.pre_start_required,
                    options.preferred_allocation,
                )
            )
            answered(found)

        super().dial(told, ask=ask)

    @override
    def call(self, call: PluginCall, reply: Callable[[PluginReply], None]) -> None:
        number = self._seat.next_plugin_call()

        def told(answer: PluginReply) -> None:
            self._seat.tell(_answer(number, call, answer))
            reply(answer)

        super().call(call, told)


def _answer(number: int, call: PluginCall, answer: PluginReply) -> CallAnswered:
    response: str | None = None
    devices: tuple[str, ...] = ()
    if isinstance(answer, AllocateReply) and answer.response is not None:
        response = base64.b64encode(answer.response).decode()
    elif isinstance(answer, PreferredAllocationReply):
        devices = tuple(answer.devices)
    error = answer.message if isinstance(answer, CallFailed) else ""
    return CallAnswered(number, call.rpc, error, response, devices)
