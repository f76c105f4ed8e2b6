"""The promise that every persistence strategy keeps.

A strategy is told what the device manager decided and yields the store calls that make it durable.
Every step may be cut by a crash at any yield. Critical-path writes are acknowledged before the
admission is announced: a step that returns a refusal refuses the admission.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from simulator.core.calls import StoreDecision
from simulator.core.devices import Device, DeviceId
from simulator.core.instants import Duration, Instant
from simulator.core.pods import Container, Pod, PodUid
from simulator.core.records import Record
from simulator.core.refusals import Refusal
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


@dataclass(frozen=True, slots=True)
class PodsListed:
    """What the API says of the devices of the pods of a first LIST.

    Attributes:
        bindings: Device bindings that the device manager is to hold from now on; ids only, so
            without a response.
        outdated: Pods that are not there any more and of which a file still had a record, with
            devices that the API gives to another one: their records go.
        error: Why the API could not be asked for all of it: no pod may be admitted before it can.
    """

    bindings: tuple[DeviceBinding, ...] = ()
    outdated: tuple[PodUid, ...] = ()
    error: str = ""


@dataclass(frozen=True, slots=True)
class StartDelayed:
    """The API server did not say whether a pod may start: the same is to be asked again.

    Attributes:
        message: The cause.
    """

    message: str


Gate = Refusal | StartDelayed | None
"""Whether the containers of a pod may start: never, not yet, or now."""


class ManagerView(Protocol):
    """What a strategy may read of the device manager, and where it notes what it did."""

    @property
    def node(self) -> NodeName:
        """The node's name."""
        ...

    @property
    def now(self) -> Instant:
        """The present instant."""
        ...

    def pod_bindings(self, pod: PodUid) -> Sequence[DeviceBinding]:
        """All device bindings of one pod, in order of insertion."""
        ...

    def registered(self) -> Sequence[tuple[ResourceName, Sequence[DeviceId]]]:
        """Registered resources with their healthy ids, sorted (S4.4)."""
        ...

    def holder(self, resource: ResourceName, device: DeviceId) -> PodUid | None:
        """The pod that holds a device; None when it is free."""
        ...

    def is_active(self, pod: PodUid) -> bool:
        """Tell whether a pod is active (S6.5): at the first LIST, only static ones can be."""
        ...

    def note(self, record: Record) -> None:
        """Add a record of what happened."""
        ...


class Persistence(Protocol):
    """One strategy. Each step returns None when its write is acknowledged, else why it is not."""

    @property
    def name(self) -> str:
        """The value of `--persistence`."""
        ...

    def load(self, view: ManagerView) -> StoreDecision[Restored]:
        """Read the state at kubelet start."""
        ...

    def record(self, binding: DeviceBinding) -> None:
        """Learn of a binding that is in memory from now on, durable or not."""
        ...

    def on_devices_changed(
        self, view: ManagerView, resource: ResourceName, devices: Sequence[Device]
    ) -> StoreDecision[Refusal | None]:
        """A ListAndWatch message was folded in."""
        ...

    def on_container_allocated(
        self, view: ManagerView, pod: Pod, added: Sequence[DeviceBinding]
    ) -> StoreDecision[Refusal | None]:
        """A container was served; nothing is added when it needed no devices (S3.15)."""
        ...

    def on_pod_admitted(
        self, view: ManagerView, pod: Pod, added: Sequence[DeviceBinding]
    ) -> StoreDecision[Refusal | None]:
        """All containers of a pod were served, or one of them at its start (S3.23)."""
        ...

    def on_pod_rejected(
        self, view: ManagerView, pod: Pod, reason: str, message: str
    ) -> StoreDecision[Refusal | None]:
        """A pod was refused; what it held before stays until it is released."""
        ...

    def on_taken_back(
        self, view: ManagerView, pod: Pod, added: Sequence[DeviceBinding]
    ) -> StoreDecision[Refusal | None]:
        """A refused allocation was undone (`reservations: transactional`)."""
        ...

    def on_released(
        self, view: ManagerView, pods: Sequence[PodUid]
    ) -> StoreDecision[Refusal | None]:
        """Records of pods that are no longer active are about to be dropped (S6.1)."""
        ...

    def on_resources_removed(
        self, view: ManagerView, resources: Sequence[ResourceName]
    ) -> StoreDecision[Refusal | None]:
        """The grace period of these resources is over (S2.10)."""
        ...

    # The API

    @property
    def recalls_ids_only(self) -> bool:
        """Whether a record without a response is one of which the response was not kept.

        The plugin is then asked again for the same devices before a container starts with them
        (k/k#52678); elsewhere no response is an empty one (S4.8).
        """
        ...

    @property
    def flush_period(self) -> Duration | None:
        """How often `on_tick` is due while something is owed; 0 for at once, None for never."""
        ...

    @property
    def owes_api(self) -> bool:
        """Whether `on_tick` has something to write."""
        ...

    def assigned(
        self, pod: Pod, container: Container, resource: ResourceName
    ) -> Sequence[DeviceId] | None:
        """The devices that the API assigns to a container without a record; None for any."""
        ...

    def status_devices(self, view: ManagerView, pod: PodUid) -> Sequence[DeviceBinding]:
        """What the pod's status is to say of its devices."""
        ...

    def on_pods_listed(self, view: ManagerView, pods: Sequence[Pod]) -> StoreDecision[PodsListed]:
        """The first LIST of this process has come; its pods are about to be admitted."""
        ...

    def before_start(self, view: ManagerView, pod: Pod) -> StoreDecision[Gate]:
        """A container of an admitted pod is about to start. Costs nothing when nothing is owed."""
        ...

    def owe_nothing(self, pod: PodUid) -> None:
        """An admitted pod is refused after all, by others (S5.8): the API is not to be told of it.

        Its records stay until it is released.
        """
        ...

    def on_tick(self, view: ManagerView) -> StoreDecision[bool]:
        """Write what is owed, one pod after the other.

        Returns:
            Whether the API server answered; if not, the rest is still owed.
        """
        ...
