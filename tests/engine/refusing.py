"""An API server that refuses what a test wants to be refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from typing_extensions import override

from simulator.core.api_calls import ApiRefused
from simulator.core.records import Record
from simulator.core.transitions import NodeName
from simulator.engine.api import ApiServer
from simulator.engine.api_requests import ApiRequest, RequestReply
from simulator.engine.plugin_ports import InstalledPlugin, KubeletSocket, NodeSockets
from simulator.engine.ports import Adapters, ApiTransport
from simulator.engine.spec import NodeSpec, PluginSpec
from simulator.engine.storage_ports import Storage
from simulator.engine.virtual.simulated_parts import SimulatedParts

Refuses = Callable[[ApiRequest], "ApiRefused | None"]
"""Returns the refusal of a request; None to let it through."""


class _Transport(ApiTransport):
    def __init__(self, behind: ApiTransport, refuses: Refuses) -> None:
        self._behind = behind
        self._refuses = refuses

    @override
    def send(
        self, node: NodeName, request: ApiRequest, reply: Callable[[RequestReply], None]
    ) -> None:
        refusal = self._refuses(request)
        if refusal is None:
            self._behind.send(node, request, reply)
        else:
            reply(refusal)


@dataclass
class _Parts(Adapters):
    """The usual parts of a simulated node, and that server."""

    usual: SimulatedParts
    refuses: Refuses

    @override
    def transport(self, api: ApiServer) -> ApiTransport:
        return _Transport(self.usual.transport(api), self.refuses)

    @override
    def storage(self, node: NodeSpec, emit: Callable[[Record], None]) -> Storage:
        return self.usual.storage(node, emit)

    @override
    def sockets(self, node: NodeName) -> NodeSockets:
        return self.usual.sockets(node)

    @override
    def plugin(
        self, spec: PluginSpec, socket: Callable[[], KubeletSocket | None]
    ) -> InstalledPlugin:
        return self.usual.plugin(spec, socket)


def refusing(refuses: Refuses) -> Callable[[SimulatedParts], Adapters]:
    """Return what puts such a server around the parts of a simulation."""
    return lambda usual: _Parts(usual, refuses)
