"""Which API server a world's nodes are clients of."""

from __future__ import annotations

from dataclasses import dataclass

from simulator.api.client.endpoint import ApiEndpoint


@dataclass(frozen=True, slots=True)
class RemoteSettings:
    """A real API server behind a live world (`simulator.live.remote.api`).

    Attributes:
        endpoint: The server, as `simulator.api.client.endpoint.endpoint_at(url)` names it.
        schedules: Whether Rebind binds pods that are on no node.
        at_once: Requests of all nodes that are under way at most; None for any number.
    """

    endpoint: ApiEndpoint
    schedules: bool = False
    at_once: int | None = None
