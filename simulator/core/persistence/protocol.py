"""The promise that every persistence strategy keeps.

A strategy is told what the device manager decided and yields the store calls that make it durable.
Every step may be cut by a crash at any yield. Critical-path writes are acknowledged before the
admission is announced: a step that returns an error text refuses the admission.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from simulator.core.calls import StoreDecision
from simulator.core.devices import Device, DeviceId
from simulator.core.instants import Instant
from simulator.core.pods import Pod, PodUid
from simulator.core.resources import ResourceName
from simulator.core.transitions import DeviceBinding, NodeName


@dataclass(frozen=True, slots=True)
class Restored:
    """What `load` found.

    Attributes:
        source: `checkpoint`, `database` or `nothing`.
        bindings: Device bindings in stored order.
        registered: Resources whose endpoints are restored as stopped (S2.8).
        skipped: Entries left out (S4.13).
        error: Why the state could not be read. The checkpoint strategy then starts empty (S4.12).
        fatal: Whether the kubelet must not start with this error (a damaged database).
    """

    source: str
    bindings: tuple[DeviceBinding, ...] = ()
    registered: tuple[ResourceName, ...] = ()
    skipped: int = 0
    error: str = ""
    fatal: bool = False


class ManagerView(Protocol):
    """What a strategy may read of the device manager."""

    @property
    def node(self) -> NodeName:
        """The node's name."""
        ...

    @property
    def now(self) -> Instant:
        """The present instant."""
        ...

    def bindings(self) -> Sequence[DeviceBinding]:
        """All device bindings, in order of insertion."""
        ...

    def registered(self) -> Sequence[tuple[ResourceName, Sequence[DeviceId]]]:
        """Registered resources with their healthy ids, sorted (S4.4)."""
        ...


class Persistence(Protocol):
    """One strategy. Each step returns an error text, empty when the write is acknowledged."""

    @property
    def name(self) -> str:
        """The value of `--persistence`."""
        ...

    def load(self, view: ManagerView) -> StoreDecision[Restored]:
        """Read the state at kubelet start."""
        ...

    def on_devices_changed(
        self, view: ManagerView, resource: ResourceName, devices: Sequence[Device]
    ) -> StoreDecision[str]:
        """A ListAndWatch message was folded in."""
        ...

    def on_container_allocated(
        self, view: ManagerView, pod: Pod, added: Sequence[DeviceBinding]
    ) -> StoreDecision[str]:
        """A container got its devices (S3.15)."""
        ...

    def on_pod_admitted(
        self, view: ManagerView, pod: Pod, added: Sequence[DeviceBinding]
    ) -> StoreDecision[str]:
        """All containers of a pod got their devices."""
        ...

    def on_pod_rejected(
        self, view: ManagerView, pod: Pod, reason: str, message: str
    ) -> StoreDecision[str]:
        """A pod was refused."""
        ...

    def on_released(self, view: ManagerView, pods: Sequence[PodUid]) -> StoreDecision[str]:
        """Records of pods that are no longer active were dropped (S6.1)."""
        ...

    def on_resource_removed(self, view: ManagerView, resource: ResourceName) -> StoreDecision[str]:
        """A resource's grace period is over (S2.10)."""
        ...
