"""The wire between a kubelet and its plugins, seen from both ends, simulated or real.

Where a promise takes time, the answer comes by a callback on the node's timeline.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from simulator.core.behavior import Behavior
from simulator.core.calls import PluginCall, PluginReply
from simulator.core.devices import Device
from simulator.core.endpoints import PluginOptions
from simulator.core.instants import Duration
from simulator.core.records import ListTooLarge
from simulator.core.registration import RegisterRequest
from simulator.core.resources import ResourceName
from simulator.engine.call_counts import CallCounts
from simulator.engine.spec import PluginSpec


class PluginPeer(Protocol):
    """The plugin at the other end of one registration."""

    @property
    def name(self) -> str:
        """What faults and messages call it."""
        ...

    def dial(self, answered: Callable[[PluginOptions | str], None], *, ask: bool) -> None:
        """Connect and, if `ask`, get the options (S1.12.5, S1.12.6); else they do not matter.

        Args:
            answered: Given the options, or an error text.
            ask: Whether GetDevicePluginOptions is called.
        """
        ...

    def call(self, call: PluginCall, reply: Callable[[PluginReply], None]) -> None:
        """Make a call."""
        ...

    def connected(self, stream: PluginStream) -> None:
        """The kubelet has taken the connection and opens ListAndWatch (S1.12.8)."""
        ...

    def lose_calls(self, error: str) -> None:
        """The kubelet closes the connection: the calls under way fail with `error`."""
        ...

    def lose_options(self, error: str) -> None:
        """The kubelet closes the connection, if it is made, while it waits for the options.

        What was to be `answered` is answered: that the options failed with `error`. A connection
        that is not made yet is made nevertheless.
        """
        ...

    def break_stream(self) -> None:
        """End the ListAndWatch stream."""
        ...


class PluginStream:
    """One registration: the kubelet's connection to a plugin and its ListAndWatch stream.

    Attributes:
        plugin: The other end.
        request: What it registered with.
        is_open: Whether the kubelet still reads the stream.
        resource: The resource that was registered.
        listed: Whether the kubelet has folded in a message of it.
        too_large: The message that could not be received, if that ended the stream.
    """

    __slots__ = ("is_open", "listed", "plugin", "request", "resource", "too_large")

    def __init__(self, plugin: PluginPeer, request: RegisterRequest) -> None:
        self.plugin = plugin
        self.request = request
        self.resource = ResourceName(request.resource_name)
        self.is_open = True
        self.listed = False
        self.too_large: ListTooLarge | None = None

    def cut(self, error: str) -> None:
        """Close the connection from the kubelet's side; the plugin is not told (S1.22)."""
        self.is_open = False
        self.plugin.lose_calls(error)


class KubeletSocket(Protocol):
    """What a plugin can reach of a running kubelet."""

    def stream_of(self, resource: ResourceName) -> PluginStream | None:
        """Return the connection to a resource's plugin, the newest one."""
        ...

    def register(self, stream: PluginStream, answered: Callable[[str], None]) -> None:
        """Register (S1.12): answers with the error text, empty when the request is accepted.

        An accepted one may be answered before the plugin is connected (`connected`, S1.12).
        """
        ...

    def receive_devices(
        self,
        stream: PluginStream,
        devices: Sequence[Device],
        taken: Callable[[], None] = lambda: None,
    ) -> None:
        """Take a ListAndWatch message (S1.18); `taken` is called when it is folded in."""
        ...

    def deregister(self, resource: ResourceName) -> None:
        """Disconnect whoever is registered for a resource (S1.36)."""
        ...

    def end_stream(self, stream: PluginStream) -> None:
        """Notice that a stream has ended (S1.22)."""
        ...


class InstalledPlugin(Protocol):
    """A plugin that the driver can start and stop on a node.

    Attributes:
        spec: What it was made from.
        counts: The calls that it has received.
        failed: Whether its last Register request was refused or its ListAndWatch failed at once.
    """

    spec: PluginSpec
    counts: CallCounts
    failed: bool

    @property
    def registered(self) -> bool:
        """Whether a kubelet reads its stream."""
        ...

    @property
    def listed(self) -> bool:
        """Whether the kubelet has folded in a message of its present stream."""
        ...

    @property
    def settled(self) -> bool:
        """Whether the kubelet has seen the last list that it sent, and the stream that it ended."""
        ...

    def start(self) -> None:
        """Start the process, if it does not run, and register, if it is not registered."""
        ...

    def stop(self) -> None:
        """End the process: its calls fail and its stream ends."""
        ...

    def hang(self, duration: Duration | None) -> None:
        """Stop answering, for `duration` or for good."""
        ...

    def report(self, devices: tuple[Device, ...]) -> None:
        """Send a ListAndWatch message with this list, and remember it for later ones."""
        ...

    def break_stream(self) -> None:
        """Let the stream end while the process may live on; it does not register by itself."""
        ...

    def lose_power(self) -> None:
        """End the process together with the kubelet and the machine."""
        ...

    def boot(self) -> None:
        """Find the hardware as it is after a reboot."""
        ...


class NodeSockets(Protocol):
    """The sockets by which plugins and agents reach a node's kubelet."""

    def open(
        self, behavior: Behavior, kubelet: KubeletSocket, opened: Callable[[str], None]
    ) -> None:
        """Clean the plugin directory and listen (S1.8 to S1.10).

        Args:
            behavior: The version of the kubelet that starts.
            kubelet: What the plugins reach.
            opened: Told why that failed; empty when the kubelet listens.
        """
        ...

    def close(self) -> None:
        """The kubelet process has ended: its connections and sockets are gone with it."""
        ...
