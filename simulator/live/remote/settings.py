"""Which API server a world's nodes are clients of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from simulator.api.client.endpoint import ApiEndpoint

EFFECTS: Final = ("NoSchedule", "PreferNoSchedule", "NoExecute")
"""What a taint can do to pods that do not tolerate it."""


@dataclass(frozen=True, slots=True)
class Taint:
    """What keeps pods off a node.

    Attributes:
        effect: One of `EFFECTS`.
    """

    key: str
    value: str
    effect: str


SIMULATED: Final = Taint("rebind.internal/simulated", "true", "NoSchedule")
"""Of nodes in somebody else's cluster: a scheduler there takes them for machines."""


@dataclass(frozen=True, slots=True)
class RemoteSettings:
    """A real API server behind a live world (`simulator.live.remote.api`).

    Attributes:
        endpoint: The server, as `simulator.api.client.endpoint.endpoint_at(url)` names it.
        schedules: Whether Rebind binds pods that are on no node.
        at_once: Requests of all nodes that are under way at most; None for any number.
        taints: Those that nodes have when they register.
    """

    endpoint: ApiEndpoint
    schedules: bool = False
    at_once: int | None = None
    taints: tuple[Taint, ...] = ()
