"""Device plugins that answer in the process that decides, with the latencies of a profile.

They stand in for the sockets and plugins of either driver. What they leave out is gRPC; how long
an answer takes is drawn from the profile's distribution and the seed, and passes on the world's
own time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from statistics import NormalDist
from typing import Final

from benchmarks.profiles.profile import LatencyRange, Plugin
from simulator.core.behavior import Behavior
from simulator.core.calls import AllocateCall, PluginCall, PreferredAllocationCall
from simulator.core.instants import Duration
from simulator.core.records import Record
from simulator.core.transitions import NodeName
from simulator.engine.api import ApiServer
from simulator.engine.plugin_ports import InstalledPlugin, KubeletSocket, NodeSockets
from simulator.engine.ports import Adapters, ApiTransport
from simulator.engine.spec import NodeSpec, PluginSpec
from simulator.engine.storage_ports import Storage
from simulator.engine.streams import RandomStreams
from simulator.engine.timeline import Timeline
from simulator.engine.virtual import plugin as virtual

_Z_99: Final = NormalDist().inv_cdf(0.99)


class PluginLatencies:
    """Draws how long the plugins of a profile take for each call.

    Args:
        plugins: The profile's, by name.
        seed: From which the latencies follow; each node's plugin has a stream of its own.
    """

    def __init__(self, plugins: Mapping[str, Plugin], seed: int) -> None:
        self._plugins = plugins
        self._streams = RandomStreams(seed)

    def of(self, kind: str, instance: str) -> Callable[[PluginCall], Duration]:
        """Return the latency of calls to one plugin of a node."""
        plugin = self._plugins[kind]
        chance = self._streams.stream(f"latency/{instance}")

        def draw(call: PluginCall) -> Duration:
            if isinstance(call, AllocateCall):
                return _drawn(plugin.allocate, chance.gauss)
            if isinstance(call, PreferredAllocationCall):
                return _drawn(plugin.preferred_allocation, chance.gauss)
            return _drawn(plugin.pre_start, chance.gauss)

        return draw


def _drawn(latency: LatencyRange, gauss: Callable[[float, float], float]) -> Duration:
    """Draw from the lognormal distribution that has these two percentiles."""
    if latency.p99 <= latency.p50:
        return latency.p50
    sigma = math.log(latency.p99 / max(latency.p50, 1)) / _Z_99
    return Duration(round(latency.p50 * math.exp(gauss(0, sigma))))


class SocketsHere:
    """The sockets of a node whose plugins are in this process (`NodeSockets`).

    Args:
        plugins: The node's.
        inner: Real sockets that are opened too, for agents that read; None for none.
    """

    def __init__(
        self, plugins: Mapping[str, virtual.Plugin], inner: NodeSockets | None = None
    ) -> None:
        self._plugins = plugins
        self._inner = inner

    def open(
        self, behavior: Behavior, kubelet: KubeletSocket, opened: Callable[[str], None]
    ) -> None:
        """Tell the plugins that a kubelet has started (S1.10)."""
        if self._inner is None:
            self._opened(opened, "")
        else:
            self._inner.open(behavior, kubelet, partial(self._opened, opened))

    def close(self) -> None:
        """Every connection is gone with the kubelet."""
        if self._inner is not None:
            self._inner.close()
        for plugin in self._plugins.values():
            plugin.lose_kubelet()

    def _opened(self, opened: Callable[[str], None], error: str) -> None:
        opened(error)
        for plugin in self._plugins.values():
            plugin.socket_removed()


class PartsHere:
    """Parts of nodes whose plugins are in this process (`simulator.engine.ports.Adapters`).

    Args:
        inner: The driver's own parts.
        timeline: The world's time.
        latency: Returns the latency of the calls to a plugin.
        carried: Puts something around the way to the API server.
        is_read: Whether real sockets are opened, so that agents can ask.
    """

    def __init__(
        self,
        inner: Adapters,
        timeline: Timeline,
        latency: Callable[[PluginSpec], Callable[[PluginCall], Duration]],
        carried: Callable[[ApiTransport], ApiTransport],
        *,
        is_read: bool = False,
    ) -> None:
        self._inner = inner
        self._timeline = timeline
        self._latency = latency
        self._carried = carried
        self._is_read = is_read
        self._plugins: dict[NodeName, dict[str, virtual.Plugin]] = {}

    def transport(self, api: ApiServer) -> ApiTransport:
        """Return how kubelets reach the API server, watched."""
        return self._carried(self._inner.transport(api))

    def storage(self, node: NodeSpec, emit: Callable[[Record], None]) -> Storage:
        """Return the driver's own storage."""
        return self._inner.storage(node, emit)

    def sockets(self, node: NodeName) -> NodeSockets:
        """Return sockets by which the plugins here hear of their kubelet."""
        inner = self._inner.sockets(node) if self._is_read else None
        return SocketsHere(self._plugins.setdefault(node, {}), inner)

    def plugin(
        self, spec: PluginSpec, socket: Callable[[], KubeletSocket | None]
    ) -> InstalledPlugin:
        """Install a plugin here."""
        plugin = virtual.Plugin(spec, self._timeline, socket, self._latency(spec))
        self._plugins.setdefault(spec.node, {})[spec.name] = plugin
        return plugin
