"""Which nodes can reach the API server, and what waits until they can."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from simulator.core.transitions import NodeName

OUTAGE: Final = "outage"
"""Why a node is cut off: somebody lets it be."""


class Reachability:
    """The ways between nodes and API server."""

    def __init__(self) -> None:
        self._cut_off: dict[NodeName, list[Callable[[], None]]] = {}
        self._causes: dict[NodeName, set[str]] = {}

    def is_reachable(self, node: NodeName) -> bool:
        """Tell whether the node can reach the API server."""
        return node not in self._cut_off

    def is_cut_off(self, node: NodeName, cause: str) -> bool:
        """Tell whether a node is cut off for a cause."""
        return cause in self._causes.get(node, ())

    def cut_off(self, node: NodeName, cause: str = OUTAGE) -> None:
        """Let the node lose the API server, for one cause among others."""
        self._causes.setdefault(node, set()).add(cause)
        self._cut_off.setdefault(node, [])

    def restore(self, node: NodeName, cause: str = OUTAGE) -> None:
        """End a cause; when none is left, what waited happens now, in order."""
        causes = self._causes.get(node, set())
        causes.discard(cause)
        if not causes:
            for action in self._cut_off.pop(node, []):
                action()

    def when_reachable(self, node: NodeName, action: Callable[[], None]) -> None:
        """Do `action` now, or when the node can reach the API server again."""
        waiting = self._cut_off.get(node)
        if waiting is None:
            action()
        else:
            waiting.append(action)
