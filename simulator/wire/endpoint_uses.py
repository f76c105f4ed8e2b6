"""Which resources are served by which endpoint: two plugins may have taken one socket name.

The second to bind then serves both resources, and nobody is told (conventions.md §4, trap 2).
"""

from __future__ import annotations

from pathlib import Path

from simulator.core.resources import ResourceName


class EndpointUses:
    """The endpoints of a kubelet's connected plugins."""

    def __init__(self) -> None:
        self._resources: dict[Path, list[ResourceName]] = {}

    def add(self, path: Path, resource: ResourceName) -> tuple[ResourceName, ...]:
        """Note that a resource is served by a socket; return the other resources it serves."""
        uses = self._resources.setdefault(path, [])
        if resource not in uses:
            uses.append(resource)
        return tuple(other for other in uses if other != resource)

    def remove(self, path: Path, resource: ResourceName) -> None:
        """Note that a resource is no longer served by a socket."""
        uses = self._resources.get(path, [])
        if resource in uses:
            uses.remove(resource)
        if not uses:
            self._resources.pop(path, None)
