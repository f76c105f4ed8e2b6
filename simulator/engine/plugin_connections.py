"""A kubelet's side of its plugins: registration, device lists, ends of streams (S1.12 to S1.23)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from simulator.core.behavior import DisconnectMatch
from simulator.core.devices import Device
from simulator.core.endpoints import PluginOptions
from simulator.core.records import RegistrationRefused
from simulator.core.registration import RegisterRequest, accept_registration
from simulator.core.resources import ResourceName
from simulator.engine.decisions import CONNECTION_CLOSING, DEADLINE_EXCEEDED
from simulator.engine.faults import Op
from simulator.engine.kubelet_parts import KubeletParts
from simulator.engine.plugin_ports import PluginStream
from simulator.errors import RegistrationError


class PluginConnections:
    """The plugins of one kubelet process (`simulator.engine.plugin_ports.KubeletSocket`).

    Args:
        parts: The kubelet.
        listed: Called when a device list was folded in.
    """

    def __init__(self, parts: KubeletParts, listed: Callable[[], None]) -> None:
        self._injector = parts.host.injector
        self._emit = parts.host.emit
        self._behavior = parts.behavior
        self._manager = parts.manager
        self._driver = parts.driver
        self._listed = listed
        self._clients: dict[ResourceName, PluginStream] = {}
        self._endpoints: dict[ResourceName, PluginStream] = {}
        self._registrations: dict[PluginStream, int] = {}
        self._dialed: dict[PluginStream, None] = {}

    def stream_of(self, resource: ResourceName) -> PluginStream | None:
        """Return the connection to a resource's plugin."""
        return self._endpoints.get(resource)

    def register(self, stream: PluginStream, answered: Callable[[str], None]) -> None:
        """Register a plugin; the newest registration of a resource wins (S1.12, S1.14)."""
        verdict = self._injector.begin(Op.REGISTER, stream.plugin.name)

        def answer(error: str) -> None:
            self._injector.end(verdict)
            if self._driver.process.is_alive():
                answered(error)

        def begin() -> None:
            if verdict.hung:
                answer(DEADLINE_EXCEEDED)
            else:
                self._register(stream, verdict.error or self._refusal(stream.request), answer)

        self._driver.process.delayed(verdict.delay, begin)

    def receive_devices(
        self,
        stream: PluginStream,
        devices: Sequence[Device],
        taken: Callable[[], None] = lambda: None,
    ) -> None:
        """Fold in a ListAndWatch message (S1.18)."""
        verdict = self._injector.begin(Op.LIST_AND_WATCH, stream.plugin.name)

        def done(_: str) -> None:
            stream.listed = True
            self._injector.end(verdict)
            if self._driver.process.is_alive():
                self._listed()
                taken()

        def fold() -> None:
            if stream.is_open:
                report = self._manager.report_devices(stream.resource, devices)
                self._driver.run_store(report, done)

        if verdict.error:
            stream.plugin.break_stream()
        elif not verdict.hung:
            self._driver.process.delayed(verdict.delay, fold)

    def end_stream(self, stream: PluginStream) -> None:
        """A stream has ended; from 1.25 to 1.36 the newest plugin of that name is cut (S1.22)."""
        if stream.too_large is not None:
            self._emit(stream.too_large)
        resource = stream.resource
        current = self._clients.get(resource)
        own = self._is_cut_alone
        registration = self._registrations.pop(stream, None)
        if current is None and not own:
            return
        is_cut = current is not None and (current is stream or not own)
        if is_cut:
            del self._clients[resource]
        self._driver.refresh()
        self._manager.disconnect(resource, registration)
        self._driver.owner.drain()
        if current is None or not is_cut:
            return
        if current in self._dialed:
            current.plugin.lose_options(CONNECTION_CLOSING)
        else:
            current.cut(CONNECTION_CLOSING)

    def deregister(self, resource: ResourceName) -> None:
        """Disconnect whoever is registered for a resource, on whatever socket (S1.36)."""
        current = self._clients.get(resource)
        if current is not None:
            self.end_stream(current)

    @property
    def _is_cut_alone(self) -> bool:
        """Whether the end of a stream is the end of its own plugin, and of no other."""
        return self._behavior.disconnect_match is DisconnectMatch.OWN_ENDPOINT

    def _refusal(self, request: RegisterRequest) -> str:
        try:
            accept_registration(version=request.version, resource_name=request.resource_name)
        except RegistrationError as refusal:
            return str(refusal)
        return ""

    def _register(self, stream: PluginStream, refusal: str, answer: Callable[[str], None]) -> None:
        """Dial the plugin and take it as the resource's endpoint (S1.12.4 to S1.12.8).

        Up to 1.24 the plugin was answered first and dialed afterwards.
        """
        if refusal:
            self._refuse(stream, refusal)
            answer(refusal)
            return
        first = self._behavior.register_asynchronous and not stream.request.watched
        ask = not self._behavior.registered_options_used
        if first:
            answer("")
        self._dialed[stream] = None
        if not self._is_cut_alone:
            self._clients[stream.resource] = stream  # Before it is dialed, for good or ill (S1.16).

        def dialed(found: PluginOptions | str) -> None:
            self._dialed.pop(stream, None)
            if not self._driver.process.is_alive():
                return
            error = found if isinstance(found, str) else ""
            if error:
                self._forget(stream.resource)
                self._refuse(stream, error)
            if not first:
                answer(error)
            if not isinstance(found, str) and self._driver.process.is_alive():
                self._connect(stream, found if ask else stream.request.options)

        stream.plugin.dial(dialed, ask=ask)

    def _refuse(self, stream: PluginStream, error: str) -> None:
        self._emit(RegistrationRefused(stream.request.resource_name, error))

    def _forget(self, resource: ResourceName) -> None:
        """Free the slot of a resource, perhaps an earlier plugin's that still runs (S1.16)."""
        if not self._is_cut_alone:
            self._clients.pop(resource, None)

    def _connect(self, stream: PluginStream, options: PluginOptions) -> None:
        self._driver.refresh()
        self._registrations[stream] = self._manager.register(stream.resource, options)
        self._endpoints[stream.resource] = stream
        if self._is_cut_alone:
            self._clients[stream.resource] = stream
        self._driver.owner.drain()
        stream.plugin.connected(stream)
