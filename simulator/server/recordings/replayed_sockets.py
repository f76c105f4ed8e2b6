"""Plugins of a replay: they come, list, answer and leave when the recorded ones did."""

from __future__ import annotations

import base64
from collections.abc import Callable

from simulator.core.behavior import Behavior
from simulator.core.calls import (
    AllocateCall,
    AllocateReply,
    CallFailed,
    PluginCall,
    PluginReply,
    PreferredAllocationCall,
    PreferredAllocationReply,
    PreStartContainerReply,
)
from simulator.core.devices import DeviceId
from simulator.core.endpoints import PluginOptions
from simulator.core.registration import RegisterRequest
from simulator.core.resources import ResourceName
from simulator.engine.plugin_ports import KubeletSocket, PluginStream
from simulator.errors import ConfigError
from simulator.server.recordings.inputs import (
    CallAnswered,
    Input,
    PluginCame,
    PluginDialed,
    PluginLeft,
    PluginListed,
    ResourceDeregistered,
    SocketsOpened,
)
from simulator.server.recordings.replay_errors import refuse


class ReplayedSockets:
    """The sockets of a node (`simulator.engine.plugin_ports.NodeSockets`)."""

    def __init__(self) -> None:
        self._kubelets: dict[int, KubeletSocket] = {}
        self._opening: dict[int, Callable[[str], None]] = {}
        self._streams: dict[int, tuple[KubeletSocket, PluginStream]] = {}
        self._dialing: dict[int, Callable[[PluginOptions | str], None]] = {}
        self._calls: dict[int, tuple[PluginCall, Callable[[PluginReply], None]]] = {}
        self._called = 0

    def open(
        self, behavior: Behavior, kubelet: KubeletSocket, opened: Callable[[str], None]
    ) -> None:
        """Listen, when the recorded kubelet did."""
        del behavior
        number = len(self._kubelets) + 1
        self._kubelets[number] = kubelet
        self._opening[number] = opened

    def close(self) -> None:
        """The kubelet process has ended; what still reached it was recorded."""

    def dial(self, stream: int, answered: Callable[[PluginOptions | str], None]) -> None:
        """Connect to a plugin."""
        self._dialing[stream] = answered

    def call(self, call: PluginCall, reply: Callable[[PluginReply], None]) -> None:
        """Make a call to a plugin."""
        self._called += 1
        self._calls[self._called] = (call, reply)

    def feed(self, content: Input) -> None:
        """Let something reach a kubelet.

        Raises:
            ConfigError: Nothing here has asked for it.
        """
        match content:
            case SocketsOpened(kubelet, error):
                opened = self._opening.pop(kubelet, None)
                if opened is None:
                    refuse("the start of kubelet", kubelet)
                opened(error)
            case PluginCame():
                self._register(content)
            case PluginDialed(stream, error, pre_start, preferred):
                answered = self._dialing.pop(stream, None)
                if answered is None:
                    refuse("the registration", stream)
                answered(error or PluginOptions(pre_start, preferred))
            case PluginListed(stream, devices):
                owner, found = self._stream(stream)
                owner.receive_devices(found, devices)
            case PluginLeft(stream, too_large):
                owner, found = self._stream(stream)
                found.too_large = too_large
                owner.end_stream(found)
            case ResourceDeregistered(number, resource):
                self._kubelet(number).deregister(ResourceName(resource))
            case CallAnswered():
                self._answer(content)
            case _:
                message = f"{type(content).__name__} reaches no socket"
                raise ConfigError(message)

    def _register(self, came: PluginCame) -> None:
        kubelet = self._kubelet(came.kubelet)
        options = PluginOptions(came.pre_start_required, came.preferred_allocation)
        request = RegisterRequest(
            came.resource_name,
            version=came.version,
            endpoint=came.endpoint,
            options=options,
            watched=came.watched,
        )
        stream = PluginStream(_Peer(self, came.stream, came.endpoint), request)
        self._streams[came.stream] = (kubelet, stream)
        kubelet.register(stream, lambda _: None)

    def _answer(self, content: CallAnswered) -> None:
        made = self._calls.pop(content.call, None)
        if made is None:
            refuse("the plugin call", content.call)
        call, reply = made
        reply(_reply(call, content))

    def _kubelet(self, number: int) -> KubeletSocket:
        if number not in self._kubelets:
            refuse("kubelet", number)
        return self._kubelets[number]

    def _stream(self, number: int) -> tuple[KubeletSocket, PluginStream]:
        if number not in self._streams:
            refuse("the registration", number)
        return self._streams[number]


class _Peer:
    """A plugin that answers from a recording (`simulator.engine.plugin_ports.PluginPeer`)."""

    def __init__(self, sockets: ReplayedSockets, number: int, name: str) -> None:
        self.name = name
        self._sockets = sockets
        self._number = number

    def dial(self, answered: Callable[[PluginOptions | str], None], *, ask: bool) -> None:
        """Connect."""
        del ask
        self._sockets.dial(self._number, answered)

    def call(self, call: PluginCall, reply: Callable[[PluginReply], None]) -> None:
        """Make a call."""
        self._sockets.call(call, reply)

    def connected(self, stream: PluginStream) -> None:
        """The kubelet has taken the connection; its lists were recorded."""

    def lose_calls(self, error: str) -> None:
        """The kubelet closes the connection; with what its calls fail was recorded."""

    def lose_options(self, error: str) -> None:
        """The kubelet closes the connection that it was making; what came of it was recorded."""

    def break_stream(self) -> None:
        """End the stream; that it ends was recorded."""


def _reply(call: PluginCall, content: CallAnswered) -> PluginReply:
    if content.error:
        return CallFailed(content.error)
    if isinstance(call, AllocateCall):
        response = content.response
        return AllocateReply(None if response is None else base64.b64decode(response))
    if isinstance(call, PreferredAllocationCall):
        return PreferredAllocationReply(tuple(DeviceId(each) for each in content.devices))
    return PreStartContainerReply()
