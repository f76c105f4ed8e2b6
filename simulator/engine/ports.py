"""What a driver supplies for its nodes: parts that are simulated or real.

Everything else of a node (its kubelet process, runtime, API objects) is the same code under both
drivers. What the parts are to do is said in `storage_ports` and `plugin_ports`. Where a promise
takes time, the answer comes by a callback on the node's timeline.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from simulator.core.records import Record
from simulator.core.transitions import NodeName
from simulator.engine.api import ApiServer
from simulator.engine.api_requests import ApiRequest, RequestReply
from simulator.engine.plugin_ports import InstalledPlugin, KubeletSocket, NodeSockets
from simulator.engine.spec import NodeSpec, PluginSpec
from simulator.engine.storage_ports import Storage


class ApiTransport(Protocol):
    """How the requests of kubelets reach their API server."""

    def send(
        self, node: NodeName, request: ApiRequest, reply: Callable[[RequestReply], None]
    ) -> None:
        """Send a request of the kubelet of `node`.

        A reply comes for every request, in an event of the node's timeline: `ApiUnavailable` when
        nothing is known of what became of it.
        """
        ...


class Adapters(Protocol):
    """Where a driver's parts of a node come from."""

    def transport(self, api: ApiServer) -> ApiTransport:
        """Return how kubelets reach their API server.

        Args:
            api: The objects as the kubelets know them: the server's own, or a copy that follows it.
        """
        ...

    def storage(self, node: NodeSpec, emit: Callable[[Record], None]) -> Storage:
        """Return the storage of a node."""
        ...

    def sockets(self, node: NodeName) -> NodeSockets:
        """Return the sockets of a node."""
        ...

    def plugin(
        self, spec: PluginSpec, socket: Callable[[], KubeletSocket | None]
    ) -> InstalledPlugin:
        """Install a plugin; it does not run yet.

        Args:
            spec: What it is.
            socket: Returns what it can reach of the kubelet that runs on its node.
        """
        ...
