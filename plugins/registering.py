"""Calls the kubelet's Register (S1.12)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import grpc

from plugins.sockets import CHANNEL_OPTIONS, target_of
from simulator.core.endpoints import PluginOptions
from simulator.core.instants import SECOND, Duration
from simulator.protocol import rebind_deviceplugin_pb2 as device_plugin
from simulator.protocol import services


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
    target = target_of(kubelet_socket)
    async with grpc.aio.insecure_channel(target, options=CHANNEL_OPTIONS) as channel:
        call = channel.unary_unary(
            services.REGISTER.path,
            request_serializer=services.REGISTER.request.SerializeToString,
            response_deserializer=services.REGISTER.response.FromString,
        )
        for resource in resources:
            request = device_plugin.RegisterRequest(
                version=version, endpoint=endpoint, resource_name=resource, options=options
            )
            try:
                await call(request, timeout=within / SECOND)
            except grpc.aio.AioRpcError as error:
                return error.details() or error.code().name
    return ""
