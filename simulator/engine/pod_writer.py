"""Where pods are written to when a world's objects are a copy of a real server's."""

from __future__ import annotations

from typing import Protocol

from simulator.core.records import EventEmitted
from simulator.core.transitions import NodeName
from simulator.engine.api_objects import ApiPod


class PodWriter(Protocol):
    """Takes to a real API server what is done to pods; the copy follows when it is done."""

    def create(self, pod: ApiPod) -> None:
        """Create a pod; its uid is the server's, and is known when the copy has it."""
        ...

    def bind(self, pod: ApiPod, node: NodeName) -> None:
        """Bind a pod to a node."""
        ...

    def delete(self, pod: ApiPod, *, force: bool) -> None:
        """Delete a pod, with its grace period or at once."""
        ...

    def leave_waiting(self, pod: ApiPod, event: EventEmitted) -> None:
        """Say of a pod why no node has room for it."""
        ...
