"""Calls the kubelet's Register (S1.12)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from simulator.core.endpoints import PluginOptions
from simulator.core.instants import Duration
from simulator.errors import PluginError
from simulator.protocol import rebind_deviceplugin_pb2 as device_plugin
from simulator.protocol import services
from simulator.wire.connections import ConnectionSettings, dial
from simulator.wire.sockets import Occupant, occupant_of


async def register(  # noqa: PLR0913 - what a request consists of
    kubelet_socket: Path,
    *,
    endpoint: str,
    resources: Sequence[str],
    version: str,
    wants: PluginOptions,
    within: Duration,
) -> str:
    """Register resources one after the other; returns why one was refused, empty if none was.

    The options go along, since kubelets before 1.25 take them from here (S1.12.6).
    """
    options = device_plugin.DevicePluginOptions(
        pre_start_required=wants.pre_start_required,
        get_preferred_allocation_available=wants.preferred_allocation,
    )
    occupant = occupant_of(kubelet_socket)
    if occupant is not Occupant.LIVING_SOCKET:
        return f"{kubelet_socket} is {occupant.value}"
    try:
        connection = await dial(kubelet_socket, ConnectionSettings(dial_timeout=within))
    except PluginError as error:
        return f"{kubelet_socket}: {error}"
    try:
        for resource in resources:
            request = device_plugin.RegisterRequest(
                version=version, endpoint=endpoint, resource_name=resource, options=options
            )
            await connection.call(services.REGISTER, request, within)
    except PluginError as error:
        return str(error)
    finally:
        await connection.close()
    return ""
