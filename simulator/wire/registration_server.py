"""The kubelet's registration server: `kubelet.sock` in the plugin directory (S1.8 to S1.12).

What a registration means is its owner's: `register` is called for each Register request and its
error is the plugin's answer.

Kubelet: server (plugin/v1beta1/server.go).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from simulator.config import KUBELET_SOCKET
from simulator.core.behavior import Behavior
from simulator.core.endpoints import PluginOptions
from simulator.core.registration import registration_health
from simulator.protocol import rebind_deviceplugin_pb2 as device_plugin
from simulator.protocol.services import REGISTER
from simulator.wire.servers import ExhaustedError, ServerLimits, UnixServer

HEALTH_CHECK_NAME: Final = "device-plugin"
"""The health check that tells of this server (S1.11)."""

REGISTRATIONS_MAX: Final = 256


@dataclass(frozen=True, slots=True)
class Registration:
    """A Register request as the plugin sent it, not yet looked at (S1.12).

    Attributes:
        endpoint: A socket's name in the plugin directory (`plugin_directory.endpoint_path`).
        options: Of use to kubelets before 1.25 only (S1.12.6).
    """

    version: str
    endpoint: str
    resource_name: str
    options: PluginOptions


class RegistrationServer:
    """Serves `Registration` (S1.2).

    Args:
        directory: The plugin directory, made and cleaned.
        register: Takes one registration; returns when the plugin is to be told that it is
            registered, and raises an error of Rebind whose text it is to be told instead. It is
            canceled when the plugin no longer waits (S1.13) and when the server is stopped.
        limits: What the server takes at most.
        registrations_max: How many may be under way at a time; more are refused.
    """

    def __init__(
        self,
        directory: Path,
        register: Callable[[Registration], Awaitable[None]],
        *,
        limits: ServerLimits | None = None,
        registrations_max: int = REGISTRATIONS_MAX,
    ) -> None:
        self.server = UnixServer(directory / KUBELET_SOCKET, limits)
        self.server.answer(REGISTER, self._answer)
        self._register = register
        self._registrations_max = registrations_max
        self._under_way = 0

    def health(self, behavior: Behavior) -> str:
        """Return what is wrong with the server; empty when nothing is (S1.11)."""
        return registration_health(
            behavior, serving=self.server.is_serving, failed=self.server.has_failed
        )

    async def _answer(self, request: device_plugin.RegisterRequest) -> device_plugin.Empty:
        if self._under_way >= self._registrations_max:
            message = (
                f"{self._under_way} registrations are under way, as many as this kubelet takes "
                "at a time; try again later"
            )
            raise ExhaustedError(message)
        self._under_way += 1
        try:
            await self._register(_registration(request))
        finally:
            self._under_way -= 1
        return device_plugin.Empty()


def _registration(request: device_plugin.RegisterRequest) -> Registration:
    return Registration(
        version=request.version,
        endpoint=request.endpoint,
        resource_name=request.resource_name,
        options=PluginOptions(
            request.options.pre_start_required,
            request.options.get_preferred_allocation_available,
        ),
    )
