"""A simulated device plugin: a process that registers, lists devices and answers calls.

It may be late, crash, hang, lose its stream, or come back after a kubelet start has removed its
socket (S1.10). What it answers depends on the call alone, so that a run repeats itself.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from simulator.core.calls import (
    CallFailed,
    PluginCall,
    PluginReply,
)
from simulator.core.devices import Device
from simulator.core.endpoints import DIAL_TIMEOUT, PluginOptions
from simulator.core.instants import Duration
from simulator.core.registration import RegisterRequest
from simulator.engine.call_counts import CallCounts
from simulator.engine.latencies import LIST_LATENCY, REGISTER_LATENCY
from simulator.engine.plugin_answers import answer_of, latency_of
from simulator.engine.plugin_ports import KubeletSocket, PluginStream
from simulator.engine.spec import PluginSpec
from simulator.engine.timeline import Process, Timeline

CONNECTION_REFUSED: Final = "rpc error: code = Unavailable desc = connection refused"
CONNECTION_LOST: Final = "rpc error: code = Unavailable desc = error reading from server: EOF"


class Plugin:
    """One plugin of one node (`simulator.engine.plugin_ports.InstalledPlugin`, `.PluginPeer`).

    Args:
        spec: Its name, node and resource, and how it behaves.
        timeline: Its time, which may be the real one.
        socket: Returns what it can reach of the kubelet that runs.
        latency: Returns how long the answer to a call takes; None for what the spec says.

    Attributes:
        devices: The list that it reports.
        stream: Its connection to the kubelet, if it has one.
        counts: The calls that it has received.
        failed: Whether its last Register request was refused or its ListAndWatch failed at once.
    """

    def __init__(
        self,
        spec: PluginSpec,
        timeline: Timeline,
        socket: Callable[[], KubeletSocket | None],
        latency: Callable[[PluginCall], Duration] | None = None,
    ) -> None:
        self.spec = spec
        self.devices: tuple[Device, ...] = spec.devices
        self.stream: PluginStream | None = None
        self.counts = CallCounts()
        self.failed = False
        self._timeline = timeline
        self._socket = socket
        self._latency = partial(latency_of, spec) if latency is None else latency
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
    def name(self) -> str:
        """What faults and messages call it."""
        return self.spec.name

    @property
    def _options(self) -> PluginOptions:
        return PluginOptions(self.spec.pre_start_required, self.spec.preferred_allocation)

    @property
    def registered(self) -> bool:
        """Whether a kubelet reads its stream."""
        return self.stream is not None and self.stream.is_open

    @property
    def listed(self) -> bool:
        """Whether the kubelet has folded in a message of its present stream."""
        return self.stream is not None and self.stream.is_open and self.stream.listed

    @property
    def settled(self) -> bool:
        """True: the kubelet sees at once what it does."""
        return True

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

    def dial(self, answered: Callable[[PluginOptions | str], None], *, ask: bool) -> None:
        """Answer GetDevicePluginOptions; the time that takes is part of `REGISTER_LATENCY`."""
        if self.spec.fail_dial:
            failure = "failed to dial device plugin: context deadline exceeded"
            self._timeline.call_after(DIAL_TIMEOUT, lambda: answered(failure))
        elif ask and self.spec.fail_options:
            cause = f"rpc error: code = Unknown desc = {self.spec.fail_options}"
            answered(f"failed to get device plugin options: {cause}")
        else:
            answered(self._options)

    def connected(self, stream: PluginStream) -> None:
        """Send the list on a stream that the kubelet has opened."""
        if self._process is not None:
            self.stream = stream
            self._process.after(LIST_LATENCY, lambda: self._list(stream))

    def call(self, call: PluginCall, reply: Callable[[PluginReply], None]) -> None:
        """Answer `call` after the plugin's latency, or fail it when the process ends."""
        self.counts.note(call)
        if self._process is None:
            reply(CallFailed(CONNECTION_REFUSED))
            return
        self._called += 1
        number = self._called
        self._losses[number] = reply
        if self._hanging:
            self._unanswered[number] = lambda: self._answer(number, call)
        else:
            self._process.after(self._latency(call), lambda: self._answer(number, call))

    def lose_calls(self, error: str) -> None:
        """Fail the calls under way."""
        losses = list(self._losses.values())
        self._losses.clear()
        self._unanswered.clear()
        for reply in losses:
            reply(CallFailed(error))

    def lose_options(self, error: str) -> None:
        """Do nothing: they are answered as soon as it is connected."""

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
        request = RegisterRequest(self.spec.resource, options=self._options)
        kubelet.register(PluginStream(self, request), self._answered)

    def _answered(self, error: str) -> None:
        self.failed = bool(error)

    def _list(self, stream: PluginStream) -> None:
        kubelet = self._socket()
        if stream.is_open and self.spec.fail_list:
            self.failed = True
            self.break_stream()
        elif stream.is_open and kubelet is not None:
            kubelet.receive_devices(stream, self.devices)
