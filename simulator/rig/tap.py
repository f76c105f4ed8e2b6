"""The tap on a node's wire: what its kubelet and its plugins said to each other.

It stands between the kubelet and the sockets (`simulator.engine.plugin_ports`) and passes
everything on as it is. What it keeps is only ever added to, so it may be read in any thread.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from typing_extensions import override

from simulator.core.calls import PluginCall, PluginReply
from simulator.core.devices import Device
from simulator.core.endpoints import PluginOptions
from simulator.core.registration import RegisterRequest
from simulator.engine.plugin_ports import KubeletSocket, PluginPeer, PluginStream
from simulator.live.relays import KubeletRelay, PeerRelay
from simulator.wire.plugin_client import StreamEnd


@dataclass(slots=True)
class Exchange:
    """One call of the kubelet to a plugin.

    Attributes:
        reply: The answer; None while there is none.
        seconds: How long that took; so far, while there is none.
    """

    call: PluginCall
    reply: PluginReply | None = None
    began: float = field(default_factory=time.monotonic)
    ended: float | None = None

    @property
    def seconds(self) -> float:
        """How long the answer took, or has been waited for."""
        return (time.monotonic() if self.ended is None else self.ended) - self.began


@dataclass(slots=True)
class Registration:
    """One Register call, and what came of it.

    Attributes:
        kubelet: The kubelet process that took it, counted from 1.
        request: What the plugin asked for.
        answer: The refusal, empty when it was accepted; None while it is not answered.
        options: What GetDevicePluginOptions answered, or the error; None when not known.
        lists: The device lists that came on its stream.
        calls: The calls that were made to it.
        dialed: Whether the kubelet has tried to connect to it.
        is_open: Whether the kubelet reads its stream.
        ended: When the stream ended; None while it has not.
        ended_by_plugin: Whether it ended without the kubelet's doing.
        end: How it ended, e.g. `EOF`.
        oversize: What is too much about a list that was too large; empty if none was.
    """

    kubelet: int
    request: RegisterRequest
    at: float = field(default_factory=time.monotonic)
    answer: str | None = None
    options: PluginOptions | str | None = None
    lists: list[tuple[Device, ...]] = field(default_factory=list)
    calls: list[Exchange] = field(default_factory=list)
    dialed: bool = False
    is_open: bool = False
    ended: float | None = None
    ended_by_plugin: bool = False
    end: str = ""
    oversize: str = ""

    @property
    def is_accepted(self) -> bool:
        """Whether the kubelet took it."""
        return self.answer == ""

    @property
    def devices(self) -> tuple[Device, ...]:
        """The newest list; empty when there was none."""
        return self.lists[-1] if self.lists else ()


class Tap:
    """Everything that was said on one node, in order (`simulator.live.taps.Tap`).

    Attributes:
        kubelets: How many kubelet processes have opened their sockets.
        registrations: The Register calls.
    """

    def __init__(self) -> None:
        self.kubelets = 0
        self.registrations: list[Registration] = []
        self._streams: dict[PluginStream, Registration] = {}

    def on(self, kubelet: KubeletSocket) -> KubeletSocket:
        """Listen to a kubelet process that starts."""
        self.kubelets += 1
        self._streams.clear()
        return _TappedKubelet(kubelet, self)

    def ended(self, stream: PluginStream, end: StreamEnd) -> None:
        """Note how a stream has ended."""
        registration = self._streams.pop(stream)
        registration.ended = time.monotonic()
        registration.ended_by_plugin = registration.is_open
        registration.is_open = False
        registration.end = end.cause
        if end.oversize is not None:
            found = end.oversize
            registration.oversize = (
                f"a list of {found.devices or 'very many'} devices has {found.size} bytes, "
                f"of which {found.limit} can be received: {found.fitting} devices would fit"
            )

    def closed(self) -> None:
        """Note that the kubelet reads no stream any more, whatever is still heard of them."""
        for registration in self.current:
            registration.is_open = False

    def register(self, kubelet: int, stream: PluginStream) -> Registration:
        """Note a Register call."""
        registration = self._streams[stream] = Registration(kubelet, stream.request)
        self.registrations.append(registration)
        return registration

    def listed(self, stream: PluginStream, devices: Sequence[Device]) -> None:
        """Note a device list."""
        self._streams[stream].lists.append(tuple(devices))

    def streams(self) -> list[PluginStream]:
        """Return the streams that the kubelet reads."""
        return [stream for stream, found in self._streams.items() if found.is_open]

    @property
    def current(self) -> list[Registration]:
        """The registrations with the present kubelet process."""
        return [each for each in self.registrations if each.kubelet == self.kubelets]

    @property
    def calls(self) -> list[Exchange]:
        """The calls to plugins, in the order in which they began."""
        calls = [call for registration in self.registrations for call in registration.calls]
        return sorted(calls, key=lambda call: call.began)


class _TappedKubelet(KubeletRelay):
    """The kubelet, as the sockets know it."""

    def __init__(self, inner: KubeletSocket, tap: Tap) -> None:
        super().__init__(inner)
        self._tap = tap
        self._number = tap.kubelets

    @override
    def register(self, stream: PluginStream, answered: Callable[[str], None]) -> None:
        registration = self._tap.register(self._number, stream)
        stream.plugin = _TappedPeer(stream.plugin, registration)

        def answer(error: str) -> None:
            registration.answer = error
            answered(error)

        super().register(stream, answer)

    @override
    def receive_devices(
        self,
        stream: PluginStream,
        devices: Sequence[Device],
        taken: Callable[[], None] = lambda: None,
    ) -> None:
        self._tap.listed(stream, devices)
        super().receive_devices(stream, devices, taken)


class _TappedPeer(PeerRelay):
    """A plugin, as the kubelet knows it."""

    def __init__(self, inner: PluginPeer, registration: Registration) -> None:
        super().__init__(inner)
        self._registration = registration

    @override
    def dial(self, answered: Callable[[PluginOptions | str], None], *, ask: bool) -> None:
        def answer(found: PluginOptions | str) -> None:
            if ask or isinstance(found, str):
                self._registration.options = found
            answered(found)

        self._registration.dialed = True
        super().dial(answer, ask=ask)

    @override
    def call(self, call: PluginCall, reply: Callable[[PluginReply], None]) -> None:
        exchange = Exchange(call)
        self._registration.calls.append(exchange)

        def answer(found: PluginReply) -> None:
            exchange.reply = found
            exchange.ended = time.monotonic()
            reply(found)

        super().call(call, answer)

    @override
    def connected(self, stream: PluginStream) -> None:
        self._registration.is_open = True
        super().connected(stream)

    @override
    def lose_calls(self, error: str) -> None:
        self._registration.is_open = False
        super().lose_calls(error)

    @override
    def break_stream(self) -> None:
        self._registration.is_open = False
        super().break_stream()
