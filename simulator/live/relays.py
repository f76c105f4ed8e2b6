"""What stands on a live node's wire and passes everything on: the ground for who listens there.

Who listens says only what it hears (`simulator.rig.tap`, `simulator.server.recordings`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from typing_extensions import override

from simulator.core.calls import PluginCall, PluginReply
from simulator.core.devices import Device
from simulator.core.endpoints import PluginOptions
from simulator.core.resources import ResourceName
from simulator.engine.plugin_ports import KubeletSocket, PluginPeer, PluginStream


class KubeletRelay(KubeletSocket):
    """A kubelet, as the sockets know it."""

    def __init__(self, inner: KubeletSocket) -> None:
        self._inner = inner

    @override
    def stream_of(self, resource: ResourceName) -> PluginStream | None:
        return self._inner.stream_of(resource)

    @override
    def register(self, stream: PluginStream, answered: Callable[[str], None]) -> None:
        self._inner.register(stream, answered)

    @override
    def receive_devices(
        self,
        stream: PluginStream,
        devices: Sequence[Device],
        taken: Callable[[], None] = lambda: None,
    ) -> None:
        self._inner.receive_devices(stream, devices, taken)

    @override
    def deregister(self, resource: ResourceName) -> None:
        self._inner.deregister(resource)

    @override
    def end_stream(self, stream: PluginStream) -> None:
        self._inner.end_stream(stream)


class PeerRelay(PluginPeer):
    """A plugin, as the kubelet knows it."""

    def __init__(self, inner: PluginPeer) -> None:
        self._inner = inner

    @property
    @override
    def name(self) -> str:
        return self._inner.name

    @override
    def dial(self, answered: Callable[[PluginOptions | str], None], *, ask: bool) -> None:
        self._inner.dial(answered, ask=ask)

    @override
    def call(self, call: PluginCall, reply: Callable[[PluginReply], None]) -> None:
        self._inner.call(call, reply)

    @override
    def connected(self, stream: PluginStream) -> None:
        self._inner.connected(stream)

    @override
    def lose_calls(self, error: str) -> None:
        self._inner.lose_calls(error)

    @override
    def lose_options(self, error: str) -> None:
        self._inner.lose_options(error)

    @override
    def break_stream(self) -> None:
        self._inner.break_stream()
