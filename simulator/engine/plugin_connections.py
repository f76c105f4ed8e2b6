"""A kubelet's side of its plugins: registration, device lists, ends of streams (S1.12 to S1.23)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from simulator.core.behavior import DisconnectMatch
from simulator.core.devices import Device
from simulator.core.endpoints import PluginOptions
from simulator.core.records import RegistrationRefused
from simulator.core.registration import DEVICE_PLUGIN_VERSION, accept_registration
from simulator.core.resources import ResourceName
from simulator.engine.faults import Op
from simulator.engine.kubelet_parts import KubeletParts
from simulator.engine.plugin import PluginStream
from simulator.errors import RegistrationError


class PluginConnections:
    """The plugins of one kubelet process (`simulator.engine.plugin.KubeletSocket`).

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
        self._streams: dict[ResourceName, PluginStream] = {}
        self._registrations: dict[PluginStream, int] = {}

    def stream_of(self, resource: ResourceName) -> PluginStream | None:
        """Return the connection to a resource's plugin."""
        return self._streams.get(resource)

    def register(self, stream: PluginStream, answered: Callable[[bool], None]) -> None:
        """Register a plugin; the newest registration of a resource wins (S1.12, S1.14)."""
        verdict = self._injector.begin(Op.REGISTER, stream.plugin.spec.name)

        def answer() -> None:
            accepted = not verdict.hung and self._register(stream, verdict.error)
            self._injector.end(verdict)
            if self._driver.process.is_alive():
                answered(accepted)

        self._driver.process.delayed(verdict.delay, answer)

    def receive_devices(self, stream: PluginStream, devices: Sequence[Device]) -> None:
        """Fold in a ListAndWatch message (S1.18)."""
        verdict = self._injector.begin(Op.LIST_AND_WATCH, stream.plugin.spec.name)

        def done(_: str) -> None:
            stream.listed = True
            self._injector.end(verdict)
            if self._driver.process.is_alive():
                self._listed()

        def fold() -> None:
            if stream.is_open:
                report = self._manager.report_devices(stream.resource, devices)
                self._driver.run_store(report, done)

        if verdict.error:
            stream.plugin.break_stream()
        elif not verdict.hung:
            self._driver.process.delayed(verdict.delay, fold)

    def end_stream(self, stream: PluginStream) -> None:
        """A stream has ended; up to 1.36 the newest plugin of that name is cut off (S1.22)."""
        resource = stream.resource
        current = self._streams.get(resource)
        own = self._behavior.disconnect_match is DisconnectMatch.OWN_ENDPOINT
        is_cut = current is not None and (current is stream or not own)
        if is_cut:
            del self._streams[resource]
        self._driver.refresh()
        self._manager.disconnect(resource, self._registrations.pop(stream, None))
        self._driver.owner.drain()
        if current is not None and is_cut:
            current.cut()

    def _register(self, stream: PluginStream, error: str) -> bool:
        spec = stream.plugin.spec
        try:
            accept_registration(version=DEVICE_PLUGIN_VERSION, resource_name=spec.resource)
        except RegistrationError as refusal:
            error = str(refusal)
        if spec.fail_options and not self._behavior.registered_options_used:
            cause = f"rpc error: code = Unknown desc = {spec.fail_options}"
            error = error or f"failed to get device plugin options: {cause}"
        if error:
            self._emit(RegistrationRefused(spec.resource, error))
            return False
        self._driver.refresh()
        options = PluginOptions(spec.pre_start_required, spec.preferred_allocation)
        self._registrations[stream] = self._manager.register(spec.resource, options)
        self._streams[spec.resource] = stream
        self._driver.owner.drain()
        return True
