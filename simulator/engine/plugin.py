"""A simulated device plugin: a process that registers, lists devices and answers calls.

It may be late, crash, hang, lose its stream, or come back after a kubelet start has removed its
socket (S1.10). What it answers depends on the call alone, so that a run repeats itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from simulator.core.calls import (
    AllocateCall,
    CallFailed,
    PluginCall,
    PluginReply,
)
from simulator.core.devices import Device
from simulator.core.instants import Duration
from simulator.core.pods import PodUid
from simulator.core.resources import ResourceName
from simulator.engine.latencies import LIST_LATENCY, REGISTER_LATENCY
from simulator.engine.plugin_answers import answer_of, latency_of
from simulator.engine.spec import PluginSpec
from simulator.engine.timeline import Process, Timeline

CONNECTION_REFUSED: Final = "rpc error: code = Unavailable desc = connection refused"
CONNECTION_CLOSING: Final = (
    "rpc error: code = Canceled desc = grpc: the client connection is closing"
)
CONNECTION_LOST: Final = "rpc error: code = Unavailable desc = error reading from server: EOF"


@dataclass(eq=False, slots=True)
class PluginStream:
    """One registration: the kubelet's connection to this plugin and its ListAndWatch stream.

    Attributes:
        listed: Whether the kubelet has folded in a message of it.
    """

    plugin: Plugin
    is_open: bool = True
    listed: bool = False

    @property
    def resource(self) -> ResourceName:
        """The resource that was registered."""
        return self.plugin.spec.resource

    def cut(self) -> None:
        """Close the connection from the kubelet's side; the plugin is not told (S1.22)."""
        self.is_open = False
        self.plugin.lose_calls(CONNECTION_CLOSING)


class KubeletSocket(Protocol):
    """What a plugin can reach of a running kubelet."""

    def register(self, stream: PluginStream, answered: Callable[[bool], None]) -> None:
        """Register (S1.12); the answer is False when the request is refused."""
        ...

    def receive_devices(self, stream: PluginStream, devices: Sequence[Device]) -> None:
        """Take a ListAndWatch message (S1.18)."""
        ...

    def end_stream(self, stream: PluginStream) -> None:
        """Notice that a stream has ended (S1.22)."""
        ...


RPC_NAMES: Final = {
    "AllocateCall": "Allocate",
    "PreferredAllocationCall": "GetPreferredAllocation",
    "PreStartContainerCall": "PreStartContainer",
}
"""Call type to the RPC's name in the API (S1.3)."""


