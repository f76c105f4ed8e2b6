"""What a live kubelet counts beside its records (S11); whoever publishes the figures has them."""

from __future__ import annotations

from typing import Protocol

from simulator.core.resources import ResourceName


class Meters(Protocol):
    """Who counts for one node."""

    def registered(self, resource: str) -> None:
        """A Register call has come in; those that are refused count too (S1.12.1)."""
        ...

    def allocate_answered(self, resource: ResourceName, seconds: float) -> None:
        """An Allocate call was answered or has failed, so long after it was made."""
        ...

    def pod_resources_requested(self, version: str, method: str) -> None:
        """A PodResources call has reached its method; one beyond the limit does not (S8.3)."""
        ...

    def pod_resources_failed(self, version: str, method: str) -> None:
        """A PodResources call was answered with an error."""
        ...


class NoMeters:
    """Counts nothing."""

    def registered(self, resource: str) -> None:
        """Count a Register call."""

    def allocate_answered(self, resource: ResourceName, seconds: float) -> None:
        """Count an Allocate call."""

    def pod_resources_requested(self, version: str, method: str) -> None:
        """Count a call."""

    def pod_resources_failed(self, version: str, method: str) -> None:
        """Count an error."""
