"""Which nodes take new pods, as a watch of Node objects shows it: `kubectl cordon` and `drain`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

from simulator.api.dialect.documents import Object, mapping, text
from simulator.core.transitions import NodeName
from simulator.engine.api import ApiServer
from simulator.live.timeline import LiveTimeline


class NodeFollower:
    """Follows the nodes (`simulator.api.client.following.Follower`).

    While the server is away nothing is bound to any node, so what is known of them may wait.

    Args:
        api: The copy of the server's objects.
        timeline: Its time.
        names: The nodes that are scheduled.
    """

    def __init__(self, api: ApiServer, timeline: LiveTimeline, names: Iterable[NodeName]) -> None:
        self._api = api
        self._timeline = timeline
        self._names = frozenset(names)

    def listed(self, objects: Sequence[Object]) -> None:
        """Take over what is said of all nodes."""
        for each in objects:
            self.happened("ADDED", each)

    def happened(self, change: str, found: Object) -> None:
        """Take over what is said of a node; one that is gone comes back as a new one."""
        name = NodeName(text(found, "metadata", "name"))
        cordoned = change != "DELETED" and is_cordoned(found)
        if name in self._names and self._api.node(name).cordoned != cordoned:
            self._timeline.enter(partial(self._api.cordon, name, cordoned=cordoned))

    def lost(self, why: str) -> None:
        """Wait until the server is there again."""

    def restored(self) -> None:
        """Go on."""


def is_cordoned(node: Object) -> bool:
    """Tell whether a node takes no new pods."""
    return mapping(node, "spec").get("unschedulable") is True
