"""Is a Register request acceptable (S1.12)?

The checks that need no connection; dialing the endpoint and asking for its options belong to the
wire. The order is the kubelet's: the version is looked at before the name.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from simulator.core.behavior import Behavior
from simulator.core.endpoints import PluginOptions
from simulator.core.resources import ResourceName, is_extended_resource_name
from simulator.errors import InvalidResourceNameError, UnsupportedVersionError

DEVICE_PLUGIN_VERSION: Final = "v1beta1"
"""The one supported version of the device plugin API (S1.5)."""

TEXT_MAX: Final = 4_096
"""Longest text of a request, in characters; none that can be right is as long."""


REGISTRATION_FAILED: Final = (
    "device registration error: device plugin registration gRPC server failed and "
    "no device plugins can register"
)
"""What the health check `device-plugin` says when plugins cannot register (S1.11)."""


@dataclass(frozen=True, slots=True)
class RegisterRequest:
    """What a plugin asks for (S1.4).

    Attributes:
        endpoint: Its socket, as it names it; empty where there is none (a simulated plugin).
        options: Those of the request, which kubelets from 1.25 on do not look at (S1.12.6).
        watched: Whether it came through `plugins_registry` and not by a Register call (S1.33).
    """

    resource_name: str
    version: str = DEVICE_PLUGIN_VERSION
    endpoint: str = ""
    options: PluginOptions = field(default_factory=PluginOptions)
    watched: bool = False


def oversize(request: RegisterRequest) -> str:
    """Return which text of a request is longer than is looked at; empty when none is.

    Differs: a kubelet repeats a name of 4 MB in its error.
    """
    for what, text in (
        ("resource name", request.resource_name),
        ("endpoint", request.endpoint),
        ("version", request.version),
    ):
        if len(text) > TEXT_MAX:
            return f"the {what} has {len(text)} characters, at most {TEXT_MAX} are taken"
    return ""


def accept_registration(*, version: str, resource_name: str) -> ResourceName:
    """Return the resource that a Register request names.

    Raises:
        UnsupportedVersionError: The version is not `v1beta1` (S1.12.2).
        InvalidResourceNameError: The name is no extended resource name (S1.12.3, S1.15).

    Kubelet: server.Register (plugin/v1beta1/server.go).
    """
    if version != DEVICE_PLUGIN_VERSION:
        message = (
            f'requested API version "{version}" is not supported by kubelet. '
            f'Supported version is ["{DEVICE_PLUGIN_VERSION}"]'
        )
        raise UnsupportedVersionError(message)
    if not is_extended_resource_name(resource_name):
        message = f'the ResourceName "{resource_name}" is invalid'
        raise InvalidResourceNameError(message)
    return ResourceName(resource_name)


def registration_health(behavior: Behavior, *, serving: bool, failed: bool) -> str:
    """Return what is wrong with the registration server; empty when nothing is (S1.11).

    Args:
        behavior: Of the kubelet.
        serving: Whether the server has started and goes on.
        failed: Whether it has ended by itself.
    """
    missing = behavior.registration_health_needs_start and not serving
    return REGISTRATION_FAILED if failed or missing else ""