class Plugin:
    """One plugin of one node (`simulator.ports.PluginModel`).

    Attributes:
        devices: The list that it reports.
        stream: Its connection to the kubelet, if it has one.
        calls: Calls received since the last `forget_calls`, by RPC name.
        allocated: Allocate calls among them, by pod.
        failed: Whether its last Register request was refused or its ListAndWatch failed at once.
    """

    def __init__(
        self, spec: PluginSpec, timeline: Timeline, socket: Callable[[], KubeletSocket | None]
    ) -> None:
        self.spec = spec
        self.devices: tuple[Device, ...] = spec.devices
        self.stream: PluginStream | None = None
        self.calls: dict[str, int] = {}
        self.allocated: dict[PodUid, int] = {}
        self.failed = False
        self._timeline = timeline
        self._socket = socket
        self._process: Process | None = None
        self._hanging = False
        self._hangs = 0
        self._unanswered: dict[int, Callable[[], None]] = {}
        self._losses: dict[int, Callable[[PluginReply], None]] = {}
        self._called = 0
        self._attempts = 0
        self._waits_for_kubelet = False
        self._has_served = False

    @property
    def registered(self) -> bool:
        """Whether a kubelet reads its stream."""
        return self.stream is not None and self.stream.is_open

    @property
    def listed(self) -> bool:
        """Whether the kubelet has folded in a message of its present stream."""
        return self.stream is not None and self.stream.is_open and self.stream.listed

    def forget_calls(self) -> None:
        """Count calls from now on."""
        self.calls.clear()
        self.allocated.clear()

    # Life

    def start(self) -> None:
        """Start the process, if it does not run, and register, if it is not registered."""
        if self._process is None:
            self._process = Process(self._timeline)
            self._has_served = False
        self.failed = False
        if not self.registered:
            self._register_soon(Duration(0))

    def stop(self) -> None:
        """End the process: its calls fail and its stream ends."""
        self._die()
        self.break_stream()

    def lose_power(self) -> None:
        """End the process together with the kubelet and the machine."""
        self._die()
        self.lose_kubelet()

    def boot(self) -> None:
        """Find the hardware as it is after a reboot."""
        if self.spec.devices_after_reboot is not None:
            self.devices = self.spec.devices_after_reboot

    def hang(self, duration: Duration | None) -> None:
        """Stop answering, for `duration` or for good."""
        self._hanging = True
        self._hangs += 1
        hang = self._hangs
        if duration is not None and self._process is not None:
            self._process.after(duration, lambda: self._recover(hang))

    def report(self, devices: tuple[Device, ...]) -> None:
        """Send a ListAndWatch message with this list, and remember it for later ones."""
        self.devices = devices
        stream, kubelet = self.stream, self._socket()
        if stream is not None and stream.is_open and kubelet is not None:
            kubelet.receive_devices(stream, devices)

    def break_stream(self) -> None:
        """Let the stream end while the process may live on; it does not register by itself."""
        stream, kubelet = self.stream, self._socket()
        self.stream = None
        if stream is not None and stream.is_open:
            stream.is_open = False
            if kubelet is not None:
                kubelet.end_stream(stream)

    # The kubelet's doings

    def lose_kubelet(self) -> None:
        """The kubelet has ended: the stream is gone, calls in flight are of no interest."""
        if self.stream is not None:
            self.stream.is_open = False
        self.stream = None
        self._unanswered.clear()
        self._losses.clear()

    def socket_removed(self) -> None:
        """A kubelet has started and removed this plugin's socket (S1.10).

        A process that had a socket notices its loss in its own time; one that has been waiting for
        a kubelet goes on at once.
        """
        again = self.spec.reregister_after
        if self._waits_for_kubelet and not self._has_served:
            self._register_soon(Duration(0))
        elif again is not None:
            self._register_soon(again)

    # Calls

    def call(self, call: PluginCall, reply: Callable[[PluginReply], None]) -> None:
        """Answer `call` after the plugin's latency, or fail it when the process ends."""
        rpc = RPC_NAMES[type(call).__name__]
        self.calls[rpc] = self.calls.get(rpc, 0) + 1
        if isinstance(call, AllocateCall):
            self.allocated[call.pod] = self.allocated.get(call.pod, 0) + 1
        if self._process is None:
            reply(CallFailed(CONNECTION_REFUSED))
            return
        self._called += 1
        number = self._called
        self._losses[number] = reply
        if self._hanging:
            self._unanswered[number] = lambda: self._answer(number, call)
        else:
            self._process.after(latency_of(self.spec, call), lambda: self._answer(number, call))

    def lose_calls(self, error: str) -> None:
        """Fail the calls under way."""
        losses = list(self._losses.values())
        self._losses.clear()
        self._unanswered.clear()
        for reply in losses:
            reply(CallFailed(error))

    def answer(self, call: PluginCall) -> PluginReply:
        """Return the reply that this plugin gives to `call`."""
        return answer_of(self.spec, call)

    def _answer(self, number: int, call: PluginCall) -> None:
        if self._hanging:
            self._unanswered[number] = lambda: self._answer(number, call)
            return
        reply = self._losses.pop(number, None)
        if reply is not None:
            reply(self.answer(call))

    def _recover(self, hang: int) -> None:
        if hang == self._hangs:
            self._hanging = False
            unanswered = list(self._unanswered.values())
            self._unanswered.clear()
            for answer in unanswered:
                answer()

    def _die(self) -> None:
        if self._process is not None:
            self._process.kill()
        self._process = None
        self._hanging = False
        self._waits_for_kubelet = False
        self.lose_calls(CONNECTION_LOST)

    def _register_soon(self, delay: Duration) -> None:
        if self._process is not None:
            self._attempts += 1
            attempt = self._attempts
            self._waits_for_kubelet = True
            self._process.after(Duration(delay + REGISTER_LATENCY), lambda: self._register(attempt))

    def _register(self, attempt: int) -> None:
        kubelet = self._socket()
        if kubelet is None or attempt != self._attempts:
            return
        self._waits_for_kubelet = False
        self._has_served = True
        stream = PluginStream(self)
        kubelet.register(stream, lambda accepted: self._registered(stream, accepted=accepted))

    def _registered(self, stream: PluginStream, *, accepted: bool) -> None:
        self.failed = not accepted
        if accepted and self._process is not None:
            self.stream = stream
            self._process.after(LIST_LATENCY, lambda: self._list(stream))

    def _list(self, stream: PluginStream) -> None:
        kubelet = self._socket()
        if stream.is_open and self.spec.fail_list:
            self.failed = True
            self.break_stream()
        elif stream.is_open and kubelet is not None:
            kubelet.receive_devices(stream, self.devices)
